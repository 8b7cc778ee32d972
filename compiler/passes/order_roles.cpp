// order-roles: roles become one thread of control, and barriers numbers in its memory, or nothing.
//
// Roles that can be executed one after the other, or turn by turn where they loop over the same range, are put in that order; runs of the
// kernel's integer code show that each wait is over when it is reached (wait_proof.h), and barriers are dropped. Where that cannot be told,
// or where there is no such order, roles take turns at run time (role_steps.h) and barriers count.
#include "compiler/analysis/barrier_names.h"
#include "compiler/analysis/divergence.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/role_pieces.h"
#include "compiler/passes/role_steps.h"
#include "compiler/passes/wait_proof.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace tilery;
using namespace tilery::tile;

namespace {

template <typename Op> SmallVector<Op> allOf(Operation *root) {
  SmallVector<Op> found;
  root->walk([&](Op op) { found.push_back(op); });
  return found;
}

bool usesBarriers(KernelOp kernel) {
  return kernel
      ->walk([](Operation *op) { return isa<RolesOp, BarrierAllocOp>(op) ? WalkResult::interrupt() : WalkResult::advance(); })
      .wasInterrupted();
}

/// A copy that has ended when the next op begins.
void endCopiesAtOnce(KernelOp kernel) {
  for (AsyncCopyOp copy : allOf<AsyncCopyOp>(kernel)) {
    OpBuilder b(copy);
    Value tile = LoadOp::create(b, copy.getLoc(), copy.getView().getType().getTileType(), copy.getView(), Value(), false,
                                StringAttr(), StringAttr());
    BufferStoreOp::create(b, copy.getLoc(), copy.getBuffer(), tile, Value());
    copy.erase();
  }
}

/// Variables that are written once, in front of all that reads them, are numbers: loops of several roles that end at one end alike.
void readVariablesAhead(KernelOp kernel) {
  for (AllocOp variable : allOf<AllocOp>(kernel)) {
    ElementStoreOp only;
    SmallVector<ElementLoadOp> loads;
    bool others = llvm::any_of(variable.getType().getShape(), [](int64_t size) { return size != 1; });
    for (Operation *user : variable->getUsers()) {
      auto store = dyn_cast<ElementStoreOp>(user);
      if (auto load = dyn_cast<ElementLoadOp>(user))
        loads.push_back(load);
      else if (store && !only)
        only = store;
      else
        others = true;
    }
    if (others || !only || only->getBlock() != variable->getBlock() || !llvm::all_of(loads, [&](ElementLoadOp load) {
          Operation *where = only->getBlock()->findAncestorOpInBlock(*load);
          return where && only->isBeforeInBlock(where);
        }))
      continue;
    for (ElementLoadOp load : loads) {
      load.replaceAllUsesWith(only.getValue());
      load.erase();
    }
    only.erase();
    variable.erase();
  }
}

/// Moves the ops of some blocks before `end`, in the order of the blocks; loops that wait are merged where all blocks have as many, alike.
void merge(ArrayRef<Block *> blocks, Operation *end) {
  SmallVector<SmallVector<scf::ForOp>> loops;
  for (Block *block : blocks)
    loops.push_back(waitingLoops(*block));
  size_t count = loops.front().size();
  bool alike = llvm::all_of(loops, [&](auto &list) { return list.size() == count; });
  for (size_t i = 0; alike && i < count; ++i)
    alike = runAlike(llvm::map_to_vector(loops, [&](auto &list) { return list[i]; }));
  auto moveUpTo = [&](Block *block, Operation *stop) {
    for (Operation &op : llvm::make_early_inc_range(*block)) {
      if (&op == stop)
        return;
      if (!op.hasTrait<OpTrait::IsTerminator>())
        op.moveBefore(end);
    }
  };
  if (alike)
    for (size_t i = 0; i < count; ++i) {
      for (auto [block, list] : llvm::zip(blocks, loops))
        moveUpTo(block, list[i]);
      scf::ForOp first = loops.front()[i];
      OpBuilder b(end);
      auto whole = scf::ForOp::create(b, first.getLoc(), first.getLowerBound(), first.getUpperBound(), first.getStep());
      whole->setDiscardableAttrs(first->getDiscardableAttrDictionary());
      SmallVector<Block *> bodies;
      for (auto &list : loops) {
        list[i].getInductionVar().replaceAllUsesWith(whole.getInductionVar());
        bodies.push_back(list[i].getBody());
      }
      merge(bodies, whole.getBody()->getTerminator());
      for (auto &list : loops)
        list[i].erase();
    }
  for (Block *block : blocks)
    moveUpTo(block, nullptr);
}

/// Puts roles in order: those of one op in the order of `order`.
void putInOrder(KernelOp kernel, ArrayRef<unsigned> order) {
  for (RolesOp roles : allOf<RolesOp>(kernel)) {
    SmallVector<Block *> blocks;
    for (unsigned place : order)
      if (place < roles.getBodies().size())
        blocks.push_back(&roles.getBodies()[place].front());
    merge(blocks, roles);
    roles.erase();
  }
}

void dropBarriers(KernelOp kernel) {
  for (BarrierArriveOp op : allOf<BarrierArriveOp>(kernel))
    op.erase();
  for (BarrierWaitOp op : allOf<BarrierWaitOp>(kernel)) {
    if (op->getParentOfType<ThreadsOp>()) { // all arrive and wait: they meet
      OpBuilder b(op);
      SyncOp::create(b, op.getLoc());
    }
    op.erase();
  }
  for (BarrierAllocOp op : allOf<BarrierAllocOp>(kernel))
    op.erase();
}

SmallVector<Operation *> barrierOps(ThreadsOp threads) {
  SmallVector<Operation *> ops;
  threads.walk([&](Operation *op) {
    if (isa<BarrierArriveOp, BarrierWaitOp>(op))
      ops.push_back(op);
  });
  return ops;
}

/// Do all threads of the block do the same at barriers?
bool meetAlike(ThreadsOp threads) {
  SmallVector<Operation *> ops = barrierOps(threads);
  if (ops.empty())
    return true;
  analysis::Divergence divergence(threads, true);
  divergence.run();
  return llvm::none_of(ops,
                       [&](Operation *op) { return divergence.isUnderSplit(op) || divergence.anyVaries(op->getOperands()); });
}

/// What all threads do at barriers they do together: so many arrivals, one wait.
void meetAtBarriers(ThreadsOp threads) {
  for (Operation *op : barrierOps(threads)) {
    if (auto arrive = dyn_cast<BarrierArriveOp>(op))
      arrive.setCount(arrive.getCount() * threads.getCount());
    OpBuilder b(op);
    auto together = TogetherOp::create(b, op->getLoc(), TypeRange());
    Block &body = together.getBody().emplaceBlock();
    op->moveBefore(&body, body.end());
    b.setInsertionPointToEnd(&body);
    YieldOp::create(b, op->getLoc(), ValueRange());
  }
}

struct OrderRoles : PassWrapper<OrderRoles, OperationPass<KernelOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(OrderRoles)
  StringRef getArgument() const final { return "order-roles"; }
  StringRef getDescription() const final { return "roles become one thread of control, their barriers numbers or nothing"; }

  void runOnOperation() final {
    KernelOp kernel = getOperation();
    if (!usesBarriers(kernel))
      return;
    endCopiesAtOnce(kernel);
    readVariablesAhead(kernel);
    if (orderAtOnce(kernel))
      return;
    if (!llvm::all_of(allOf<ThreadsOp>(kernel), meetAlike)) { // threads in lockstep say who comes
      OpPassManager lanes(KernelOp::getOperationName());
      lanes.addPass(createThreadsToTiles());
      if (failed(runPipeline(lanes, kernel)))
        return signalPassFailure();
    }
    orderAtRunTime(kernel);
  }

private:
  /// Tries the orders of the roles.
  static bool orderAtOnce(KernelOp kernel) {
    unsigned most = 1;
    for (RolesOp roles : allOf<RolesOp>(kernel))
      most = std::max<unsigned>(most, roles.getBodies().size());
    if (most > 4)
      return false;
    for (bool inPieces : {false, true}) {
      SmallVector<unsigned> order = llvm::to_vector(llvm::seq<unsigned>(0, most));
      do {
        OwningOpRef<KernelOp> trial = kernel.clone();
        if (!inPieces)
          putInOrder(*trial, order);
        else if (!dealOutPieces(*trial, order))
          continue;
        if (passesAllWaits(*trial)) {
          dropBarriers(*trial);
          kernel.getBody().takeBody(trial->getBody());
          return true;
        }
      } while (std::next_permutation(order.begin(), order.end()));
    }
    return false;
  }

  void orderAtRunTime(KernelOp kernel) {
    for (ThreadsOp threads : allOf<ThreadsOp>(kernel))
      meetAtBarriers(threads);
    BarrierCounts counts;
    for (BarrierAllocOp ring : allOf<BarrierAllocOp>(kernel)) {
      for (auto roles = ring->getParentOfType<RolesOp>(); roles; roles = roles->getParentOfType<RolesOp>())
        ring->moveBefore(roles);
      counts.allocate(ring);
    }
    for (RolesOp roles : allOf<RolesOp>(kernel)) {
      if (!holdsWait(*roles)) {
        merge(llvm::map_to_vector(roles.getBodies(), [](Region &body) { return &body.front(); }), roles);
        roles.erase();
        continue;
      }
      if (Operation *bad = notInterleavable(roles)) {
        bad->emitError("roles with a barrier in here have no order in which one thread of control executes them");
        return signalPassFailure();
      }
      interleaveRoles(roles, counts);
    }
    IRMapping same;
    for (BarrierArriveOp op : allOf<BarrierArriveOp>(kernel)) {
      OpBuilder b(op);
      counts.arrive(b, op, same);
      op.erase();
    }
    for (BarrierWaitOp op : allOf<BarrierWaitOp>(kernel)) {
      OpBuilder b(op);
      std::string which = analysis::barrierName(op.getBarrier());
      AssertOp::create(b, op.getLoc(), counts.isOver(b, op, same), Value(),
                       "waits for ever for " + which + ", which nobody completes");
      op.erase();
    }
    for (BarrierAllocOp op : allOf<BarrierAllocOp>(kernel))
      op.erase();
  }
};

} // namespace

std::unique_ptr<Pass> tilery::createOrderRoles() { return std::make_unique<OrderRoles>(); }
