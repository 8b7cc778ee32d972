#include "compiler/targets/cpu/dot_tiles.h"
#include "compiler/lower/loop.h"
#include "compiler/lower/prefetch.h"
#include "llvm/IR/IntrinsicsAArch64.h"
#include "llvm/IR/IntrinsicsX86.h"

namespace tilery::cpu {

// Slivers as equal as can be: 128 rows in slivers of at most 6 are 18 x 6 + 4 x 5, so no row is computed for nothing.
Cut cut(unsigned size, unsigned unit, unsigned maxWidth) {
  unsigned units = (size + unit - 1) / unit, maxUnits = std::max(1u, maxWidth / unit);
  Cut c;
  c.size = size;
  c.unit = unit;
  c.slivers = (units + maxUnits - 1) / maxUnits;
  unsigned width = (units + c.slivers - 1) / c.slivers;
  c.width = width * unit;
  c.wide = units - c.slivers * (width - 1);
  return c;
}

unsigned packOf(Multiply multiply) {
  switch (multiply) {
  case Multiply::single:
    return 1;
  case Multiply::int8Quads:
  case Multiply::int8Tiles:
    return 4;
  default:
    return 2;
  }
}

unsigned rowDepth(unsigned words, unsigned most) {
  while (words % most)
    most /= 2;
  return most;
}

DotBlocking chooseBlocking(const CpuTarget &target, unsigned m, unsigned n, unsigned kMultiple, unsigned elementBits,
                           Multiply multiply, bool aUnsigned, bool bUnsigned) {
  DotBlocking blocking;
  blocking.multiply = multiply;
  blocking.aUnsigned = aUnsigned, blocking.bUnsigned = bUnsigned;
  blocking.alike = target.architecture == Architecture::aarch64;
  blocking.rowsOuter = target.avx512;
  blocking.lanes = target.lanes(elementBits);
  if (inTiles(multiply)) {
    blockTiles(blocking, m, n, kMultiple);
    return blocking;
  }
  unsigned vectors = n > blocking.lanes ? 2 : 1;
  // Accumulators + one vector per column block of B + one broadcast fit the registers; 512-bit FMAs broadcast from memory.
  unsigned spare = target.avx512 ? vectors + 1 : vectors + 2;
  // Two more where what flipped bytes add is added up, a lane a row.
  unsigned rows = blocking.flipsB() ? std::min(blocking.lanes, (target.vectorRegisters - spare - 2) / vectors)
                                    : (target.vectorRegisters - spare) / vectors;
  blocking.rows = cut(m, 1, rows);
  blocking.columns = cut(n, blocking.lanes, vectors * blocking.lanes);
  blocking.unroll = kMultiple % 4 == 0 ? 4 : kMultiple % 2 == 0 ? 2 : 1;
  return blocking;
}

// NEON multiplies by lanes of a column of A, which stays in registers; what adds up flipped bytes reads such columns, too. The others
// broadcast each element from memory, wherever it lies.
void layRows(DotBlocking &blocking, const CpuTarget &target, unsigned words) {
  constexpr unsigned least = 4; // fewer are as well transposed
  unsigned depth = rowDepth(words, blocking.lanes);
  if (target.architecture != Architecture::aarch64 && !blocking.flipsB() && depth >= least)
    blocking.rowDepth = depth;
}

namespace {
/// One kernel function while it is emitted.
class MicroKernel {
public:
  MicroKernel(llvm::Module &module, const DotBlocking &blocking, llvm::Type *compute, unsigned rows, unsigned columns,
              unsigned pitch)
      : b(module.getContext()), blocking(blocking), compute(compute), rows(rows), columns(columns), pitch(pitch),
        depth(blocking.rowDepth), lanes(blocking.lanes), vectors((columns + lanes - 1) / lanes),
        vector(llvm::FixedVectorType::get(compute, lanes)), align(compute->getScalarSizeInBits() / 8) {}
  llvm::Function *emit(llvm::Module &module, llvm::StringRef name);

private:
  using Values = llvm::SmallVector<llvm::Value *>; // by row, then by vector
  /// Of the elements of vector `v` of row `i` of C: where they are, how many exist.
  llvm::Value *place(unsigned i, unsigned v) {
    llvm::Value *row = b.CreateInBoundsGEP(compute, c, b.CreateMul(ldc, b.getInt64(i)));
    return b.CreateConstInBoundsGEP1_64(compute, row, v * lanes);
  }
  unsigned width(unsigned v) const { return std::min(lanes, columns - v * lanes); }
  Values fetch();
  void store(const Values &sums);
  llvm::Value *multiplyAdd(llvm::Value *x, llvm::Value *y, llvm::Value *sum);
  llvm::Value *addFlips(llvm::Value *a, llvm::Value *sum);
  void takeFlips(Values &sums);
  /// Elements from the sliver of A to row `i` of step `u` of an iteration.
  int64_t elementOfA(unsigned u, unsigned i) const { return depth ? i * depth + u : u * pitch + i; }
  /// Where the next iteration's steps begin, the `done`-th of K and on.
  llvm::Value *nextOfA(llvm::Value *a, llvm::Value *done);
  void fetchRows(llvm::Value *from);
  /// One iteration's steps of K from slivers at `a` and `panel`.
  void multiply(llvm::Value *a, llvm::Value *panel, Values &sums);

  llvm::IRBuilder<> b;
  const DotBlocking &blocking;
  llvm::Type *compute;
  unsigned rows, columns, pitch, depth, lanes, vectors;
  llvm::FixedVectorType *vector;
  llvm::Align align;
  llvm::Value *c = nullptr, *ldc = nullptr;
};

MicroKernel::Values MicroKernel::fetch() {
  Values fetched;
  llvm::SmallVector<int> grow(lanes, -1);
  for (unsigned i = 0; i < rows; ++i)
    for (unsigned v = 0; v < vectors; ++v) {
      llvm::Value *value = b.CreateAlignedLoad(llvm::FixedVectorType::get(compute, width(v)), place(i, v), align);
      if (width(v) < lanes) {
        for (unsigned lane = 0; lane < lanes; ++lane)
          grow[lane] = lane < width(v) ? int(lane) : -1;
        value = b.CreateShuffleVector(value, grow);
      }
      fetched.push_back(value);
    }
  return fetched;
}

void MicroKernel::store(const Values &sums) {
  llvm::SmallVector<int> identity(lanes);
  for (unsigned i = 0; i < lanes; ++i)
    identity[i] = i;
  for (unsigned i = 0; i < rows; ++i)
    for (unsigned v = 0; v < vectors; ++v) {
      llvm::Value *value = sums[i * vectors + v];
      if (width(v) < lanes)
        value = b.CreateShuffleVector(value, llvm::ArrayRef(identity).take_front(width(v)));
      b.CreateAlignedStore(value, place(i, v), align);
    }
}

llvm::Value *MicroKernel::multiplyAdd(llvm::Value *x, llvm::Value *y, llvm::Value *sum) {
  if (blocking.multiply == Multiply::bf16Pairs) {
    auto *bf16 = llvm::FixedVectorType::get(b.getBFloatTy(), 2 * lanes);
    return b.CreateIntrinsic(llvm::Intrinsic::x86_avx512bf16_dpbf16ps_512, {},
                             {sum, b.CreateBitCast(x, bf16), b.CreateBitCast(y, bf16)});
  }
  if (blocking.multiply == Multiply::int8Quads) {
    auto *bytes = llvm::FixedVectorType::get(b.getInt8Ty(), 4 * lanes);
    if (blocking.alike)
      return b.CreateIntrinsic(blocking.aUnsigned ? llvm::Intrinsic::aarch64_neon_udot : llvm::Intrinsic::aarch64_neon_sdot,
                               {vector, bytes}, {sum, b.CreateBitCast(y, bytes), b.CreateBitCast(x, bytes)});
    auto product = lanes == 16 ? llvm::Intrinsic::x86_avx512_vpdpbusd_512 : llvm::Intrinsic::x86_avx512_vpdpbusd_256;
    if (!blocking.aUnsigned)
      std::swap(x, y); // the unsigned ones come first
    return b.CreateIntrinsic(product, {}, {sum, b.CreateBitCast(x, bytes), b.CreateBitCast(y, bytes)});
  }
  if (blocking.multiply == Multiply::int16Pairs) { // with the addition LLVM makes vpdpwssd of it where there is one
    auto *words = llvm::FixedVectorType::get(b.getInt16Ty(), 2 * lanes);
    auto product = lanes == 16 ? llvm::Intrinsic::x86_avx512_pmaddw_d_512 : llvm::Intrinsic::x86_avx2_pmadd_wd;
    return b.CreateAdd(b.CreateIntrinsic(product, {}, {b.CreateBitCast(x, words), b.CreateBitCast(y, words)}), sum);
  }
  return compute->isFloatingPointTy() ? b.CreateIntrinsic(llvm::Intrinsic::fma, {vector}, {x, y, sum})
                                      : b.CreateAdd(b.CreateMul(x, y), sum);
}

// B's bytes with the highest bit flipped are 128 more, or less: that times the sum of a row of A is in each of the row's sums. It is what
// the row times bytes 0x80 gives.
llvm::Value *MicroKernel::addFlips(llvm::Value *a, llvm::Value *sum) {
  llvm::SmallVector<llvm::Constant *> exist;
  for (unsigned lane = 0; lane < lanes; ++lane)
    exist.push_back(b.getInt1(lane < rows));
  llvm::Value *column =
      b.CreateMaskedLoad(vector, a, align, llvm::ConstantVector::get(exist), llvm::Constant::getNullValue(vector));
  return multiplyAdd(column, llvm::ConstantInt::get(vector, 0x80808080), sum);
}

void MicroKernel::takeFlips(Values &sums) {
  llvm::Value *flips = sums.pop_back_val();
  for (unsigned i = 0; i < rows; ++i) {
    llvm::Value *own = b.CreateShuffleVector(flips, llvm::SmallVector<int>(lanes, i));
    for (unsigned v = 0; v < vectors; ++v)
      sums[i * vectors + v] = b.CreateSub(sums[i * vectors + v], own);
  }
}

void MicroKernel::multiply(llvm::Value *a, llvm::Value *panel, Values &sums) {
  for (unsigned u = 0; u < blocking.unroll; ++u) {
    Values columnsOfB;
    for (unsigned v = 0; v < vectors; ++v)
      columnsOfB.push_back(
          b.CreateAlignedLoad(vector, b.CreateConstInBoundsGEP1_64(compute, panel, (u * vectors + v) * lanes), align));
    if (blocking.flipsB())
      sums.back() = addFlips(b.CreateConstInBoundsGEP1_64(compute, a, u * pitch), sums.back());
    for (unsigned i = 0; i < rows; ++i) {
      llvm::Value *element = b.CreateAlignedLoad(compute, b.CreateConstInBoundsGEP1_64(compute, a, elementOfA(u, i)), align);
      llvm::Value *row = b.CreateVectorSplat(lanes, element);
      for (unsigned v = 0; v < vectors; ++v) {
        llvm::Value *&sum = sums[i * vectors + v];
        sum = multiplyAdd(row, columnsOfB[v], sum);
      }
    }
  }
}

llvm::Value *MicroKernel::nextOfA(llvm::Value *a, llvm::Value *done) {
  int64_t unroll = blocking.unroll;
  if (!depth)
    return b.CreateConstInBoundsGEP1_64(compute, a, unroll * pitch);
  llvm::Value *ends = b.CreateICmpEQ(b.CreateAnd(done, b.getInt64(depth - 1)), b.getInt64(0));
  int64_t otherRows = int64_t(pitch - 1) * depth;
  return b.CreateInBoundsGEP(compute, a, b.CreateSelect(ends, b.getInt64(unroll + otherRows), b.getInt64(unroll)));
}

// All rows of a group begin lines of their own at once: the next group's are asked for while this one is read, some in each iteration.
void MicroKernel::fetchRows(llvm::Value *from) {
  constexpr unsigned line = 64;
  unsigned bytes = compute->getScalarSizeInBits() / 8;
  for (unsigned offset = 0; offset < blocking.unroll * pitch * bytes; offset += line)
    lower::emitPrefetch(b, b.CreateConstGEP1_64(b.getInt8Ty(), from, pitch * depth * bytes + offset), false, true);
}

llvm::Function *MicroKernel::emit(llvm::Module &module, llvm::StringRef name) {
  llvm::Function *function = kernelFunction(b, module, name);
  c = function->getArg(3), ldc = function->getArg(4);
  auto block = [&](const char *label) { return llvm::BasicBlock::Create(b.getContext(), label, function); };
  llvm::BasicBlock *entry = block("entry"), *load = block("fetch"), *start = block("start"), *head = block("loop"),
                   *done = block("done");
  b.SetInsertPoint(entry);
  b.CreateCondBr(function->getArg(5), load, start);
  b.SetInsertPoint(load);
  Values fetched = fetch(), sums;
  b.CreateBr(start);
  b.SetInsertPoint(start);
  for (llvm::Value *value : fetched) {
    llvm::PHINode *phi = b.CreatePHI(vector, 2);
    phi->addIncoming(llvm::Constant::getNullValue(vector), entry);
    phi->addIncoming(value, load);
    sums.push_back(phi);
  }
  if (blocking.flipsB())
    sums.push_back(llvm::Constant::getNullValue(vector));

  llvm::Value *k = function->getArg(2);
  lower::Loop loop(b, head, done);
  loop.enter(b.CreateICmpSGT(k, b.getInt64(0)));
  llvm::PHINode *a = loop.carry(function->getArg(0)), *panel = loop.carry(function->getArg(1)), *step = loop.carry(b.getInt64(0));
  for (llvm::Value *&sum : sums)
    sum = loop.carry(sum);
  if (depth > blocking.unroll)
    fetchRows(b.CreateInBoundsGEP(compute, function->getArg(0), b.CreateMul(step, b.getInt64(pitch))));
  multiply(a, panel, sums);
  llvm::Value *following = b.CreateAdd(step, b.getInt64(blocking.unroll), "", false, /*HasNSW=*/true);
  Values next{nextOfA(a, following), b.CreateConstInBoundsGEP1_64(compute, panel, blocking.unroll * vectors * lanes), following};
  next.append(sums);
  loop.repeat(next, b.CreateICmpSLT(following, k));
  loop.leave();
  for (auto [n, sum] : llvm::enumerate(sums))
    sum = loop.after(n + 3);
  if (blocking.flipsB())
    takeFlips(sums);
  store(sums);
  b.CreateRetVoid();
  return function;
}

std::string nameOf(const DotBlocking &blocking) {
  switch (blocking.multiply) {
  case Multiply::single:
    return "";
  case Multiply::bf16Pairs:
    return ".bf16";
  case Multiply::int16Pairs:
    return ".i16";
  case Multiply::bf16Tiles:
    return ".bf16.tiles";
  case Multiply::int8Quads:
  case Multiply::int8Tiles:
    return std::string(".") + (blocking.aUnsigned ? "u8" : "i8") + (blocking.bUnsigned ? ".u8" : ".i8") +
           (inTiles(blocking.multiply) ? ".tiles" : "");
  }
  llvm_unreachable("all are named");
}
} // namespace

llvm::Function *kernelFunction(llvm::IRBuilder<> &b, llvm::Module &module, llvm::StringRef name) {
  auto *type = llvm::FunctionType::get(
      b.getVoidTy(), {b.getPtrTy(), b.getPtrTy(), b.getInt64Ty(), b.getPtrTy(), b.getInt64Ty(), b.getInt1Ty()}, false);
  auto *function = llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage, name, module);
  function->addFnAttr(llvm::Attribute::NoInline);
  function->addFnAttr(llvm::Attribute::NoUnwind);
  for (unsigned i : {0u, 1u, 3u})
    function->addParamAttr(i, llvm::Attribute::NoAlias);
  return function;
}

llvm::Function *dotKernel(llvm::Module &module, const DotBlocking &blocking, llvm::Type *compute, unsigned rows, unsigned columns,
                          unsigned pitch) {
  std::string typeName;
  llvm::raw_string_ostream(typeName) << *compute;
  std::string name = "tilery.dot." + typeName + "." + std::to_string(rows) + "x" + std::to_string(columns) + ".u" +
                     std::to_string(blocking.unroll) + nameOf(blocking);
  if (blocking.rowDepth)
    name += ".by" + std::to_string(blocking.rowDepth);
  if (pitch != rows)
    name += ".of" + std::to_string(pitch);
  if (llvm::Function *known = module.getFunction(name))
    return known;
  return inTiles(blocking.multiply) ? tileKernel(module, blocking, compute, rows, columns, name)
                                    : MicroKernel(module, blocking, compute, rows, columns, pitch).emit(module, name);
}

} // namespace tilery::cpu
