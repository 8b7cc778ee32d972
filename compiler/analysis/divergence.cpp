#include "compiler/analysis/divergence.h"

using namespace mlir;
using namespace tilery::tile;

namespace tilery::analysis {

bool Divergence::isOwn(Value buffer) const {
  Operation *op = buffer.getDefiningOp();
  while (op && isa<SubviewOp, ReinterpretOp>(op))
    op = op->getOperand(0).getDefiningOp();
  return isa_and_present<AllocOp>(op) && threads->isAncestor(op);
}

bool Divergence::splits(Operation *flow) const {
  if (auto branch = dyn_cast<scf::IfOp>(flow))
    return varies(branch.getCondition());
  if (auto loop = dyn_cast<scf::ForOp>(flow))
    return varies(loop.getInductionVar());
  auto repeat = dyn_cast<scf::WhileOp>(flow);
  return repeat && varies(repeat.getConditionOp().getCondition());
}

bool Divergence::isUnderSplit(Operation *op) const {
  for (Operation *parent = op->getParentOp(); parent != threads; parent = parent->getParentOp())
    if (splits(parent))
      return true;
  return false;
}

void Divergence::run() {
  varying.insert(threads.getBody().getArgument(0));
  for (size_t before = 0; before != varying.size();) {
    before = varying.size();
    threads.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (isa<TogetherOp>(op))
        return WalkResult::skip(); // one thread of control
      visit(op);
      return WalkResult::advance();
    });
  }
}

void Divergence::visit(Operation *op) {
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return visitFor(loop);
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return visitWhile(loop);
  if (auto vote = dyn_cast<VoteOp>(op); vote && vote.getWidth() == 0)
    return; // one answer for the block
  if (auto store = dyn_cast<ElementStoreOp>(op); store && isOwn(store.getBuffer())) {
    if (!ownAlike || anyVaries(store.getIndices()) || varies(store.getValue()) || isUnderSplit(op))
      varying.insert(store.getBuffer());
    return;
  }
  auto load = dyn_cast<ElementLoadOp>(op);
  bool own = load && isOwn(load.getBuffer()) && !ownAlike;
  auto read = dyn_cast<LoadOp>(op);
  bool guarded = read && read.getPlace().getDefiningOp<PointerAccessOp>() && op->getParentOfType<scf::IfOp>();
  if (own || guarded || isa<VoteOp, ShuffleOp, WarpDotOp, AtomicRmwOp, AtomicCasOp, ElementUpdateOp>(op) ||
      anyVaries(op->getOperands()))
    markAll(op->getResults());
  if (auto branch = dyn_cast<scf::IfOp>(op); branch && branch.getNumResults())
    for (unsigned i = 0; i < branch.getNumResults(); ++i)
      if (anyVaries({branch.thenYield().getOperand(i), branch.elseYield().getOperand(i)}))
        varying.insert(branch.getResult(i));
}

void Divergence::visitFor(scf::ForOp loop) {
  bool unequal = anyVaries({loop.getLowerBound(), loop.getUpperBound(), loop.getStep()});
  if (unequal)
    varying.insert(loop.getInductionVar());
  for (unsigned i = 0; i < loop.getNumResults(); ++i)
    if (unequal || anyVaries({loop.getInitArgs()[i], loop.getYieldedValues()[i]}))
      varying.insert(loop.getResult(i)), varying.insert(loop.getRegionIterArg(i));
}

void Divergence::visitWhile(scf::WhileOp loop) {
  bool all = splits(loop) || isUnderSplit(loop);
  for (auto [init, yielded, arg] : llvm::zip(loop.getInits(), loop.getYieldOp().getOperands(), loop.getBeforeArguments()))
    if (all || anyVaries({init, yielded}))
      varying.insert(arg);
  for (auto [passed, arg, result] : llvm::zip(loop.getConditionOp().getArgs(), loop.getAfterArguments(), loop.getResults()))
    if (all || varies(passed))
      varying.insert(arg), varying.insert(result);
}

} // namespace tilery::analysis
