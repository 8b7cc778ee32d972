#include "compiler/count/data_ops.h"

using namespace mlir;

namespace tilery::count {

llvm::DenseSet<Operation *> dataOps(tile::KernelOp kernel) {
  llvm::DenseSet<Operation *> found;
  SmallVector<Value> work;
  auto take = [&](Operation *op) {
    if (!found.insert(op).second)
      return;
    for (Region &region : op->getRegions())
      for (Block &block : region)
        if (Operation *end = block.empty() ? nullptr : &block.back(); end && end->hasTrait<OpTrait::IsTerminator>())
          llvm::append_range(work, end->getOperands());
    if (isa<tile::ReduceOp, tile::ScanOp>(op))
      for (Operation &inner : op->getRegion(0).front())
        found.insert(&inner);
    if (auto load = dyn_cast<tile::LoadOp>(op)) { // the place is no data
      if (load.getOther())
        work.push_back(load.getOther());
      return;
    }
    if (!isa<tile::BufferLoadOp, tile::ElementLoadOp>(op))
      llvm::append_range(work, op->getOperands());
  };
  kernel.walk([&](Operation *op) {
    if (auto store = dyn_cast<tile::StoreOp>(op))
      work.push_back(store.getValue());
    else if (auto update = dyn_cast<tile::AtomicRmwOp>(op))
      work.push_back(update.getValue());
    else if (auto store = dyn_cast<tile::BufferStoreOp>(op))
      work.push_back(store.getValue());
    else if (auto store = dyn_cast<tile::ElementStoreOp>(op))
      work.push_back(store.getValue());
    else if (auto update = dyn_cast<tile::ElementUpdateOp>(op))
      work.push_back(update.getValue());
  });
  while (!work.empty()) {
    Value value = work.pop_back_val();
    if (Operation *op = value.getDefiningOp())
      take(op);
    else if (Operation *around = value.getParentBlock()->getParentOp(); !isa<tile::KernelOp>(around))
      take(around);
  }
  return found;
}

unsigned operationsOf(Operation *op) {
  if (isa<math::FmaOp>(op))
    return 2;
  if (isa<math::MathDialect>(op->getDialect()))
    return 1;
  return isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp, arith::RemFOp, arith::NegFOp, arith::MaximumFOp,
             arith::MinimumFOp, arith::MaxNumFOp, arith::MinNumFOp, arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::MaxSIOp,
             arith::MinSIOp, arith::MaxUIOp, arith::MinUIOp, arith::AndIOp, arith::OrIOp, arith::XOrIOp, tile::DivOp, tile::RemOp,
             tile::ShiftOp, tile::MulHighOp>(op);
}

} // namespace tilery::count
