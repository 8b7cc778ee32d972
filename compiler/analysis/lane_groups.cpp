#include "compiler/analysis/lane_groups.h"
#include "compiler/analysis/divisor.h"
#include "compiler/analysis/integer_op.h"
#include "compiler/analysis/interval.h"
#include "compiler/analysis/reindexed.h"
#include "compiler/analysis/remembered.h"
#include <numeric>

using namespace mlir;

namespace tilery::analysis {
namespace {
constexpr int64_t most = 256;

int64_t powerIn(int64_t number) { return number ? std::min(number & -number, most) : most; }

/// The scalar that all lanes hold.
Value scalarOf(Value value) {
  while (isa<RankedTensorType>(value.getType())) {
    IntegerOp integer = integerOpOf(value);
    using Kind = IntegerOp::Kind;
    if (!llvm::is_contained({Kind::splat, Kind::reindex, Kind::extend}, integer.kind))
      return {};
    value = integer.lhs;
  }
  return value;
}

/// The groups of what others are computed to.
class Search {
public:
  Search(int64_t width, bool takesPositive) : width(width), takesPositive(takesPositive) {}

  LaneGroups of(Value value, int dim) {
    static thread_local Remembered<LaneGroups, int, int64_t, bool> remembered;
    return remembered.of(value, dim, width, takesPositive, [&] { return compute(value, dim); });
  }

private:
  /// Of what hangs on others, where theirs hold.
  static LaneGroups with(LaneGroups result, ArrayRef<LaneGroups> others) {
    for (const LaneGroups &other : others)
      for (Value scalar : other.positive)
        if (!llvm::is_contained(result.positive, scalar))
          result.positive.push_back(scalar);
    return result;
  }

  /// Quotient or remainder by a constant or by one number, of what is not negative or downwards.
  LaneGroups ofQuotient(Operation *op, int dim) {
    LaneGroups x = of(op->getOperand(0), dim), y = of(op->getOperand(1), dim);
    LaneGroups result = with({false, x.equal && y.equal}, {x, y});
    auto numbers = intervalOf(op->getOperand(0)), by = intervalOf(op->getOperand(1));
    bool isConstant = by && by->least == by->greatest && by->least > 0;
    Value number = takesPositive && !isConstant ? scalarOf(op->getOperand(1)) : Value();
    auto mode = isa<tile::DivOp>(op) ? cast<tile::DivOp>(op).getMode() : cast<tile::RemOp>(op).getMode();
    bool isRegular = mode == tile::IntDivMode::floor || (numbers && numbers->least >= 0);
    if (!isRegular || !(isConstant || number))
      return result;
    bool divides = (isConstant ? by->least : y.divisor) % width == 0;
    bool whole = x.follow && x.divisor % width == 0 && divides; // groups lie between multiples
    if (whole && number)
      result = with(std::move(result), LaneGroups{false, false, 1, {number}});
    if (isa<tile::DivOp>(op)) {
      result.equal |= whole;
      bool isShift = isConstant && !(by->least & (by->least - 1));
      result.divisor = isShift ? std::max<int64_t>(1, x.divisor / powerIn(by->least)) : 1;
      return result;
    }
    result.follow = whole;
    result.divisor = std::min(x.divisor, isConstant ? powerIn(by->least) : y.divisor);
    return result;
  }

  LaneGroups ofCondition(Operation *op, int dim) {
    auto groups = llvm::map_to_vector(op->getOperands(), [&](Value operand) { return of(operand, dim); });
    bool equal = llvm::all_of(groups, [](const LaneGroups &each) { return each.equal; });
    auto compare = dyn_cast<arith::CmpIOp>(op);
    if (compare && !equal) { // numbers that follow each other between multiples, beside a multiple
      const LaneGroups &x = groups[0], &y = groups[1];
      using P = arith::CmpIPredicate;
      bool less = llvm::is_contained({P::slt, P::sge, P::ult, P::uge}, compare.getPredicate());
      equal = less && x.follow && y.equal && x.divisor % width == 0 && y.divisor % width == 0;
    }
    return with({width == 1, equal || width == 1, 1}, groups);
  }

  LaneGroups compute(Value value, int dim) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type)
      return {width == 1, true, value.getType().isInteger(1) ? 1 : divisorOf(value)};
    if (dim >= 0 && type.getDimSize(dim) % width)
      return {width == 1, width == 1, 1};
    Operation *op = value.getDefiningOp();
    if (op && isa<tile::DivOp, tile::RemOp>(op))
      return ofQuotient(op, dim);
    if (isa_and_nonnull<arith::CmpIOp, arith::AndIOp, arith::OrIOp, arith::XOrIOp, arith::SelectOp>(op))
      return ofCondition(op, dim);
    if (auto truncate = dyn_cast_or_null<arith::TruncIOp>(op))
      return of(truncate.getIn(), dim);
    IntegerOp integer = integerOpOf(value, Wrapping::any); // groups that begin at multiples do not wrap in between
    using Kind = IntegerOp::Kind;
    switch (integer.kind) {
    case Kind::constant:
      return {width == 1, true, powerIn(integer.number)};
    case Kind::splat:
      return {width == 1, true, type.getElementType().isInteger(1) ? 1 : divisorOf(integer.lhs)};
    case Kind::range:
      return dim < 0 ? LaneGroups{width == 1, true, 1} : LaneGroups{true, width == 1, std::min(powerIn(integer.number), width)};
    case Kind::extend: {
      LaneGroups x = of(integer.lhs, dim);
      x.follow &= x.divisor % width == 0;
      return x;
    }
    case Kind::reindex: {
      int from = operandDim(op, dim);
      return from == -2 ? LaneGroups{width == 1, width == 1, 1} : of(integer.lhs, from);
    }
    case Kind::add:
    case Kind::subtract: {
      LaneGroups x = of(integer.lhs, dim), y = of(integer.rhs, dim);
      bool both = integer.kind == Kind::add && x.equal && y.follow;
      return with({(x.follow && y.equal) || both, x.equal && y.equal, std::min(x.divisor, y.divisor)}, {x, y});
    }
    case Kind::multiply: {
      LaneGroups x = of(integer.lhs, dim), y = of(integer.rhs, dim);
      return with({width == 1, x.equal && y.equal, std::min(x.divisor * y.divisor, most)}, {x, y});
    }
    case Kind::opaque:
      break;
    }
    return {width == 1, width == 1 || dim < 0, 1};
  }

  int64_t width;
  bool takesPositive;
};
} // namespace

LaneGroups laneGroups(Value value, int dim, int64_t width) { return Search(width, false).of(value, dim); }
LaneGroups laneGroupsOfPositive(Value value, int dim, int64_t width) { return Search(width, true).of(value, dim); }

} // namespace tilery::analysis
