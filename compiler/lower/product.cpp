#include "compiler/lower/product.h"
#include "compiler/analysis/integer_op.h"
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

/// Whether a tile has one dimension, besides those of one element.
static bool isLine(Value value) {
  return llvm::count_if(tile::shapeOf(value.getType()), [](int64_t size) { return size != 1; }) <= 1;
}

/// Division by a constant power of two is a shift.
static bool isShift(Operation *division) {
  Value divisor = division->getOperand(1);
  auto splat = divisor.getDefiningOp<tile::SplatOp>();
  std::optional<int64_t> by = analysis::constantOf(splat ? splat.getOperand() : divisor);
  return by && *by > 0 && llvm::isPowerOf2_64(*by);
}

SmallVector<Value> dividingIndices(Operation *product, bool throughShapes) {
  llvm::SetVector<Value> found;
  llvm::DenseSet<Value> seen;
  auto collect = [&](SmallVector<Value, 4> work, bool all) {
    while (!work.empty()) {
      Value value = work.pop_back_val();
      Operation *def = value.getDefiningOp();
      if (!def || !isa<RankedTensorType>(value.getType()) || !seen.insert(value).second)
        continue;
      bool divides = isa<tile::DivOp, tile::RemOp>(def);
      if (divides && (all || (isLine(value) && !isShift(def))))
        found.insert(value);
      else if (isElementwise(def) || (throughShapes && isa<tile::ReshapeOp, tile::BroadcastOp, tile::ExpandDimsOp>(def)))
        llvm::append_range(work, def->getOperands());
    }
  };
  auto [a, b] = factorsOf(product);
  for (Value factor : {a, b}) {
    auto source = sourceLoad(factor, [](Value) { return false; });
    SmallVector<Value, 4> masks;
    auto place = [&](tile::LoadOp load) {
      auto access = load.getPlace().getDefiningOp<tile::AccessOp>();
      if (!access)
        return;
      collect(llvm::to_vector<4>(access.getSteps()), load == source);
      if (Value residual = access.getResidual())
        masks.push_back(residual);
    };
    if (!throughShapes) {
      if (source)
        place(source);
      continue;
    }
    // All that the factor is computed of: loads, and the conditions under which they count.
    SmallVector<Value> work{factor};
    llvm::DenseSet<Operation *> reached;
    while (!work.empty()) {
      Operation *def = work.pop_back_val().getDefiningOp();
      if (!def || !reached.insert(def).second)
        continue;
      if (auto load = dyn_cast<tile::LoadOp>(def))
        place(load);
      else if (auto select = dyn_cast<arith::SelectOp>(def)) {
        masks.push_back(select.getCondition());
        work.append({select.getTrueValue(), select.getFalseValue()});
      } else if (isElementwise(def)) {
        llvm::append_range(work, def->getOperands());
      }
    }
    collect(masks, false);
  }
  return found.takeVector();
}

} // namespace tilery::lower
