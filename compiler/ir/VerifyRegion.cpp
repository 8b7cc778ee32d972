// Verifiers of the ops in TileRegion.td.
#include "compiler/ir/Tile.h"
#include "compiler/ir/warp.h"

using namespace mlir;
using namespace tilery::tile;

LogicalResult ParallelOp::verify() {
  Block &body = getBody().front();
  if (getExtents().empty())
    return emitOpError("needs an extent");
  if (body.getArgumentTypes() != getExtents().getTypes())
    return emitOpError("needs a region with one argument of the type of each extent");
  if (body.getTerminator()->getNumOperands() != 0)
    return emitOpError("yields nothing");
  WalkResult tiles = body.walk([](Operation *op) {
    bool isTile = llvm::any_of(op->getResultTypes(), [](Type type) { return isa<RankedTensorType>(type); });
    return isTile ? WalkResult::interrupt() : WalkResult::advance();
  });
  if (tiles.wasInterrupted())
    return emitOpError("has a scalar body, but something in it makes a tile");
  return success();
}

LogicalResult ThreadsOp::verify() {
  Block &body = getBody().front();
  if (getCount() < 1)
    return emitOpError("needs at least one thread");
  if (body.getNumArguments() != 1 || !body.getArgument(0).getType().isInteger(32))
    return emitOpError("needs a region whose argument is the thread id, an i32");
  if (body.getTerminator()->getNumOperands() != 0)
    return emitOpError("yields nothing");
  if ((*this)->getParentOfType<ThreadsOp>())
    return emitOpError("cannot stand inside another `threads`");
  return success();
}

LogicalResult TogetherOp::verify() {
  Block &body = getBody().front();
  if (body.getNumArguments() != 0)
    return emitOpError("needs a region without arguments");
  if (body.getTerminator()->getOperandTypes() != getResultTypes())
    return emitOpError("gives what its region yields");
  if (!(*this)->getParentOfType<ThreadsOp>())
    return emitOpError("stands inside `threads`");
  if ((*this)->getParentOfType<TogetherOp>() || (*this)->getParentOfType<ParallelOp>())
    return emitOpError("is reached by whole threads: it cannot stand inside `together` or `parallel`");
  WalkResult single = body.walk([](Operation *op) {
    return isa<SyncOp, ShuffleOp, VoteOp, WarpDotOp>(op) ? WalkResult::interrupt() : WalkResult::advance();
  });
  if (single.wasInterrupted())
    return emitOpError("is one thread of control: nothing in it can wait for others");
  return success();
}

LogicalResult RolesOp::verify() {
  if (getThreads().size() != getBodies().size() || getBodies().empty())
    return emitOpError("needs one thread count a region");
  if (llvm::any_of(getThreads(), [](int64_t count) { return count < 1; }))
    return emitOpError("needs at least one thread in each role");
  for (Region &body : getBodies())
    if (body.getNumArguments() != 0)
      return emitOpError("needs regions without arguments");
  return success();
}

static LogicalResult checkInThreads(Operation *op, int64_t width, bool mayBeAll) {
  if (!op->getParentOfType<ThreadsOp>())
    return op->emitOpError("stands inside `threads`");
  if (width < (mayBeAll ? 0 : 1))
    return op->emitOpError() << "has no groups of " << width << " threads";
  return success();
}
LogicalResult SyncOp::verify() {
  if (int64_t(getWidth()) < 0)
    return emitOpError() << "has no groups of " << int64_t(getWidth()) << " threads";
  return success();
}
LogicalResult ShuffleOp::verify() {
  if (getType() != getValue().getType())
    return emitOpError("gives the type of its value");
  return checkInThreads(*this, getWidth(), false);
}
LogicalResult VoteOp::verify() {
  bool isBool = getMode() == VoteMode::any || getMode() == VoteMode::all;
  if (!getType().isInteger(isBool ? 1 : 32))
    return emitOpError() << "`" << stringifyVoteMode(getMode()) << "` gives " << (isBool ? "i1" : "i32");
  return checkInThreads(*this, getWidth(), true);
}

LogicalResult WarpDotOp::verify() {
  if (failed(checkInThreads(*this, warpLanes, false)))
    return failure();
  if ((*this)->getParentOfType<ThreadsOp>().getCount() % warpLanes)
    return emitOpError("is of whole warps: `threads` needs a multiple of 32");
  if (getA().empty() || getB().empty() || getC().empty())
    return emitOpError("needs factors and sums");
  Type factor = getA()[0].getType(), sum = getC()[0].getType();
  bool known = (factor.isF16() || factor.isBF16() || factor.isF32()) ? sum.isF32()
               : factor.isF64()                                      ? sum.isF64()
                                                                     : factor.isInteger(8) && sum.isInteger(32);
  if (!known)
    return emitOpError() << "of " << factor << " with sums of " << sum << " is none of f16, bf16, f32 (f32), f64 (f64), i8 (i32)";
  int64_t parts = factor.isF64() ? 1 : 2 * getPerWord();
  if (getB().size() != size_t(parts) || getA().size() != size_t(2 * parts) || getC().size() != 4 || getResult().size() != 4)
    return emitOpError() << "of " << factor << " takes " << 2 * parts << " and " << parts << " elements and 4 sums a thread";
  auto all = [](ValueRange values, Type type) { return llvm::all_of(values, [&](Value v) { return v.getType() == type; }); };
  if (!all(getA(), factor) || !all(getB(), factor) || !all(getC(), sum) || !all(getResult(), sum))
    return emitOpError("has factors of one type, and sums and results of one type");
  return success();
}

LogicalResult BarrierAllocOp::verify() {
  if (int64_t(getArrivals().size()) != getType().getCount())
    return emitOpError("needs one arrival count a barrier of the ring");
  if (llvm::any_of(getArrivals(), [](int64_t count) { return count < 1; }))
    return emitOpError("needs at least one arrival a barrier");
  return success();
}
LogicalResult BarrierArriveOp::verify() {
  if (getCount() < 1)
    return emitOpError("needs at least one arrival");
  return success();
}
LogicalResult AsyncCopyOp::verify() {
  if (getView().getType().getTileType() != getBuffer().getType().getTileType())
    return emitOpError() << "copies " << getView().getType().getTileType() << " to a buffer for "
                         << getBuffer().getType().getTileType();
  return success();
}
