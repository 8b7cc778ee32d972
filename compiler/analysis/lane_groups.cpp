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

/// Quotient or remainder by a constant, of what is not negative or downwards.
LaneGroups ofQuotient(Operation *op, int dim, int64_t width) {
  LaneGroups x = laneGroups(op->getOperand(0), dim, width), result;
  auto of = intervalOf(op->getOperand(0)), by = intervalOf(op->getOperand(1));
  result.equal = x.equal && laneGroups(op->getOperand(1), dim, width).equal;
  bool isConstant = by && by->least == by->greatest && by->least > 0;
  auto mode = isa<tile::DivOp>(op) ? cast<tile::DivOp>(op).getMode() : cast<tile::RemOp>(op).getMode();
  if (!isConstant || !(mode == tile::IntDivMode::floor || (of && of->least >= 0)))
    return result;
  bool whole = x.follow && x.divisor % width == 0 && by->least % width == 0; // groups lie between multiples
  if (isa<tile::DivOp>(op)) {
    result.equal |= whole;
    result.divisor = std::max<int64_t>(1, x.divisor / powerIn(by->least));
    if (by->least & (by->least - 1))
      result.divisor = 1;
    return result;
  }
  result.follow = whole;
  result.divisor = std::min(x.divisor, powerIn(by->least));
  return result;
}

LaneGroups compute(Value value, int dim, int64_t width) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type)
    return {width == 1, true, value.getType().isInteger(1) ? 1 : divisorOf(value)};
  if (dim >= 0 && type.getDimSize(dim) % width)
    return {width == 1, width == 1, 1};
  Operation *op = value.getDefiningOp();
  if (op && isa<tile::DivOp, tile::RemOp>(op))
    return ofQuotient(op, dim, width);
  if (isa_and_nonnull<arith::CmpIOp, arith::AndIOp, arith::OrIOp, arith::XOrIOp, arith::SelectOp>(op)) {
    bool equal = llvm::all_of(op->getOperands(), [&](Value operand) { return laneGroups(operand, dim, width).equal; });
    auto compare = dyn_cast<arith::CmpIOp>(op);
    if (compare && !equal) { // numbers that follow each other between multiples, beside a multiple
      LaneGroups x = laneGroups(op->getOperand(0), dim, width), y = laneGroups(op->getOperand(1), dim, width);
      using P = arith::CmpIPredicate;
      bool less = llvm::is_contained({P::slt, P::sge, P::ult, P::uge}, compare.getPredicate());
      equal = less && x.follow && y.equal && x.divisor % width == 0 && y.divisor % width == 0;
    }
    return {width == 1, equal || width == 1, 1};
  }
  if (auto truncate = dyn_cast_or_null<arith::TruncIOp>(op))
    return laneGroups(truncate.getIn(), dim, width);
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
    LaneGroups x = laneGroups(integer.lhs, dim, width);
    x.follow &= x.divisor % width == 0;
    return x;
  }
  case Kind::reindex: {
    int from = operandDim(op, dim);
    return from == -2 ? LaneGroups{width == 1, width == 1, 1} : laneGroups(integer.lhs, from, width);
  }
  case Kind::add:
  case Kind::subtract: {
    LaneGroups x = laneGroups(integer.lhs, dim, width), y = laneGroups(integer.rhs, dim, width);
    bool both = integer.kind == Kind::add && x.equal && y.follow;
    return {(x.follow && y.equal) || both, x.equal && y.equal, std::min(x.divisor, y.divisor)};
  }
  case Kind::multiply: {
    LaneGroups x = laneGroups(integer.lhs, dim, width), y = laneGroups(integer.rhs, dim, width);
    return {width == 1, x.equal && y.equal, std::min(x.divisor * y.divisor, most)};
  }
  case Kind::opaque:
    break;
  }
  return {width == 1, width == 1 || dim < 0, 1};
}
} // namespace

LaneGroups laneGroups(Value value, int dim, int64_t width) {
  static thread_local Remembered<LaneGroups, int, int64_t> remembered;
  return remembered.of(value, dim, width, [&] { return compute(value, dim, width); });
}

} // namespace tilery::analysis
