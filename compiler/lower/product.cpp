#include "compiler/lower/product.h"
#include "compiler/ir/zero.h"
#include "compiler/lower/emitter.h"

using namespace mlir;

namespace tilery::lower {

Value accumulatorOf(Operation *product) {
  auto dot = dyn_cast<tile::DotOp>(product);
  return dot ? dot.getAcc() : cast<tile::ContractOp>(product).getAcc();
}

bool startsAtZero(Operation *product) { return tile::isZero(accumulatorOf(product)); }

std::pair<Value, Value> factorsOf(Operation *product) {
  if (auto dot = dyn_cast<tile::DotOp>(product))
    return {dot.getA(), dot.getB()};
  Operation *yield = cast<tile::ContractOp>(product).getBody().front().getTerminator();
  return {yield->getOperand(0), yield->getOperand(1)};
}

SmallVector<Value> liveExtents(Operation *product) {
  auto dot = dyn_cast<tile::DotOp>(product);
  return llvm::to_vector(dot ? dot.getLive() : cast<tile::ContractOp>(product).getLive());
}

tile::LoadOp sourceLoad(Value factor, llvm::function_ref<bool(Value)> stored) {
  while (Operation *op = factor.getDefiningOp()) {
    if (stored(factor))
      return {};
    if (auto load = dyn_cast<tile::LoadOp>(op))
      return load;
    if (!isElementwise(op) || op->getNumOperands() == 0)
      return {};
    factor = op->getOperand(0);
  }
  return {};
}

SmallVector<Value> dividingIndices(Operation *product, bool throughShapes) {
  SmallVector<Value> found;
  auto [a, b] = factorsOf(product);
  for (Value factor : {a, b}) {
    auto load = sourceLoad(factor, [](Value) { return false; });
    auto access = load ? load.getPlace().getDefiningOp<tile::AccessOp>() : tile::AccessOp();
    if (!access)
      continue;
    SmallVector<Value> work;
    for (Value step : access.getSteps())
      if (isa<RankedTensorType>(step.getType()))
        work.push_back(step);
    while (!work.empty()) {
      Value value = work.pop_back_val();
      Operation *def = value.getDefiningOp();
      if (!def || !isa<RankedTensorType>(value.getType()))
        continue;
      if (isa<tile::DivOp, tile::RemOp>(def))
        found.push_back(value);
      else if (isElementwise(def) || (throughShapes && isa<tile::ReshapeOp, tile::BroadcastOp, tile::ExpandDimsOp>(def)))
        llvm::append_range(work, def->getOperands());
    }
  }
  return found;
}

} // namespace tilery::lower
