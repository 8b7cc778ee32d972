#include "compiler/targets/cpu/dot_kernel.h"
#include "llvm/IR/IntrinsicsX86.h"

namespace tilery::cpu {

// Pieces as equal as can be: 128 rows in pieces of at most 6 are 18 x 6 + 4 x 5, so no row is computed for nothing.
static Cut cut(unsigned size, unsigned unit, unsigned maxWidth) {
  unsigned units = (size + unit - 1) / unit, maxUnits = std::max(1u, maxWidth / unit);
  Cut c;
  c.size = size;
  c.unit = unit;
  c.pieces = (units + maxUnits - 1) / maxUnits;
  unsigned width = (units + c.pieces - 1) / c.pieces;
  c.width = width * unit;
  c.wide = units - c.pieces * (width - 1);
  return c;
}

DotBlocking chooseBlocking(const CpuTarget &target, unsigned m, unsigned n, unsigned kMultiple, unsigned elementBits,
                           bool pairs) {
  DotBlocking blocking;
  blocking.pairs = pairs;
  blocking.rowsOuter = target.avx512;
  blocking.lanes = target.lanes(elementBits);
  unsigned vectors = n > blocking.lanes ? 2 : 1;
  // Accumulators + one vector per column block of B + one broadcast fit the registers; 512-bit FMAs broadcast from memory.
  unsigned spare = target.avx512 ? vectors + 1 : vectors + 2;
  unsigned rows = (target.vectorRegisters - spare) / vectors;
  blocking.rows = cut(m, 1, rows);
  blocking.columns = cut(n, blocking.lanes, vectors * blocking.lanes);
  blocking.unroll = kMultiple % 4 == 0 ? 4 : kMultiple % 2 == 0 ? 2 : 1;
  return blocking;
}

llvm::Function *dotKernel(llvm::Module &module, const DotBlocking &blocking, llvm::Type *compute, unsigned rows,
                          unsigned columns) {
  unsigned lanes = blocking.lanes, vectors = (columns + lanes - 1) / lanes;
  std::string typeName;
  llvm::raw_string_ostream(typeName) << *compute;
  std::string name = "tilery.dot." + typeName + "." + std::to_string(rows) + "x" + std::to_string(columns) + ".u" +
                     std::to_string(blocking.unroll) + (blocking.pairs ? ".bf16" : "");
  if (llvm::Function *known = module.getFunction(name))
    return known;
  llvm::LLVMContext &context = module.getContext();
  llvm::IRBuilder<> b(context);
  auto *type = llvm::FunctionType::get(
      b.getVoidTy(), {b.getPtrTy(), b.getPtrTy(), b.getInt64Ty(), b.getPtrTy(), b.getInt64Ty(), b.getInt1Ty()}, false);
  auto *function = llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage, name, module);
  function->addFnAttr(llvm::Attribute::NoInline);
  function->addFnAttr(llvm::Attribute::NoUnwind);
  for (unsigned i : {0u, 1u, 3u})
    function->addParamAttr(i, llvm::Attribute::NoAlias);
  llvm::Value *a = function->getArg(0), *bPanel = function->getArg(1), *k = function->getArg(2), *c = function->getArg(3),
              *ldc = function->getArg(4), *accumulate = function->getArg(5);

  auto *vector = llvm::FixedVectorType::get(compute, lanes);
  llvm::Align align(compute->getScalarSizeInBits() / 8);
  auto block = [&](const char *label) { return llvm::BasicBlock::Create(context, label, function); };
  llvm::BasicBlock *entry = block("entry"), *fetch = block("fetch"), *start = block("start"), *loop = block("loop"),
                   *done = block("done");

  auto place = [&](unsigned i, unsigned v) {
    llvm::Value *row = b.CreateInBoundsGEP(compute, c, b.CreateMul(ldc, b.getInt64(i)));
    return b.CreateConstInBoundsGEP1_64(compute, row, v * lanes);
  };
  auto width = [&](unsigned v) { return std::min(lanes, columns - v * lanes); };
  auto partial = [&](unsigned v) { return llvm::FixedVectorType::get(compute, width(v)); };
  llvm::SmallVector<int> identity(lanes), grow(lanes, -1);
  for (unsigned i = 0; i < lanes; ++i)
    identity[i] = i;

  b.SetInsertPoint(entry);
  b.CreateCondBr(accumulate, fetch, start);
  b.SetInsertPoint(fetch);
  llvm::SmallVector<llvm::Value *> fetched;
  for (unsigned i = 0; i < rows; ++i)
    for (unsigned v = 0; v < vectors; ++v) {
      llvm::Value *value = b.CreateAlignedLoad(partial(v), place(i, v), align);
      if (width(v) < lanes) {
        for (unsigned lane = 0; lane < lanes; ++lane)
          grow[lane] = lane < width(v) ? int(lane) : -1;
        value = b.CreateShuffleVector(value, grow);
      }
      fetched.push_back(value);
    }
  b.CreateBr(start);

  b.SetInsertPoint(start);
  llvm::SmallVector<llvm::Value *> acc;
  for (llvm::Value *value : fetched) {
    llvm::PHINode *phi = b.CreatePHI(vector, 2);
    phi->addIncoming(llvm::Constant::getNullValue(vector), entry);
    phi->addIncoming(value, fetch);
    acc.push_back(phi);
  }
  b.CreateCondBr(b.CreateICmpSGT(k, b.getInt64(0)), loop, done);

  b.SetInsertPoint(loop);
  auto phi = [&](llvm::Value *init) {
    llvm::PHINode *node = b.CreatePHI(init->getType(), 2);
    node->addIncoming(init, start);
    return node;
  };
  llvm::PHINode *pa = phi(a), *pb = phi(bPanel), *left = phi(k);
  llvm::SmallVector<llvm::PHINode *> carried;
  for (llvm::Value *&value : acc) {
    carried.push_back(phi(value));
    value = carried.back();
  }
  auto multiplyAdd = [&](llvm::Value *x, llvm::Value *y, llvm::Value *sum) -> llvm::Value * {
    if (blocking.pairs) {
      auto *bf16 = llvm::FixedVectorType::get(b.getBFloatTy(), 2 * lanes);
      return b.CreateIntrinsic(llvm::Intrinsic::x86_avx512bf16_dpbf16ps_512, {},
                               {sum, b.CreateBitCast(x, bf16), b.CreateBitCast(y, bf16)});
    }
    return compute->isFloatingPointTy() ? b.CreateIntrinsic(llvm::Intrinsic::fma, {vector}, {x, y, sum})
                                        : b.CreateAdd(b.CreateMul(x, y), sum);
  };
  for (unsigned u = 0; u < blocking.unroll; ++u) {
    llvm::SmallVector<llvm::Value *> columnsOfB;
    for (unsigned v = 0; v < vectors; ++v)
      columnsOfB.push_back(
          b.CreateAlignedLoad(vector, b.CreateConstInBoundsGEP1_64(compute, pb, (u * vectors + v) * lanes), align));
    for (unsigned i = 0; i < rows; ++i) {
      llvm::Value *element = b.CreateAlignedLoad(compute, b.CreateConstInBoundsGEP1_64(compute, pa, u * rows + i), align);
      llvm::Value *row = b.CreateVectorSplat(lanes, element);
      for (unsigned v = 0; v < vectors; ++v) {
        llvm::Value *&sum = acc[i * vectors + v];
        sum = multiplyAdd(row, columnsOfB[v], sum);
      }
    }
  }
  auto advance = [&](llvm::PHINode *node, llvm::Value *next) { node->addIncoming(next, loop); };
  advance(pa, b.CreateConstInBoundsGEP1_64(compute, pa, blocking.unroll * rows));
  advance(pb, b.CreateConstInBoundsGEP1_64(compute, pb, blocking.unroll * vectors * lanes));
  llvm::Value *rest = b.CreateSub(left, b.getInt64(blocking.unroll));
  advance(left, rest);
  for (auto [node, value] : llvm::zip_equal(carried, acc))
    advance(node, value);
  b.CreateCondBr(b.CreateICmpSGT(rest, b.getInt64(0)), loop, done);

  b.SetInsertPoint(done);
  for (unsigned i = 0; i < rows; ++i)
    for (unsigned v = 0; v < vectors; ++v) {
      unsigned n = i * vectors + v;
      llvm::PHINode *value = llvm::PHINode::Create(vector, 2, "", done->getFirstNonPHIIt());
      value->addIncoming(carried[n]->getIncomingValue(0), start);
      value->addIncoming(acc[n], loop);
      acc[n] = value;
    }
  for (unsigned i = 0; i < rows; ++i)
    for (unsigned v = 0; v < vectors; ++v) {
      llvm::Value *value = acc[i * vectors + v];
      if (width(v) < lanes)
        value = b.CreateShuffleVector(value, llvm::ArrayRef(identity).take_front(width(v)));
      b.CreateAlignedStore(value, place(i, v), align);
    }
  b.CreateRetVoid();
  return function;
}

} // namespace tilery::cpu
