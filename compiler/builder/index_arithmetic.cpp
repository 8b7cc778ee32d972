// Marks the integer arithmetic that feeds addresses and access masks as not wrapping (docs/reference/ir.md, "Index arithmetic").
#include "compiler/builder/impl.h"

namespace tilery {
using namespace mlir;

// What carries an index through: walked backwards from addresses and masks. Of conditions exclusive or, too: `~` of one.
static bool passesIndex(Operation *op) {
  if (isa<arith::XOrIOp>(op))
    return getElementTypeOrSelf(op->getResult(0)).isInteger(1);
  return isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp, arith::SelectOp,
             arith::CmpIOp, arith::AndIOp, arith::OrIOp, arith::MinSIOp, arith::MaxSIOp, arith::MinUIOp, arith::MaxUIOp,
             tile::DivOp, tile::RemOp, tile::SplatOp, tile::BroadcastOp, tile::ExpandDimsOp, tile::ReshapeOp, tile::PermuteOp,
             tile::AddPtrOp>(op);
}
static bool isMarked(Operation *op) { return isa<arith::AddIOp, arith::SubIOp, arith::MulIOp>(op); }

static void pushSources(mlir::Value value, SmallVectorImpl<mlir::Value> &work) {
  if (Operation *op = value.getDefiningOp()) {
    if (passesIndex(op))
      work.append(op->operand_begin(), op->operand_end());
    else if (auto branch = dyn_cast<scf::IfOp>(op)) {
      unsigned i = cast<OpResult>(value).getResultNumber();
      for (Region *region : {&branch.getThenRegion(), &branch.getElseRegion()})
        if (!region->empty())
          work.push_back(region->front().getTerminator()->getOperand(i));
    } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
      unsigned i = cast<OpResult>(value).getResultNumber();
      work.push_back(loop.getInitArgs()[i]);
      work.push_back(loop.getBody()->getTerminator()->getOperand(i));
    }
    return;
  }
  auto argument = cast<BlockArgument>(value);
  if (auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp())) {
    if (argument.getArgNumber() == 0)
      return work.append({loop.getLowerBound(), loop.getUpperBound(), loop.getStep()});
    unsigned i = argument.getArgNumber() - 1;
    work.push_back(loop.getInitArgs()[i]);
    work.push_back(loop.getBody()->getTerminator()->getOperand(i));
  }
}

void markIndexArithmetic(tile::KernelOp kernel) {
  SmallVector<mlir::Value> work;
  kernel.walk([&](Operation *op) {
    if (auto access = dyn_cast<tile::PointerAccessOp>(op)) {
      work.push_back(access.getPtrs());
      if (access.getMask())
        work.push_back(access.getMask());
    } else if (isa<tile::ViewOp, tile::RootOp, tile::SubviewOp, tile::ElementLoadOp>(op)) {
      work.append(op->operand_begin(), op->operand_end());
    } else if (auto store = dyn_cast<tile::ElementStoreOp>(op)) {
      work.append(store.getIndices().begin(), store.getIndices().end());
    } else if (auto update = dyn_cast<tile::ElementUpdateOp>(op)) {
      work.append(update.getIndices().begin(), update.getIndices().end());
    }
  });
  DenseSet<mlir::Value> seen;
  SetVector<Operation *> indexOps;
  while (!work.empty()) {
    mlir::Value value = work.pop_back_val();
    if (!seen.insert(value).second)
      continue;
    if (Operation *op = value.getDefiningOp(); op && passesIndex(op))
      indexOps.insert(op);
    pushSources(value, work);
  }
  // Users before definitions: a user that keeps a wrapping copy for data keeps its operands' copies too.
  SmallVector<Operation *> order;
  kernel.walk<WalkOrder::PostOrder>([&](Operation *op) {
    if (indexOps.contains(op))
      order.push_back(op);
  });
  DenseMap<Operation *, Operation *> dataCopy;
  for (Operation *op : llvm::reverse(order)) {
    bool needsCopy = false;
    auto isIndexUse = [&](OpOperand &use) {
      Operation *user = use.getOwner();
      return indexOps.contains(user) ||
             isa<tile::PointerAccessOp, tile::ViewOp, tile::RootOp, tile::SubviewOp, tile::ElementLoadOp, scf::YieldOp,
                 scf::ForOp>(user) ||
             (isa<tile::ElementUpdateOp>(user) && use.getOperandNumber() > 1) ||
             (isa<tile::ElementStoreOp>(user) && use.getOperandNumber() + 1 < user->getNumOperands());
    };
    for (OpOperand &use : op->getUses())
      needsCopy |= !isIndexUse(use);
    if (!needsCopy)
      continue;
    OpBuilder builder(op);
    builder.setInsertionPointAfter(op);
    Operation *copy = builder.clone(*op);
    op->replaceUsesWithIf(copy, [&](OpOperand &use) { return use.getOwner() != copy && !isIndexUse(use); });
  }
  for (Operation *op : order)
    if (isMarked(op))
      op->setAttr("overflowFlags", arith::IntegerOverflowFlagsAttr::get(op->getContext(), arith::IntegerOverflowFlags::nsw));
}

} // namespace tilery
