#include "compiler/targets/cpu/kernel.h"
#include "compiler/explain/findings.h"
#include "compiler/lower/read_behind.h"
#include "compiler/ir/dtype_of.h"
#include "compiler/lower/debug_info.h"
#include "compiler/lower/kernel_info.h"
#include "compiler/lower/loop.h"
#include "compiler/targets/cpu/dot.h"
#include "llvm/IR/IntrinsicsX86.h"
#include "llvm/IR/MDBuilder.h"

using namespace mlir;

namespace tilery::cpu {
using namespace lower;

void CpuKernel::emitEntry() {
  auto &b = e.b;
  llvm::Value *begin = function->getArg(1), *end = function->getArg(2);
  launch = function->getArg(0);
  evaluator.memory.arena = function->getArg(3);
  llvm::BasicBlock *entry = newBlock("entry"), *program = newBlock("program"), *body = newBlock();
  b.SetInsertPoint(entry);
  auto field = [&](llvm::Type *type, uint64_t offset) {
    return b.CreateLoad(type, b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), launch, offset));
  };
  llvm::Value *args = field(b.getPtrTy(), offsetof(TileryLaunch, args));
  for (unsigned d = 0; d < 3; ++d)
    grid.push_back(field(b.getInt32Ty(), offsetof(TileryLaunch, grid) + 4 * d));
  nests.streaming =
      b.CreateICmpNE(b.CreateAnd(field(b.getInt32Ty(), offsetof(TileryLaunch, flags)), TILERY_STREAM), b.getInt32(0));
  nests.alone = b.CreateICmpNE(b.CreateAnd(field(b.getInt32Ty(), offsetof(TileryLaunch, flags)), TILERY_ALONE), b.getInt32(0));
  for (BlockArgument argument : kernel.getBody().getArguments()) {
    llvm::Value *slot = b.CreateConstInBoundsGEP1_64(b.getInt64Ty(), args, argument.getArgNumber());
    llvm::Type *type = e.memoryType(argument.getType());
    evaluator.scalars[argument] = e.fromMemory(b.CreateLoad(type, slot), argument.getType());
  }
  Loop programs(b, program, newBlock("done"));
  programs.enter(b.CreateICmpSLT(begin, end));
  llvm::PHINode *id = programs.carry(begin);
  programId = id;
  llvm::Value *x = b.CreateZExt(grid[0], b.getInt64Ty()), *y = b.CreateZExt(grid[1], b.getInt64Ty());
  llvm::Value *row = b.CreateUDiv(id, x);
  for (llvm::Value *coordinate : {b.CreateURem(id, x), b.CreateURem(row, y), b.CreateUDiv(row, y)})
    pid.push_back(b.CreateTrunc(coordinate, b.getInt32Ty()));
  llvm::Value *carry = b.getInt32(1);
  for (auto [place, extent] : llvm::zip(pid, grid)) {
    llvm::Value *next = b.CreateAdd(place, carry), *ends = b.CreateICmpEQ(next, extent);
    nests.nextProgram.push_back(b.CreateSelect(ends, b.getInt32(0), next));
    carry = b.CreateZExt(ends, b.getInt32Ty());
  }
  b.CreateBr(body);
  b.SetInsertPoint(body);
  if (!block(kernel.getBody().front()))
    evaluator.failed = true;
  llvm::Value *next = b.CreateAdd(id, e.i64(1), "", true, true);
  programs.repeat(next, b.CreateICmpSLT(next, end));
  programs.leave();
  // Nothing else orders such stores on x86.
  if (nests.hasStreamed && e.module.getTargetTriple().isX86())
    b.CreateIntrinsic(llvm::Intrinsic::x86_sse_sfence, {});
  b.CreateRetVoid();
}

LogicalResult CpuKernel::emit(KernelInfo &info) {
  auto &b = e.b;
  info.scratchBytes = plan.arenaBytes ? plan.arenaBytes + lower::readBehind : 0;
  llvm::Type *i64 = b.getInt64Ty(), *ptr = b.getPtrTy();
  function = llvm::Function::Create(llvm::FunctionType::get(b.getVoidTy(), {ptr, i64, i64, ptr}, false),
                                    llvm::GlobalValue::ExternalLinkage, info.name, e.module);
  function->addParamAttr(3, llvm::Attribute::getWithAlignment(e.context(), llvm::Align(64)));
  function->setDoesNotThrow();
  if (e.debug) {
    e.debug->beginFunction(function, kernel);
    e.at(kernel.getLoc());
  }
  makeScopes();
  emitEntry();
  return success(!evaluator.failed);
}

void CpuKernel::mayLeave() {
  auto &b = e.b;
  llvm::Type *ptr = b.getPtrTy(), *i32 = b.getInt32Ty();
  llvm::Value *place = b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), launch, offsetof(TileryLaunch, poll));
  // Volatile, not atomic: other accesses may still be moved across it.
  llvm::Value *quiet = b.CreateICmpEQ(b.CreateAlignedLoad(i32, place, llvm::Align(4), /*isVolatile=*/true), b.getInt32(0));
  llvm::BasicBlock *ask = newBlock("ask"), *leave = newBlock(), *stay = newBlock();
  b.CreateCondBr(quiet, stay, ask, llvm::MDBuilder(e.context()).createLikelyBranchWeights());
  b.SetInsertPoint(ask);
  auto callee = e.module.getOrInsertFunction("tilery_rt_poll", llvm::FunctionType::get(i32, {ptr}, false));
  auto *asked = llvm::cast<llvm::Function>(callee.getCallee());
  asked->addFnAttr(llvm::Attribute::Cold);
  asked->setDoesNotThrow();
  b.CreateCondBr(b.CreateICmpEQ(b.CreateCall(callee, {launch}), b.getInt32(0)), stay, leave);
  b.SetInsertPoint(leave);
  b.CreateRetVoid();
  b.SetInsertPoint(stay);
}

/// Says where registers hold few sums: multiplications wait for those before them, or need a load each.
static void explainFewSums(Operation *op, const DotPlan &product, const std::string &tile) {
  constexpr unsigned enough = 8; // sums on their way: 4 cycles, of two multiplications each
  const DotBlocking &blocking = product.blocking;
  unsigned rows = blocking.rows.width, vectors = blocking.columns.width / blocking.lanes;
  bool loads = vectors < 2; // one for each multiplication, of which there are as many a cycle
  if (inTiles(blocking.multiply) || (rows * vectors >= enough && !loads))
    return;
  explain::find(op, "small",
                "registers hold " + llvm::Twine(rows) + " x " + llvm::Twine(vectors) + " vectors of sums: " + tile +
                    ", of which " + (rows * vectors < enough ? "too few are added to at a time" : "each is added to by a load"),
                "take tiles of products of 32 x 32 or more (64 x 64 are enough), at least 8 rows and columns in multiples of " +
                    std::to_string(2 * blocking.lanes));
}

/// Says where registers multiply much that is no element of the tile.
static void explainPadding(Operation *op, const DotPlan &product) {
  const DotBlocking &blocking = product.blocking;
  int64_t columns = blocking.columns.start(blocking.columns.slivers),
          padded = columns * product.m * product.packedK() * product.pack;
  int64_t used = product.n * product.m * product.k, percent = 100 - 100 * used / std::max<int64_t>(padded, 1);
  std::string tile =
      "a tile of " + std::to_string(product.m) + " x " + std::to_string(product.n) + ", K " + std::to_string(product.k);
  if (percent >= 20)
    return explain::find(op, "ragged", std::to_string(percent) + " % of what registers multiply is padding: " + tile,
                         "take tiles of products of 32 x 32 or more: columns in multiples of " + std::to_string(blocking.lanes) +
                             " leave no padding, and rows keep registers busy");
  explainFewSums(op, product, tile);
}

/// Whether a tile goes through elementwise operations to what the loop around it carries on.
static bool isCarriedOn(Value tile) {
  SmallVector<Value> work{tile};
  llvm::DenseSet<Value> seen;
  while (!work.empty())
    for (Operation *user : work.pop_back_val().getUsers()) {
      if (isa<scf::YieldOp>(user) && isa<scf::ForOp>(user->getParentOp()))
        return true;
      if (lower::isElementwise(user) && seen.insert(user->getResult(0)).second)
        work.push_back(user->getResult(0));
    }
  return false;
}

/// Says where a sum of short products is gone over once more each turn: what is done to it costs like a good part of the product.
static void explainSum(Operation *op, const DotPlan &product) {
  constexpr int64_t few = 16;
  if (product.startsAtZero && product.k <= few && isCarriedOn(op->getResult(0)))
    explain::find(op, "sum",
                  "a product of K " + std::to_string(product.k) +
                      " is computed for itself and then added: the sum is read and written once more each turn",
                  "take longer steps along K, or scale and convert the factors, or the sum behind the loop, instead of the sum");
}

void CpuKernel::dotOp(Operation *op) {
  const auto &product = static_cast<const DotPlan &>(*plan.products.find(op)->second);
  explainPadding(op, product);
  explainSum(op, product);
  if (explain::wanted()) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    product.print(stream << "a product of " << product.m << " x " << product.n << ", K " << product.k << ", in registers ");
    explain::say(op, text);
  }
  emitDot(evaluator, op, product,
          {launch, grid, [&](Block &body) { evaluator.failed |= !block(body); },
           [&](Operation *store, llvm::Value *where) { written[store] = where; }});
}

void CpuKernel::printOp(tile::PrintOp op) {
  auto &b = e.b;
  auto temporaries = plan.temporaries.lookup(op);
  unsigned count = op.getValues().size();
  llvm::Type *ptr = b.getPtrTy(), *i32 = b.getInt32Ty(), *i64 = b.getInt64Ty();
  auto *printed = llvm::StructType::get(e.context(), {ptr, ptr, i32, i32});
  llvm::Value *list;
  {
    llvm::IRBuilderBase::InsertPointGuard guard(b);
    llvm::BasicBlock &entry = function->getEntryBlock();
    b.SetInsertPoint(&entry, entry.begin());
    list = b.CreateAlloca(printed, b.getInt32(std::max(count, 1u)));
  }
  for (unsigned i = 0; i < count; ++i) {
    Value value = op.getValues()[i];
    ArrayRef<int64_t> shape = tile::shapeOf(value.getType());
    forEach(shape, [&](ArrayRef<Index> point) {
      evaluator.memory.store(evaluator.addresses.ofStored(temporaries[i], shape, point), evaluator.value(value, point));
    });
    SmallVector<uint64_t> extents(shape.begin(), shape.end());
    auto *data = llvm::ConstantDataArray::get(e.context(), extents);
    auto *extent = new llvm::GlobalVariable(e.module, data->getType(), true, llvm::GlobalValue::PrivateLinkage, data);
    bool isSigned = i >= op.getIsSigned().size() || op.getIsSigned()[i];
    Type element = elementOf(value);
    uint32_t dtype = isa<tile::PtrType>(element) ? TILERY_POINTER : uint32_t(*dtypeOf(element, isSigned));
    llvm::Value *entry = b.CreateConstGEP1_32(printed, list, i);
    llvm::Value *fields[] = {evaluator.addresses.scratchPointer(temporaries[i]), extent, b.getInt32(shape.size()),
                             b.getInt32(dtype)};
    for (unsigned f = 0; f < 4; ++f)
      b.CreateStore(fields[f], b.CreateStructGEP(printed, entry, f));
  }
  auto callee = e.module.getOrInsertFunction("tilery_rt_print",
                                             llvm::FunctionType::get(b.getVoidTy(), {ptr, i64, ptr, i32, i32, ptr}, false));
  b.CreateCall(callee,
               {launch, programId, b.CreateGlobalString(op.getPrefix()), b.getInt32(op.getHex()), b.getInt32(count), list});
}

void CpuKernel::assertOp(tile::AssertOp op) {
  auto &b = e.b;
  llvm::Type *ptr = b.getPtrTy(), *i32 = b.getInt32Ty(), *i64 = b.getInt64Ty();
  auto callee = e.module.getOrInsertFunction("tilery_rt_assert",
                                             llvm::FunctionType::get(b.getVoidTy(), {ptr, i64, ptr, ptr, i32, i32}, false));
  FileLineColLoc line = sourceLine(op.getLoc());
  llvm::BasicBlock *failed = newBlock();
  forEach(tile::shapeOf(op.getCondition().getType()), [&](ArrayRef<Index> point) {
    llvm::Value *holds = evaluator.value(op.getCondition(), point);
    if (op.getMask())
      holds = b.CreateOr(holds, b.CreateNot(evaluator.value(op.getMask(), point)));
    llvm::BasicBlock *next = newBlock();
    b.CreateCondBr(holds, next, failed);
    b.SetInsertPoint(next);
  });
  llvm::IRBuilderBase::InsertPointGuard guard(b);
  b.SetInsertPoint(failed);
  llvm::Value *file =
      line ? (llvm::Value *)b.CreateGlobalString(line.getFilename().getValue()) : llvm::ConstantPointerNull::get(b.getPtrTy());
  b.CreateCall(callee, {launch, programId, b.CreateGlobalString(op.getMessage()), file, b.getInt32(line ? line.getLine() : 0),
                        b.getInt32(line ? line.getColumn() : 0)});
  b.CreateRetVoid();
}

} // namespace tilery::cpu
