// decide-masks: comparisons that come out the same for every element that threads fetch are no part of their masks, and a choice between
// what is loaded and zero is part of the load's.
//
// A window of an image that begins before the last row minus the window's height lies inside: no lane needs to ask.
#include "compiler/block/recognise/find_kernel.h"
#include "compiler/block/passes/kernel_pass.h"
#include "compiler/block/passes/passes.h"
#include "compiler/ir/zero.h"
#include "compiler/passes/known_masks.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tilery::block {
namespace {
/// Tiles of ops that the fetched factors are computed from, operands before users.
llvm::SetVector<Operation *> fetchedOps(const BoxProduct &product) {
  llvm::SetVector<Operation *> reached;
  auto add = [&](auto &self, Value value) -> void {
    Operation *op = value.getDefiningOp();
    if (!op || reached.contains(op))
      return;
    for (Value operand : op->getOperands())
      self(self, operand);
    reached.insert(op);
  };
  for (const std::optional<FetchedFactor> *factor : {&product.fetchedA, &product.fetchedB})
    if (*factor)
      add(add, (*factor)->tile);
  return reached;
}

/// `condition ? load : 0` as a load of the lanes for which it holds; null: it is anything else.
Value maskedLoad(arith::SelectOp choice, OpBuilder &builder) {
  auto load = choice.getTrueValue().getDefiningOp<tile::LoadOp>();
  auto access = load ? load.getPlace().getDefiningOp<tile::AccessOp>() : tile::AccessOp();
  bool isZero = tile::isPlusZero(choice.getFalseValue());
  auto type = dyn_cast<RankedTensorType>(choice.getType());
  if (!access || !type || !isZero || load.getIsVolatile() || !load->hasOneUse() ||
      !isa<RankedTensorType>(choice.getCondition().getType()) || (load.getOther() && !tile::isPlusZero(load.getOther())))
    return {};
  Value mask = choice.getCondition(), before = access.getResidual();
  if (before && !isa<RankedTensorType>(before.getType()))
    before = tile::SplatOp::create(builder, choice.getLoc(), mask.getType(), before);
  if (before)
    mask = arith::AndIOp::create(builder, choice.getLoc(), before, mask);
  auto place = cast<tile::AccessOp>(builder.clone(*access));
  place.getResidualMutable().assign(mask);
  auto masked =
      tile::LoadOp::create(builder, load.getLoc(), type, place, Value(), false, load.getCacheAttr(), load.getEvictionAttr());
  masked->setDiscardableAttrs(load->getDiscardableAttrDictionary());
  return masked;
}
} // namespace

void runDecideMasks(KernelPass &pass) {
  const ProductKernel *kernel = pass.getAnalysis<KernelAnalysis>().product();
  if (!kernel)
    return;
  for (Operation *op : fetchedOps(kernel->product)) {
    passes::decideMask(op);
    if (auto choice = dyn_cast<arith::SelectOp>(op)) {
      OpBuilder builder(op);
      if (Value load = maskedLoad(choice, builder))
        choice.replaceAllUsesWith(load);
    }
  }
}

} // namespace tilery::block
