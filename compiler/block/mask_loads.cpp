// mask-loads: what is loaded and then taken only where a mask holds, 0 elsewhere, is loaded under the mask:
//
//   select(m, load p, 0)    becomes    load p where m
//
// Such a tile is one that copies bring, and not one that is computed.
#include "compiler/block/passes.h"
#include "compiler/ir/Tile.h"
#include "compiler/ir/zero.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;

namespace tilery::block {
namespace {

struct MaskLoads : PassWrapper<MaskLoads, OperationPass<tile::KernelOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(MaskLoads)
  StringRef getArgument() const final { return "mask-loads"; }
  StringRef getDescription() const final { return "what is taken only where a mask holds is loaded there only"; }

  void runOnOperation() final {
    SmallVector<arith::SelectOp> selects;
    getOperation().walk([&](arith::SelectOp op) {
      if (isa<RankedTensorType>(op.getType()) && isa<RankedTensorType>(op.getCondition().getType()))
        selects.push_back(op);
    });
    for (arith::SelectOp select : selects)
      mask(select);
  }

private:
  void mask(arith::SelectOp select) {
    auto load = select.getTrueValue().getDefiningOp<tile::LoadOp>();
    auto access = load ? load.getPlace().getDefiningOp<tile::AccessOp>() : tile::AccessOp();
    bool isZero = tile::isPlusZero(select.getFalseValue());
    if (!access || !isZero || !load->hasOneUse() || load.getIsVolatile() ||
        (load.getOther() && !tile::isPlusZero(load.getOther())))
      return;
    IRRewriter rewriter(load);
    DominanceInfo dominance(getOperation());
    Value lanes = select.getCondition();
    if (!dominance.properlyDominates(lanes, load) && failed(moveValueDefinitions(rewriter, lanes, load, dominance)))
      return;
    rewriter.setInsertionPoint(load);
    if (Value residual = access.getResidual()) {
      if (!isa<RankedTensorType>(residual.getType()))
        residual = tile::SplatOp::create(rewriter, access.getLoc(), lanes.getType(), residual);
      lanes = arith::AndIOp::create(rewriter, access.getLoc(), residual, lanes);
    }
    auto masked = tile::AccessOp::create(rewriter, access.getLoc(), access.getType(), access.getBase(), access.getOffset(),
                                         access.getSteps(), access.getBounds(), lanes, access.getBoundKinds());
    load.getPlaceMutable().assign(masked);
    rewriter.replaceOp(select, load);
    if (access->use_empty())
      rewriter.eraseOp(access);
  }
};
} // namespace

std::unique_ptr<Pass> createMaskLoads() { return std::make_unique<MaskLoads>(); }

} // namespace tilery::block
