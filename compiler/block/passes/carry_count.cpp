#include "compiler/block/passes/carry_count.h"
#include "compiler/ir/Tile.h"

using namespace mlir;

namespace tilery::block {
namespace {

/// The number in one of the ops around the loop: who starts with it, and what it is behind them.
struct Count {
  SmallVector<OpOperand *> starts;
  Value start, end;

  void startFrom(Value value) {
    for (OpOperand *use : starts)
      use->set(value);
    starts.clear();
  }
};

scf::ForOp around(scf::ForOp loop, Count &count, IRRewriter &rewriter) {
  auto yields = [&](OpBuilder &, Location, ArrayRef<BlockArgument>) { return SmallVector<Value>{count.end}; };
  auto wider = cast<scf::ForOp>(*loop.replaceWithAdditionalYields(rewriter, count.start, false, yields));
  count.startFrom(wider.getRegionIterArgs().back());
  count.starts = {&wider.getInitArgsMutable()[wider.getInitArgs().size() - 1]};
  return wider;
}

scf::IfOp around(scf::IfOp branch, Count &count, IRRewriter &rewriter) {
  SmallVector<Type> types(branch.getResultTypes());
  types.push_back(count.start.getType());
  Location location = branch.getLoc();
  auto wider =
      scf::IfOp::create(rewriter, location, types, branch.getCondition(), /*addThenBlock=*/false, /*addElseBlock=*/false);
  for (auto [from, to] : llvm::zip(branch->getRegions(), wider->getRegions())) {
    bool counts = from.isAncestor(count.end.getParentRegion());
    if (from.empty()) {
      rewriter.createBlock(&to);
      scf::YieldOp::create(rewriter, location, count.start);
    } else {
      to.takeBody(from);
      cast<scf::YieldOp>(to.front().getTerminator()).getResultsMutable().append(counts ? count.end : count.start);
    }
    Operation *yield = to.front().getTerminator();
    if (!counts)
      count.starts.push_back(&yield->getOpOperand(yield->getNumOperands() - 1));
  }
  rewriter.replaceOp(branch, wider.getResults().drop_back());
  return wider;
}

scf::WhileOp around(scf::WhileOp loop, Count &count, IRRewriter &rewriter) {
  Type type = count.start.getType();
  SmallVector<Type> types(loop.getResultTypes());
  SmallVector<Value> inits(loop.getInits());
  types.push_back(type);
  inits.push_back(count.start);
  auto wider = scf::WhileOp::create(rewriter, loop.getLoc(), types, inits);
  wider.getBefore().takeBody(loop.getBefore());
  wider.getAfter().takeBody(loop.getAfter());
  wider.getConditionOp().getArgsMutable().append(wider.getBeforeBody()->addArgument(type, loop.getLoc()));
  count.startFrom(wider.getAfterBody()->addArgument(type, loop.getLoc()));
  wider.getYieldOp().getResultsMutable().append(count.end);
  count.starts = {&wider.getInitsMutable()[inits.size() - 1]};
  rewriter.replaceOp(loop, wider.getResults().drop_back());
  return wider;
}
} // namespace

void carryOn(scf::ForOp loop, unsigned number) {
  IRRewriter rewriter(loop.getContext());
  Count count{{&loop.getInitArgsMutable()[number]}, loop.getInitArgs()[number], loop.getResult(number)};
  for (Operation *op = loop->getParentOp(); !isa<tile::KernelOp>(op); op = op->getParentOp()) {
    rewriter.setInsertionPoint(op);
    if (auto outer = dyn_cast<scf::ForOp>(op))
      op = around(outer, count, rewriter);
    else if (auto branch = dyn_cast<scf::IfOp>(op))
      op = around(branch, count, rewriter);
    else
      op = around(cast<scf::WhileOp>(op), count, rewriter);
    count.end = op->getResults().back();
  }
}

} // namespace tilery::block
