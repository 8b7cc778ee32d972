#include "compiler/cuda/simt.h"
#include "compiler/cuda/mma.h"
#include "compiler/cpu/kernel_info.h"

using namespace mlir;

namespace tilery::cuda {
using cpu::Index;
using cpu::Lanes;
using cpu::Point;

namespace {
/// What the dots want where there are some, explicit threads, the user's num_warps, else a number by the largest tile.
unsigned chooseThreads(tile::KernelOp kernel, const cpu::Plan &plan) {
  if (unsigned wanted = mmaThreads(kernel))
    return wanted;
  int64_t wanted = 0;
  kernel.walk([&](tile::ThreadsOp op) { wanted = std::max<int64_t>(wanted, op.getCount()); });
  if (wanted)
    return llvm::alignTo(std::min<int64_t>(wanted, 1024), 32);
  if (auto warps = kernel->getAttrOfType<IntegerAttr>("num_warps"))
    return std::clamp<int64_t>(llvm::PowerOf2Ceil(warps.getInt()), 1, 32) * 32;
  int64_t largest = 1;
  for (auto &[block, steps] : plan.steps)
    for (const cpu::Step &step : steps)
      if (!step.op) {
        int64_t elements = 1;
        for (int64_t size : step.nest.shape)
          elements *= size;
        largest = std::max(largest, elements);
      }
  return largest >= 32768 ? 512 : largest >= 4096 ? 256 : 128;
}
} // namespace

SimtEmitter::SimtEmitter(cpu::Emitter &e, tile::KernelOp kernel, const BlockPlan &plan, const CudaTarget &target,
                         BlockMachine &machine)
    : KernelEmitter(e, kernel, plan.plan), blockPlan(plan), target(target), machine(machine),
      threads(chooseThreads(kernel, plan.plan)) {}

void SimtEmitter::refuse(Operation *op, const char *what) {
  op->emitError() << "the GPU target cannot " << what << " yet";
  evaluator.failed = true;
}

FailureOr<GpuInfo> SimtEmitter::emitBlock() {
  auto &b = e.b;
  exchangeOffset = blockPlan.stagingOffset() + (blockPlan.stagingBytes + 63) / 64 * 64;
  GpuInfo info;
  info.threads = threads;
  info.sharedBytes = exchangeOffset + exchangeSlots * exchangeBytes;
  if (info.sharedBytes > target.sharedBytes) {
    kernel.emitError() << "a program needs " << info.sharedBytes << " bytes of shared memory, the device has "
                       << target.sharedBytes << "; use smaller tiles";
    return failure();
  }
  bool reporting = kernel
                       .walk([](Operation *op) {
                         return isa<tile::PrintOp, tile::AssertOp>(op) ? WalkResult::interrupt() : WalkResult::advance();
                       })
                       .wasInterrupted();
  info.workspaceBytes = plan.workspaceBytes;
  info.persistent = info.workspaceBytes != 0; // as many workspaces as run at once
  BlockEntry entry = machine.begin(e, kernel, {threads, info.workspaceBytes, reporting});
  function = entry.function;
  makeScopes();
  for (BlockArgument argument : kernel.getBody().getArguments())
    evaluator.scalars[argument] = e.fromMemory(entry.arguments[argument.getArgNumber()], argument.getType());
  grid.assign(std::begin(entry.grid), std::end(entry.grid));
  evaluator.arena = entry.shared;
  evaluator.workspace = entry.workspace;
  reports = entry.reports;
  thread = entry.thread;
  llvm::BasicBlock *before = b.GetInsertBlock(), *start = newBlock(), *body = newBlock();
  b.CreateBr(start);
  b.SetInsertPoint(start);
  llvm::Value *program = entry.number;
  llvm::PHINode *next = nullptr;
  if (info.persistent) {
    program = next = b.CreatePHI(b.getInt32Ty(), 2);
    next->addIncoming(entry.number, before);
  }
  programId = b.CreateZExt(program, b.getInt64Ty());
  llvm::Value *row = b.CreateUDiv(program, grid[0]);
  pid.assign({b.CreateURem(program, grid[0]), b.CreateURem(row, grid[1]), b.CreateUDiv(row, grid[1])});
  b.CreateBr(body);
  b.SetInsertPoint(body);
  if (!block(kernel.getBody().front()) || evaluator.failed)
    return failure();
  if (next) {
    barrier();
    llvm::Value *following = b.CreateAdd(program, entry.blocks);
    next->addIncoming(following, b.GetInsertBlock());
    llvm::BasicBlock *done = newBlock();
    llvm::Value *programs = b.CreateMul(b.CreateMul(grid[0], grid[1]), grid[2]);
    b.CreateCondBr(b.CreateICmpULT(following, programs), start, done);
    b.SetInsertPoint(done);
  }
  b.CreateRetVoid();
  info.sites = std::move(sites);
  return info;
}

Point SimtEmitter::pointOf(ArrayRef<int64_t> shape, llvm::Value *linear) {
  auto &b = e.b;
  Point point(shape.size(), evaluator.constant(0));
  for (int d = int(shape.size()) - 1; d >= 0; --d) {
    if (shape[d] == 1)
      continue;
    bool last = llvm::all_of(shape.take_front(d), [](int64_t size) { return size == 1; });
    llvm::Value *index = last ? linear : b.CreateURem(linear, e.i64(shape[d]));
    point[d] = Index{index, 0, nullptr, evaluator.level(), 1, d};
    if (!last)
      linear = b.CreateUDiv(linear, e.i64(shape[d]));
  }
  return point;
}

void SimtEmitter::forEach(ArrayRef<int64_t> shape, llvm::function_ref<void(Indices)> body) {
  if (alone)
    return KernelEmitter::forEach(shape, body);
  int64_t total = 1;
  for (int64_t size : shape)
    total *= size;
  barrier();
  evaluator.forget();
  evaluator.known.clear();
  evaluator.lanes = 1;
  evaluator.limit = nullptr;
  nests.loop(thread, e.i64(total), threads, false, {}, [&](llvm::Value *i, ArrayRef<Lanes>) {
    Point point = pointOf(shape, i);
    for (Index &index : point)
      index.loop = -1;
    body(point);
    return SmallVector<Lanes>();
  });
  evaluator.forget();
  barrier();
}

bool SimtEmitter::op(Operation *op) {
  // Scalar effects: every thread would make the same one, but not at the same time as the others read.
  bool writes = isa<tile::BufferStoreOp, tile::ElementStoreOp>(op);
  if (writes)
    barrier();
  bool ok = KernelEmitter::op(op);
  if (writes)
    barrier();
  return ok;
}

bool SimtEmitter::parallelOp(tile::ParallelOp op) {
  if (alone)
    return KernelEmitter::parallelOp(op);
  auto &b = e.b;
  Block &body = op.getBody().front();
  SmallVector<llvm::Value *> extents;
  llvm::Value *total = e.i64(1);
  for (Value extent : op.getExtents()) {
    llvm::Value *size = b.CreateSExtOrTrunc(evaluator.scalar(extent), b.getInt64Ty());
    size = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, size, e.i64(0));
    extents.push_back(size);
    total = b.CreateMul(total, size);
  }
  barrier();
  alone = true;
  llvm::BasicBlock *before = b.GetInsertBlock(), *loop = newBlock("parallel"), *exit = newBlock();
  b.CreateCondBr(b.CreateICmpSLT(thread, total), loop, exit);
  b.SetInsertPoint(loop);
  llvm::PHINode *i = b.CreatePHI(b.getInt64Ty(), 2);
  i->addIncoming(thread, before);
  llvm::Value *rest = i;
  for (int d = int(extents.size()) - 1; d >= 0; --d) {
    llvm::Type *type = e.valueType(body.getArgument(d).getType());
    evaluator.scalars[body.getArgument(d)] = b.CreateSExtOrTrunc(d ? b.CreateURem(rest, extents[d]) : rest, type);
    rest = b.CreateUDiv(rest, extents[d]);
  }
  bool ok = block(body);
  llvm::Value *next = b.CreateAdd(i, e.i64(threads));
  i->addIncoming(next, b.GetInsertBlock());
  b.CreateCondBr(b.CreateICmpSLT(next, total), loop, exit);
  b.SetInsertPoint(exit);
  alone = false;
  barrier();
  return ok;
}

void SimtEmitter::atomically(Operation *op, Value place, llvm::function_ref<llvm::Value *(llvm::Value *, Indices)> update) {
  if (alone || isa<RankedTensorType>(op->getResult(0).getType()))
    return KernelEmitter::atomically(op, place, update);
  barrier(); // what the program wrote before comes first
  llvm::Value *slot = exchange(0, e.i64(0));
  when(e.b.CreateICmpEQ(thread, e.i64(0)), [&] {
    alone = true;
    KernelEmitter::atomically(op, place, update);
    alone = false;
    e.b.CreateStore(e.toMemory(evaluator.scalars[op->getResult(0)], op->getResult(0).getType()), slot);
  });
  barrier();
  Type type = op->getResult(0).getType();
  evaluator.scalars[op->getResult(0)] = e.fromMemory(e.b.CreateLoad(e.memoryType(type), slot), type);
  barrier();
}

void SimtEmitter::histogramOp(tile::HistogramOp op) {
  auto &b = e.b;
  auto result = cast<RankedTensorType>(op.getType());
  int buffer = plan.storage.lookup(op.getResult());
  llvm::Type *count = e.valueType(result.getElementType());
  forEach(result.getShape(), [&](Indices point) {
    evaluator.store(evaluator.scratchAddress(buffer, result.getShape(), point), llvm::Constant::getNullValue(count));
  });
  forEach(tile::shapeOf(op.getValue().getType()), [&](Indices point) {
    llvm::Value *bin = b.CreateSExtOrTrunc(evaluator.value(op.getValue(), point), b.getInt64Ty());
    llvm::Value *counted = b.CreateICmpULT(bin, e.i64(result.getDimSize(0)));
    if (op.getMask())
      counted = b.CreateAnd(counted, evaluator.value(op.getMask(), point));
    when(counted, [&] {
      cpu::Address where = evaluator.scratchAddress(buffer, result.getShape(), {Index{bin, 0, nullptr, evaluator.level()}});
      b.CreateAtomicRMW(llvm::AtomicRMWInst::Add, where.pointer, llvm::ConstantInt::get(count, 1),
                        llvm::MaybeAlign(where.alignment), llvm::AtomicOrdering::Monotonic);
    });
  });
}

// Each element counts those that come before it: many comparisons, but all at once.
void SimtEmitter::sortOp(tile::SortOp op) {
  if (alone)
    return KernelEmitter::sortOp(op);
  auto &b = e.b;
  ArrayRef<int64_t> shape = tile::shapeOf(op.getType());
  uint64_t axis = op.getAxis();
  int buffer = plan.storage.lookup(op.getResult());
  forEach(shape, [&](Indices point) {
    Lanes own = evaluator.value(op.getValue(), point);
    SmallVector<Lanes> place =
        nests.loop(e.i64(0), e.i64(shape[axis]), 1, false, {e.i64(0)}, [&](llvm::Value *i, ArrayRef<Lanes> count) {
          cpu::Point other(point);
          other[axis] = Index{i, 0, nullptr, evaluator.level()};
          Lanes value = evaluator.value(op.getValue(), other);
          llvm::Value *equal = b.CreateAnd(b.CreateNot(sortsBefore(op, own, value)), b.CreateICmpSLT(i, point[axis].base));
          llvm::Value *before = b.CreateOr(sortsBefore(op, value, own), equal);
          return SmallVector<Lanes>{b.CreateAdd(count[0], b.CreateZExt(before, b.getInt64Ty()))};
        });
    cpu::Point where(point);
    where[axis] = Index{place[0], 0, nullptr, evaluator.level()};
    evaluator.store(evaluator.scratchAddress(buffer, shape, where), own);
  });
}

void SimtEmitter::dotOp(Operation *op) {
  if (alone)
    return refuse(op, "multiply tiles in code that each thread runs for itself");
  const MmaPlan &product = blockPlan.products.find(op)->second;
  llvm::Value *staging = blockPlan.stagesInResult(product)
                             ? evaluator.scratchPointer(plan.storage.lookup(op->getResult(0)))
                             : e.b.CreateConstInBoundsGEP1_64(e.b.getInt8Ty(), evaluator.arena, blockPlan.stagingOffset());
  evaluator.failed |= !MmaEmitter(*this, machine, thread, threads, product, staging, op).emit();
}

llvm::Value *SimtEmitter::exchange(unsigned slot, llvm::Value *entry) {
  llvm::Value *base = e.b.CreateConstInBoundsGEP1_64(e.b.getInt8Ty(), evaluator.arena, exchangeOffset + slot * exchangeBytes);
  return e.b.CreateInBoundsGEP(e.b.getInt64Ty(), base, entry);
}

} // namespace tilery::cuda
