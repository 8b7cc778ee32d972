#include "compiler/passes/unread_rows.h"
#include "compiler/ir/Tile.h"
#include "compiler/ir/zero.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tilery::tile {
namespace {

/// What a condition is made of, and the dimension along which it differs; none: along several, or nothing is known.
struct Lanes {
  Value root; // of rank 1
  std::optional<unsigned> dim;
};

/// A condition without what shows it under other shapes, or as a number that is not zero.
Lanes lanesOf(Value condition) {
  auto type = dyn_cast<RankedTensorType>(condition.getType());
  if (!type)
    return {};
  if (type.getRank() == 1) {
    if (auto test = condition.getDefiningOp<arith::CmpIOp>();
        test && test.getPredicate() == arith::CmpIPredicate::ne && isZero(test.getRhs()))
      condition = test.getLhs();
    if (auto wide = condition.getDefiningOp<arith::ExtUIOp>())
      condition = wide.getIn();
    return {condition, 0};
  }
  Operation *op = condition.getDefiningOp();
  if (auto test = dyn_cast_or_null<arith::CmpIOp>(op);
      test && test.getPredicate() == arith::CmpIPredicate::ne && isZero(test.getRhs()))
    return lanesOf(test.getLhs());
  if (isa_and_nonnull<arith::ExtUIOp, BroadcastOp>(op))
    return lanesOf(op->getOperand(0));
  if (auto expanded = dyn_cast_or_null<ExpandDimsOp>(op)) {
    Lanes inner = lanesOf(expanded.getValue());
    if (inner.dim && *inner.dim >= expanded.getAxis())
      ++*inner.dim;
    return inner;
  }
  return {};
}

bool isNumber(Value value, llvm::function_ref<bool(const APFloat &)> test) {
  if (auto splat = value.getDefiningOp<SplatOp>())
    return isNumber(splat.getValue(), test);
  if (isa_and_nonnull<BroadcastOp, ExpandDimsOp>(value.getDefiningOp()))
    return isNumber(value.getDefiningOp()->getOperand(0), test);
  if (auto negated = value.getDefiningOp<arith::NegFOp>())
    return isNumber(negated.getOperand(), [&](const APFloat &number) { return test(-number); });
  FloatAttr scalar;
  DenseElementsAttr lanes;
  if (matchPattern(value, m_Constant(&scalar)))
    return test(scalar.getValue());
  return matchPattern(value, m_Constant(&lanes)) && lanes.isSplat() && isa<FloatType>(lanes.getElementType()) &&
         test(lanes.getSplatValue<APFloat>());
}
bool isMinusInfinity(Value value) {
  return isNumber(value, [](const APFloat &number) { return number.isInfinity() && number.isNegative(); });
}
bool isPositive(Value value) {
  return isNumber(value, [](const APFloat &number) { return !number.isNaN() && !number.isNegative() && !number.isZero(); });
}

/// What is known of columns of tiles, those for whose number a condition does not hold.
class Columns {
public:
  explicit Columns(Value condition) : condition(condition) {}

  /// They are -inf or NaN.
  bool areMinusInfinity(Value tile) {
    Operation *op = tile.getDefiningOp();
    if (auto broadcast = dyn_cast_or_null<BroadcastOp>(op))
      return areMinusInfinity(broadcast.getValue());
    if (auto select = dyn_cast_or_null<arith::SelectOp>(op)) {
      Lanes lanes = lanesOf(select.getCondition());
      unsigned columns = cast<RankedTensorType>(tile.getType()).getRank() - 1;
      return isMinusInfinity(select.getFalseValue()) && lanes.root == condition && lanes.dim == columns;
    }
    if (auto dot = dyn_cast_or_null<DotOp>(op))
      return !dot.getClear() && areMinusInfinity(dot.getAcc());
    if (auto product = dyn_cast_or_null<arith::MulFOp>(op))
      return isPositive(product.getRhs()) ? areMinusInfinity(product.getLhs())
                                          : isPositive(product.getLhs()) && areMinusInfinity(product.getRhs());
    if (auto difference = dyn_cast_or_null<arith::SubFOp>(op))
      return areMinusInfinity(difference.getLhs());
    if (auto sum = dyn_cast_or_null<arith::AddFOp>(op))
      return areMinusInfinity(sum.getLhs()) || areMinusInfinity(sum.getRhs());
    return false;
  }

  /// They are 0 or NaN.
  bool areZero(Value tile) {
    Operation *op = tile.getDefiningOp();
    if (isa_and_nonnull<math::ExpOp, math::Exp2Op>(op))
      return areMinusInfinity(op->getOperand(0));
    if (isa_and_nonnull<arith::TruncFOp, arith::ExtFOp>(op))
      return areZero(op->getOperand(0));
    if (isa_and_nonnull<arith::MulFOp>(op))
      return areZero(op->getOperand(0)) || areZero(op->getOperand(1));
    return false;
  }

private:
  Value condition; // of rank 1
};

} // namespace

bool areUnread(Value tile, Value mask) {
  Lanes lanes = lanesOf(mask);
  if (!lanes.root || lanes.dim != 0u || cast<RankedTensorType>(tile.getType()).getRank() != 2)
    return false;
  Columns columns(lanes.root);
  auto isSecond = [](DotOp dot, Value factor) {
    return dot.getB() == factor && dot.getA() != factor && dot.getAcc() != factor && !dot.getClear();
  };
  return llvm::all_of(tile.getUsers(), [&](Operation *user) {
    if (auto dot = dyn_cast<DotOp>(user))
      return isSecond(dot, tile) && columns.areZero(dot.getA());
    auto turned = dyn_cast<PermuteOp>(user);
    return turned && llvm::all_of(turned->getUsers(), [&](Operation *product) {
             auto dot = dyn_cast<DotOp>(product);
             return dot && isSecond(dot, turned) && columns.areMinusInfinity(dot.getAcc());
           });
  });
}

} // namespace tilery::tile
