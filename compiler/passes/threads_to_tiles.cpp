// threads-to-tiles: what the threads of a block do becomes tile code, one lane a thread, for targets without such threads.
//
// Threads run in lockstep: each statement for all of them before the next. That is one of the orders that `threads` allows, and it needs
// no barriers; loops end when the last thread has left them, branches are masks. What has no tile form runs thread after thread.
#include "compiler/analysis/divergence.h"
#include "compiler/analysis/integer_op.h"
#include "compiler/ir/machine_ops.h"
#include "compiler/ir/warp.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/thread_conversion.h"
#include "compiler/passes/thread_windows.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include <set>

using namespace mlir;
using namespace tilery;
using namespace tilery::tile;

ThreadConversion::ThreadConversion(ThreadsOp op, ArrayRef<int64_t> box, ArrayRef<int64_t> strides)
    : Lockstep(op, box), body(op.getBody().front()), threadDims(box.size()), strides(strides) {}

LogicalResult ThreadConversion::run() {
  Block scratch;
  builder.setInsertionPointToEnd(&scratch);
  BlockArgument thread = body.getArgument(0);
  findVarying();
  findFolds();
  Affine form;
  form.coefficients.assign(strides.begin(), strides.end());
  affine.know(thread, form);
  map.map(thread, tileOfForm(form, thread.getType(), thread.getLoc()));
  return success(replace(body, scratch));
}

bool ThreadConversion::refuse(Operation *at, const Twine &what) {
  at->emitError() << what;
  return false;
}

void ThreadConversion::findVarying() {
  analysis::Divergence divergence(cast<ThreadsOp>(op), false);
  divergence.varying = std::move(varying);
  divergence.run();
  varying = std::move(divergence.varying);
}

std::optional<Lockstep::Position> ThreadConversion::position(TypedValue<BufferType> buffer, ValueRange indices, Location loc) {
  auto found = own.find(buffer);
  auto where = Lockstep::position(buffer, indices, loc);
  if (found == own.end() || !where)
    return where;
  where->buffer = found->second;
  SmallVector<Affine> all;
  for (unsigned d = 0; d < threadDims; ++d)
    all.push_back(affine.position(d));
  all.append(where->indices);
  where->indices = std::move(all);
  return where;
}

bool ThreadConversion::convertAlloc(AllocOp alloc) {
  BufferType type = alloc.getType();
  SmallVector<int64_t> shape(ArrayRef(box).take_front(threadDims));
  llvm::append_range(shape, type.getShape());
  own[alloc] = AllocOp::create(builder, alloc.getLoc(), BufferType::get(shape, type.getElementType(), type.getSpace()));
  return true;
}

Value ThreadConversion::firstPart(Value expanded, BufferType own, Location loc) {
  SmallVector<Value> offsets(threadDims + own.getRank(), arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(0)));
  SmallVector<int64_t> dims;
  for (int64_t d = 0; d < own.getRank(); ++d)
    dims.push_back(threadDims + d);
  return SubviewOp::create(builder, loc, own, expanded, offsets, dims);
}

// What all threads write alike, to one place.
bool ThreadConversion::storeOnce(Operation &store) {
  Operation *place = isa<StoreOp>(store) ? store.getOperand(0).getDefiningOp() : nullptr;
  bool placed = !place || isa<ViewOp>(place);
  if (!placed || anyVaries(store.getOperands()) || (place && anyVaries(place->getOperands())) ||
      own.contains(store.getOperand(0)))
    return false;
  OpBuilder::InsertionGuard guard(builder);
  if (mask) {
    auto branch = scf::IfOp::create(builder, store.getLoc(), largest(mask, RmwKind::or_), false);
    builder.setInsertionPointToStart(branch.thenBlock());
  }
  if (place && op->isProperAncestor(place))
    builder.clone(*place, map);
  builder.clone(store, map);
  return true;
}

bool ThreadConversion::convert(Operation &inner) {
  if (isa<SyncOp>(inner) || folded.contains(&inner))
    return true;                        // nobody is behind; done with the end of its chain
  if (isa<ClockOp, ProcessorOp>(inner)) // one answer for the program
    return builder.clone(inner, map), true;
  if (folds.contains(&inner))
    return convertFold(inner);
  if (auto alloc = dyn_cast<AllocOp>(inner))
    return convertAlloc(alloc);
  if (auto together = dyn_cast<TogetherOp>(inner))
    return convertTogether(together);
  if (auto shuffle = dyn_cast<ShuffleOp>(inner))
    return convertShuffle(shuffle);
  if (auto vote = dyn_cast<VoteOp>(inner))
    return convertVote(vote);
  if (auto dot = dyn_cast<WarpDotOp>(inner))
    return convertWarpDot(dot);
  if (auto arrive = dyn_cast<BarrierArriveOp>(inner))
    return convertArrive(arrive);
  if (auto wait = dyn_cast<BarrierWaitOp>(inner))
    return convertWait(wait);
  if (auto branch = dyn_cast<scf::IfOp>(inner); branch && !varying.contains(branch.getCondition()))
    return convertUniformIf(branch);
  if (auto loop = dyn_cast<scf::ForOp>(inner))
    return convertLoop(loop);
  if (auto loop = dyn_cast<scf::WhileOp>(inner))
    return convertWhile(loop);
  if (auto branch = dyn_cast<scf::IfOp>(inner)) {
    auto places = placesOf(branch.getCondition());
    return places.empty() ? convertIf(branch) : convertNarrowIf(branch, places);
  }
  if (isa<ElementStoreOp, StoreOp>(inner) && storeOnce(inner))
    return true;
  if (isa<DivOp, RemOp>(inner) && varying.contains(inner.getResult(0)))
    if (auto form = affine.read(inner.getResult(0))) { // a place along a dimension
      map.map(inner.getResult(0), tileOfForm(*form, inner.getResult(0).getType(), inner.getLoc()));
      return true;
    }
  if (Lockstep::convert(inner))
    return true;
  auto load = dyn_cast<ElementLoadOp>(inner);
  return (load && gatherElements(load)) || serialise(inner);
}

namespace {

/// Whether a value that differs between threads is the number of a thread, or places and parts of it: bits of data, or of what is made
/// of the number by divisors that are known at run time only, say nothing of how the threads lie.
bool isOfNumber(Value value, ThreadsOp op, const analysis::Divergence &divergence) {
  if (!divergence.varies(value))
    return true;
  if (auto argument = dyn_cast<BlockArgument>(value))
    return argument.getOwner()->getParentOp() == op;
  Operation *by = value.getDefiningOp();
  if (isa<DivOp, RemOp, ShiftOp, arith::AndIOp>(by) && !analysis::constantOf(by->getOperand(1)))
    return false;
  return isa<DivOp, RemOp, ShiftOp, arith::AndIOp, arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::ExtSIOp, arith::ExtUIOp,
             arith::TruncIOp>(by) &&
         llvm::all_of(by->getOperands(), [&](Value operand) { return isOfNumber(operand, op, divergence); });
}

/// How the threads' number is taken apart: what the code divides it by, as far as the divisors divide each other.
SmallVector<int64_t> stridesOf(ThreadsOp op) {
  std::set<int64_t> divisors;
  analysis::Divergence divergence(op, false);
  divergence.run();
  op.walk([&](Operation *inner) {
    if (auto shuffle = dyn_cast<ShuffleOp>(inner))
      divisors.insert(shuffle.getWidth());
    if (auto vote = dyn_cast<VoteOp>(inner); vote && vote.getWidth())
      divisors.insert(vote.getWidth());
    if (isa<WarpDotOp>(inner))
      divisors.insert(warpLanes);
    if (inner->getNumOperands() != 2 || !divergence.varies(inner->getOperand(0)) ||
        !isOfNumber(inner->getOperand(0), op, divergence))
      return;
    auto by = analysis::constantOf(inner->getOperand(1));
    if (!by || *by <= 0)
      return;
    auto shift = dyn_cast<ShiftOp>(inner);
    if (isa<DivOp, RemOp>(inner))
      divisors.insert(*by);
    else if (shift && shift.getMode() != ShiftMode::left && *by < 31)
      divisors.insert(int64_t(1) << *by);
    else if (isa<arith::AndIOp>(inner) && llvm::isPowerOf2_64(*by + 1))
      divisors.insert(*by + 1);
  });
  int64_t count = op.getCount();
  SmallVector<int64_t> strides{1};
  for (int64_t divisor : divisors)
    if (divisor > 1 && divisor < count && count % divisor == 0 && divisor % strides.front() == 0)
      strides.insert(strides.begin(), divisor);
  return strides;
}

struct ThreadsToTiles : PassWrapper<ThreadsToTiles, OperationPass<KernelOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ThreadsToTiles)
  explicit ThreadsToTiles(bool inRoles) : inRoles(inRoles) {}
  StringRef getArgument() const final { return inRoles ? "role-threads-to-tiles" : "threads-to-tiles"; }
  StringRef getDescription() const final { return "turn what threads do into tile code, one lane a thread"; }

  void getDependentDialects(DialectRegistry &registry) const final { registry.insert<arith::ArithDialect, scf::SCFDialect>(); }

  void runOnOperation() final {
    if (found().empty())
      return;
    if (inRoles)
      llvm::for_each(found(), ownBuffers);
    OpPassManager values(KernelOp::getOperationName()); // variables that all threads change alike are the same in all
    values.addPass(createPromoteBuffers());
    values.addPass(createCanonicalizerPass());
    values.addPass(createCSEPass());
    if (failed(runPipeline(values, getOperation())))
      return signalPassFailure();
    for (ThreadsOp op : found()) {
      SmallVector<int64_t> strides = stridesOf(op), box;
      int64_t outer = op.getCount();
      for (int64_t stride : strides) {
        box.push_back(outer / stride);
        outer = stride;
      }
      if (inRoles)
        collectWindows(op, strides);
      if (failed(ThreadConversion(op, box, strides).run()))
        return signalPassFailure();
    }
  }

private:
  SmallVector<ThreadsOp> found() {
    SmallVector<ThreadsOp> ops;
    getOperation().walk([&](ThreadsOp op) {
      if (!inRoles || op->getParentOfType<RolesOp>())
        ops.push_back(op);
    });
    return ops;
  }

  bool inRoles; ///< those of roles only
};

} // namespace

std::unique_ptr<Pass> tilery::createThreadsToTiles() { return std::make_unique<ThreadsToTiles>(false); }
std::unique_ptr<Pass> tilery::createRoleThreadsToTiles() { return std::make_unique<ThreadsToTiles>(true); }
