// Loop-carried values that only feed themselves: what raising leaves of `ptrs += step`.
#include "compiler/passes/dead_carried.h"

using namespace mlir;
using namespace tilery;

/// The carried values that something other than their own update reads.
static SmallVector<bool> liveCarried(scf::ForOp loop) {
  SmallVector<bool> live(loop.getNumResults(), false);
  DenseSet<Operation *> seen;
  SmallVector<Value> work;
  auto demand = [&](ValueRange values) { work.append(values.begin(), values.end()); };
  auto makeLive = [&](unsigned index) {
    if (live[index])
      return;
    live[index] = true;
    work.push_back(loop.getYieldedValues()[index]);
  };
  for (Operation &op : loop.getBody()->without_terminator())
    if (!isMemoryEffectFree(&op) || op.getNumRegions())
      if (!isOpTriviallyDead(&op)) {
        seen.insert(&op);
        op.walk([&](Operation *inner) { demand(inner->getOperands()); });
      }
  for (unsigned i = 0; i < loop.getNumResults(); ++i)
    if (!loop.getResult(i).use_empty())
      makeLive(i);
  while (!work.empty()) {
    Value value = work.pop_back_val();
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      if (argument.getOwner() == loop.getBody() && argument.getArgNumber() > 0)
        makeLive(argument.getArgNumber() - 1);
      continue;
    }
    Operation *op = value.getDefiningOp();
    if (loop->isProperAncestor(op) && seen.insert(op).second)
      demand(op->getOperands());
  }
  return live;
}

static void rebuild(scf::ForOp loop, ArrayRef<bool> live) {
  OpBuilder b(loop);
  SmallVector<Value> inits;
  for (auto [i, keep] : llvm::enumerate(live))
    if (keep)
      inits.push_back(loop.getInitArgs()[i]);
  auto slim = scf::ForOp::create(b, loop.getLoc(), loop.getLowerBound(), loop.getUpperBound(), loop.getStep(), inits);
  slim->setAttrs(loop->getAttrs());
  Block *body = slim.getBody(), *old = loop.getBody();
  if (!body->empty())
    body->back().erase(); // the implicit yield of a loop that carries nothing
  auto yield = cast<scf::YieldOp>(old->getTerminator());
  unsigned next = 0;
  for (auto [i, keep] : llvm::enumerate(live)) {
    BlockArgument argument = loop.getRegionIterArg(i);
    if (keep) {
      argument.replaceAllUsesWith(slim.getRegionIterArg(next));
      loop.getResult(i).replaceAllUsesWith(slim.getResult(next++));
    } else {
      argument.replaceAllUsesWith(loop.getInitArgs()[i]); // only dead ops read it
    }
  }
  loop.getInductionVar().replaceAllUsesWith(slim.getInductionVar());
  SmallVector<Value> yields; // which may be arguments themselves
  for (auto [i, keep] : llvm::enumerate(live))
    if (keep)
      yields.push_back(yield.getOperand(i));
  body->getOperations().splice(body->end(), old->getOperations(), old->begin(), std::prev(old->end()));
  b.setInsertionPointToEnd(body);
  scf::YieldOp::create(b, yield.getLoc(), yields);
  loop.erase();
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(*body)))
    if (isOpTriviallyDead(&op))
      op.erase();
}

void tilery::removeDeadCarried(Operation *root) {
  SmallVector<scf::ForOp> loops;
  root->walk([&](scf::ForOp loop) { loops.push_back(loop); }); // inner loops first
  for (scf::ForOp loop : loops) {
    SmallVector<bool> live = liveCarried(loop);
    if (llvm::is_contained(live, false))
      rebuild(loop, live);
  }
}
