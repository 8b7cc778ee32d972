// Explicit threads: the block's own.
#include "compiler/analysis/thread_set.h"
#include "compiler/targets/cuda/simt/simt.h"

using namespace mlir;

namespace tilery::cuda {
namespace {
/// Where a thread stands in its group of `width` threads of a warp (a power of two).
struct Group {
  llvm::Value *first, *place, *mask; // i32: the group's first lane, the place in it, its lanes
};

Group groupOf(llvm::IRBuilder<> &b, llvm::Value *thread, unsigned width) {
  llvm::Value *lane = b.CreateAnd(b.CreateTrunc(thread, b.getInt32Ty()), b.getInt32(31));
  llvm::Value *place = b.CreateAnd(lane, b.getInt32(width - 1)), *first = b.CreateSub(lane, place);
  return {first, place, b.CreateShl(b.getInt32(width == 32 ? ~0u : (1u << width) - 1), first)};
}
} // namespace

bool SimtEmitter::targetOp(Operation *op) {
  return llvm::TypeSwitch<Operation *, bool>(op)
      .Case([&](tile::ThreadsOp op) { return threadsOp(op), true; })
      .Case([&](tile::SyncOp op) { return syncOp(op), true; })
      .Case([&](tile::TogetherOp op) { return togetherOp(op), true; })
      .Case([&](tile::ShuffleOp op) { return shuffleOp(op), true; })
      .Case([&](tile::VoteOp op) { return voteOp(op), true; })
      .Case([&](tile::WarpDotOp op) { return warpDotOp(op), true; })
      .Default([&](Operation *op) { return machineOp(op); });
}

void SimtEmitter::threadsOp(tile::ThreadsOp op) {
  auto &b = e.b;
  auto fail = [&](Operation *at, const Twine &what) {
    at->emitError() << "the GPU target cannot " << what;
    evaluator.failed = true;
    return WalkResult::interrupt();
  };
  bool waits = false;
  if (op.getCount() > threads)
    return (void)fail(op, "run " + Twine(op.getCount()) + " threads: a block has at most 1024");
  WalkResult checked = op.getBody().walk<WalkOrder::PreOrder>([&](Operation *inner) {
    waits |= isa<tile::SyncOp, tile::ShuffleOp, tile::VoteOp, tile::WarpDotOp, tile::TogetherOp>(inner);
    if (llvm::any_of(inner->getResultTypes(), [](Type type) { return isa<RankedTensorType>(type); }))
      return fail(inner, "make tiles in single threads");
    if (auto alloc = dyn_cast<tile::AllocOp>(inner))
      makePrivateBuffer(alloc);
    return isa<tile::TogetherOp>(inner) ? WalkResult::skip() : WalkResult::advance();
  });
  if (checked.wasInterrupted())
    return;
  barrier();
  bool outer = std::exchange(perThread, true);
  count = op.getCount();
  llvm::Value *exists = count == threads ? nullptr : b.CreateICmpULT(thread, e.i64(count)), *number = thread;
  if (waits && exists) {
    counted = std::exchange(exists, nullptr);
    number = b.CreateSelect(counted, thread, e.i64(count - 1));
  }
  when(exists, [&] {
    evaluator.scalars[op.getBody().getArgument(0)] = b.CreateTrunc(number, b.getInt32Ty());
    evaluator.failed |= !block(op.getBody().front());
  });
  counted = nullptr;
  perThread = outer;
  barrier();
}

void SimtEmitter::makePrivateBuffer(tile::AllocOp alloc) {
  llvm::IRBuilderBase::InsertPointGuard guard(e.b);
  e.b.SetInsertPoint(entryEnd);
  uint64_t bytes = ShapedType::getNumElements(alloc.getType().getShape()) * lower::elementBytes(alloc.getType().getElementType());
  llvm::AllocaInst *variable = e.b.CreateAlloca(llvm::ArrayType::get(e.b.getInt8Ty(), bytes));
  variable->setAlignment(llvm::Align(16));
  privateBuffers[alloc] = variable;
}

bool SimtEmitter::countedOp(Operation *op) {
  auto &b = e.b;
  if (isa<tile::ElementStoreOp>(op)) {
    Operation *buffer = op->getOperand(0).getDefiningOp();
    while (isa_and_present<tile::SubviewOp, tile::ReinterpretOp>(buffer))
      buffer = buffer->getOperand(0).getDefiningOp();
    if (privateBuffers.contains(buffer))
      return KernelEmitter::op(op);
  }
  bool ok = true;
  llvm::BasicBlock *before = b.GetInsertBlock(), *last = nullptr;
  when(counted, [&] {
    ok = KernelEmitter::op(op);
    last = b.GetInsertBlock();
  });
  for (Value result : op->getResults()) {
    llvm::Value *there = evaluator.scalar(result);
    llvm::PHINode *merged = b.CreatePHI(there->getType(), 2);
    merged->addIncoming(there, last);
    merged->addIncoming(llvm::Constant::getNullValue(there->getType()), before);
    evaluator.scalars[result] = merged;
  }
  return ok;
}

void SimtEmitter::togetherOp(tile::TogetherOp op) {
  llvm::Value *some = std::exchange(counted, nullptr);
  perThread = false;
  barrier();
  Block &body = op.getBody().front();
  evaluator.failed |= !block(body);
  for (auto [result, value] : llvm::zip(op.getResults(), body.getTerminator()->getOperands()))
    evaluator.scalars[result] = evaluator.scalar(value);
  barrier();
  perThread = true;
  counted = some;
}

void SimtEmitter::syncOp(tile::SyncOp op) {
  auto &b = e.b;
  if (!op->getParentOfType<tile::ThreadsOp>())
    return;
  auto here = analysis::threadsAt(op);
  if (!here || !analysis::canMeet(*here))
    return refuse(op, here ? "let some threads of several warps wait for each other"
                           : "let threads wait for each other where data decides which ones come");
  unsigned first = here->find_first(), size = here->count();
  if (op.getWidth() && (op.getWidth() > 32 || !llvm::isPowerOf2_64(op.getWidth())))
    return refuse(op, "let groups of threads wait that are no power of two up to 32");
  if (here->none() || size == 1)
    return;
  if (here->all() && !op.getWidth())
    return machine.barrier(e);
  // Threads that fill the last warp do as the last one does.
  here->resize(threads, here->test(count - 1));
  if (op.getWidth() || size < 32) {
    Group group = groupOf(b, thread, op.getWidth() ? op.getWidth() : 32);
    uint32_t lanes = 0;
    for (unsigned lane = 0; lane < 32; ++lane)
      lanes |= uint32_t(here->test(first / 32 * 32 + lane)) << lane;
    return machine.warpBarrier(e, size < 32 ? b.CreateAnd(group.mask, b.getInt32(lanes)) : group.mask);
  }
  auto found = llvm::find(meetings, *here);
  if (found == meetings.end())
    found = meetings.insert(meetings.end(), *here);
  constexpr unsigned mostMeetings = 15;
  unsigned id = found - meetings.begin() + 1;
  if (id > mostMeetings)
    return refuse(op, "let more than 15 different parts of a block wait");
  machine.namedBarrier(e, b.getInt32(id), here->count());
}

uint32_t SimtEmitter::lanesAt(Operation *op) {
  auto here = analysis::threadsAt(op);
  if (!here || here->none() || here->all())
    return ~0u;
  constexpr unsigned warp = 32;
  here->resize((here->size() + warp - 1) / warp * warp, here->test(count - 1));
  uint32_t lanes = 0;
  for (unsigned first = 0; first < here->size(); first += warp) {
    uint32_t own = 0;
    for (unsigned lane = 0; lane < warp; ++lane)
      own |= uint32_t(here->test(first + lane)) << lane;
    if (own && lanes && own != lanes)
      refuse(op, "let other lanes of one warp than of another exchange values");
    lanes |= own;
  }
  return lanes;
}

void SimtEmitter::shuffleOp(tile::ShuffleOp op) {
  auto &b = e.b;
  unsigned width = op.getWidth();
  if (width > 32 || !llvm::isPowerOf2_64(width))
    return refuse(op, "shuffle in groups that are no power of two up to 32");
  Group group = groupOf(b, thread, width);
  uint32_t lanes = lanesAt(op);
  group.mask = b.CreateAnd(group.mask, b.getInt32(lanes));
  llvm::Value *by = evaluator.scalar(op.getLane()), *place = nullptr;
  switch (op.getMode()) {
  case tile::ShuffleMode::idx:
    place = by;
    break;
  case tile::ShuffleMode::up:
    place = b.CreateSub(group.place, by);
    break;
  case tile::ShuffleMode::down:
    place = b.CreateAdd(group.place, by);
    break;
  case tile::ShuffleMode::xor_:
    place = b.CreateXor(group.place, by);
    break;
  }
  llvm::Value *exists = b.CreateICmpULT(place, b.getInt32(width));
  if (counted) {
    llvm::Value *first = b.CreateSub(b.CreateTrunc(thread, b.getInt32Ty()), group.place);
    exists = b.CreateAnd(exists, b.CreateICmpULT(b.CreateAdd(first, place), b.getInt32(count)));
  }
  if (lanes != ~0u) {
    llvm::Value *lane = b.CreateAnd(b.CreateAdd(group.first, place), b.getInt32(31));
    exists = b.CreateAnd(exists, b.CreateTrunc(b.CreateLShr(b.getInt32(lanes), lane), b.getInt1Ty()));
  }
  place = b.CreateSelect(exists, place, group.place);
  llvm::Value *lane = b.CreateAdd(group.first, place);
  evaluator.scalars[op] = movedBetweenThreads(evaluator.scalar(op.getValue()),
                                              [&](llvm::Value *part) { return machine.shuffleFrom(e, part, lane, group.mask); });
}

void SimtEmitter::voteOp(tile::VoteOp op) {
  auto &b = e.b;
  unsigned width = op.getWidth() ? op.getWidth() : count;
  bool ballot = op.getMode() == tile::VoteMode::ballot;
  llvm::Value *voters = b.getInt32(width);
  llvm::Value *holds = b.CreateZExt(evaluator.scalar(op.getPredicate()), b.getInt32Ty()), *result = nullptr;
  if (op.getWidth() && (width > 32 || !llvm::isPowerOf2_64(width)))
    return refuse(op, "vote in groups that are no power of two up to 32");
  if (counted)
    holds = b.CreateSelect(counted, holds, b.getInt32(0));
  if (op.getWidth()) { // the sum over the group: xor walks reach every member
    Group group = groupOf(b, thread, width);
    if (counted) {
      llvm::Value *first = b.CreateSub(b.CreateTrunc(thread, b.getInt32Ty()), group.place);
      voters = b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, voters, b.CreateSub(b.getInt32(count), first));
    }
    result = ballot ? b.CreateShl(holds, group.place) : holds;
    if (uint32_t lanes = lanesAt(op); lanes != ~0u) { // the others take no part in a walk
      group.mask = b.CreateAnd(group.mask, b.getInt32(lanes));
      llvm::Value *own = result;
      result = voters = b.getInt32(0);
      for (unsigned place = 0; place < width; ++place) {
        llvm::Value *lane = b.CreateAdd(group.first, b.getInt32(place));
        llvm::Value *comes = b.CreateAnd(b.CreateLShr(b.getInt32(lanes), lane), b.getInt32(1));
        if (counted) {
          llvm::Value *first = b.CreateSub(b.CreateTrunc(thread, b.getInt32Ty()), group.place);
          llvm::Value *exists = b.CreateICmpULT(b.CreateAdd(first, b.getInt32(place)), b.getInt32(count));
          comes = b.CreateAnd(comes, b.CreateZExt(exists, b.getInt32Ty()));
        }
        llvm::Value *from = b.CreateSelect(b.CreateIsNotNull(comes), lane, b.CreateAdd(group.first, group.place));
        result = b.CreateAdd(result, b.CreateMul(comes, machine.shuffleFrom(e, own, from, group.mask)));
        voters = b.CreateAdd(voters, comes);
      }
      width = 1;
    }
    for (unsigned distance = 1; distance < width; distance *= 2)
      result = b.CreateAdd(
          result,
          machine.shuffleFrom(e, result, b.CreateAdd(group.first, b.CreateXor(group.place, b.getInt32(distance))), group.mask));
  } else {
    llvm::Value *slot = exchange(0, e.i64(0));
    machine.barrier(e);
    when(b.CreateICmpEQ(thread, e.i64(0)), [&] { b.CreateStore(b.getInt32(0), slot); });
    machine.barrier(e);
    llvm::Value *low = b.CreateICmpULT(thread, e.i64(32));
    llvm::Value *place = b.CreateAnd(b.CreateTrunc(thread, b.getInt32Ty()), b.getInt32(31));
    llvm::Value *part = ballot ? b.CreateSelect(low, b.CreateShl(holds, place), b.getInt32(0)) : holds;
    b.CreateAtomicRMW(llvm::AtomicRMWInst::Add, slot, part, llvm::MaybeAlign(4), llvm::AtomicOrdering::Monotonic);
    machine.barrier(e);
    result = b.CreateLoad(b.getInt32Ty(), slot);
    machine.barrier(e);
  }
  if (op.getMode() == tile::VoteMode::any)
    result = b.CreateICmpNE(result, b.getInt32(0));
  else if (op.getMode() == tile::VoteMode::all)
    result = b.CreateICmpEQ(result, voters);
  evaluator.scalars[op] = result;
}

void SimtEmitter::warpDotOp(tile::WarpDotOp op) {
  auto &b = e.b;
  auto here = analysis::threadsAt(op);
  if (!here)
    return refuse(op, "multiply in a warp where data decides which threads come");
  for (unsigned first = 0; first < here->size(); first += 32)
    for (unsigned lane = 1; lane < 32; ++lane)
      if (here->test(first + lane) != here->test(first))
        return refuse(op, "multiply with some threads of a warp only");
  Type factor = op.getA()[0].getType();
  MmaForm form{factor.isF16()    ? MmaForm::F16
               : factor.isBF16() ? MmaForm::BF16
               : factor.isF32()  ? MmaForm::TF32
               : factor.isF64()  ? MmaForm::F64
                                 : MmaForm::I8,
               op.getAUnsigned(), op.getBUnsigned()};
  auto words = [&](OperandRange values) { // as the instruction takes them: neighbours in 32 bits
    SmallVector<llvm::Value *, 16> result;
    for (Value value : values)
      result.push_back(evaluator.scalar(value));
    if (factor.isF64())
      return result;
    size_t w = op.getPerWord(), bits = 32 / w;
    for (size_t i = 0; i < result.size(); ++i) {
      llvm::Value *raw = b.CreateZExt(b.CreateBitCast(result[i], b.getIntNTy(bits)), b.getInt32Ty());
      raw = factor.isF32() ? machine.roundTF32(e, raw) : b.CreateShl(raw, i % w * bits);
      result[i / w] = i % w ? b.CreateOr(result[i / w], raw) : raw;
    }
    result.resize(result.size() / w);
    return result;
  };
  SmallVector<llvm::Value *, 4> sums;
  for (Value value : op.getC())
    sums.push_back(evaluator.scalar(value));
  machine.multiply(e, form, sums, words(op.getA()), words(op.getB()));
  for (auto [result, sum] : llvm::zip(op.getResult(), sums))
    evaluator.scalars[result] = sum;
}

} // namespace tilery::cuda
