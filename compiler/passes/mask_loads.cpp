// mask-loads: a tile that is loaded where a condition holds, and 0 elsewhere, is a load of the lanes where it holds.
//
// Programs fill rows that nobody asked for with zeros (`T.if_then_else(valid[i], K[index[i], j], 0)`). As a mask of the load the condition
// costs nothing, and the tile stays one that can be copied.
#include "compiler/ir/Tile.h"
#include "compiler/ir/zero.h"
#include "compiler/passes/passes.h"

using namespace mlir;
using namespace tilery::tile;

namespace {

/// True if what a load gives is what it would give at a later op of its block.
bool canLoadAt(Operation *later, LoadOp load) {
  if (later->getBlock() != load->getBlock() || load.getIsVolatile())
    return false;
  for (Operation *op = load->getNextNode(); op && op != later; op = op->getNextNode())
    if (!isMemoryEffectFree(op) && !isa<LoadOp, BufferLoadOp, BufferStoreOp>(op))
      return false;
  return true;
}

struct MaskLoads : PassWrapper<MaskLoads, OperationPass<KernelOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(MaskLoads)
  StringRef getArgument() const final { return "mask-loads"; }
  StringRef getDescription() const final { return "what is loaded under a condition, else 0, is a load with a mask"; }

  void runOnOperation() final {
    getOperation().walk([](arith::SelectOp select) {
      auto load = select.getTrueValue().getDefiningOp<LoadOp>();
      auto place = load ? load.getPlace().getDefiningOp<PointerAccessOp>() : PointerAccessOp();
      if (!place || !load->hasOneUse() || !isa<RankedTensorType>(select.getCondition().getType()) ||
          !isPlusZero(select.getFalseValue()) || (load.getOther() && !isPlusZero(load.getOther())) || !canLoadAt(select, load))
        return;
      OpBuilder b(select);
      Value mask = select.getCondition();
      if (place.getMask())
        mask = arith::AndIOp::create(b, select.getLoc(), mask, place.getMask());
      auto narrow = PointerAccessOp::create(b, place.getLoc(), place.getType(), place.getPtrs(), mask);
      load->moveBefore(select);
      load.getPlaceMutable().assign(narrow);
      select.replaceAllUsesWith(load.getResult());
      select.erase();
    });
  }
};

} // namespace

std::unique_ptr<Pass> tilery::createMaskLoads() { return std::make_unique<MaskLoads>(); }
