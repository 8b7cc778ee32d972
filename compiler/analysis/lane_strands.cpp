#include "compiler/analysis/lane_strands.h"
#include "compiler/analysis/integer_op.h"
#include "compiler/analysis/interval.h"
#include "compiler/analysis/lane_groups.h"
#include "compiler/analysis/reindexed.h"
#include "compiler/analysis/remembered.h"

using namespace mlir;

namespace tilery::analysis {
namespace {
using Growth = std::optional<int64_t>;
using Undivideds = SmallVectorImpl<Undivided>;

bool isLineAlong(Value value, int dim) {
  ArrayRef<int64_t> shape = tile::shapeOf(value.getType());
  return llvm::all_of(llvm::enumerate(shape), [&](auto size) { return int(size.index()) == dim || size.value() == 1; });
}

/// Quotient or remainder of what is not negative, or downwards: what grows by a multiple of the divisor takes the remainder along.
Growth ofQuotient(Operation *op, int dim, int64_t distance, Undivideds *undivided) {
  Value number = op->getOperand(0), divisor = op->getOperand(1);
  Growth x = growthOver(number, dim, distance, undivided), y = growthOver(divisor, dim, distance, undivided);
  if (!x || y != 0)
    return std::nullopt;
  if (x == 0)
    return 0;
  bool quotient = isa<tile::DivOp>(op);
  auto of = intervalOf(number), by = intervalOf(divisor);
  auto mode = quotient ? cast<tile::DivOp>(op).getMode() : cast<tile::RemOp>(op).getMode();
  if (by && by->least == by->greatest && by->least > 0 && *x % by->least == 0 &&
      (mode == tile::IntDivMode::floor || (of && of->least >= 0)))
    return quotient ? *x / by->least : 0;
  if (!undivided || distance != 1 || *x != 1 || !isLineAlong(number, dim))
    return std::nullopt;
  if (!llvm::is_contained(*undivided, Undivided{number, divisor}))
    undivided->push_back({number, divisor});
  return quotient ? 0 : 1;
}

Growth ofSum(const IntegerOp &op, Growth x, Growth y) {
  int64_t result;
  if (!x || !y)
    return std::nullopt;
  bool wraps = op.kind == IntegerOp::Kind::add ? llvm::AddOverflow(*x, *y, result) : llvm::SubOverflow(*x, *y, result);
  return wraps ? std::nullopt : Growth(result);
}

Growth ofProduct(const IntegerOp &op, Growth x, Growth y) {
  if (!x || !y || (*x && *y))
    return std::nullopt;
  if (!*x && !*y)
    return 0;
  auto factor = constantOf(*x ? op.rhs : op.lhs);
  int64_t result;
  return !factor || llvm::MulOverflow(*x ? *x : *y, *factor, result) ? std::nullopt : Growth(result);
}

Growth compute(Value value, int dim, int64_t distance, Undivideds *undivided) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || dim < 0 || type.getDimSize(dim) <= distance)
    return 0;
  Operation *op = value.getDefiningOp();
  auto of = [&](Value operand) { return growthOver(operand, dim, distance, undivided); };
  if (isa_and_nonnull<tile::DivOp, tile::RemOp>(op))
    return ofQuotient(op, dim, distance, undivided);
  if (isa_and_nonnull<arith::CmpIOp, arith::AndIOp, arith::OrIOp, arith::XOrIOp, arith::SelectOp, arith::TruncIOp>(op))
    return llvm::all_of(op->getOperands(), [&](Value operand) { return of(operand) == 0; }) ? Growth(0) : std::nullopt;
  IntegerOp integer = integerOpOf(value, Wrapping::address);
  using Kind = IntegerOp::Kind;
  switch (integer.kind) {
  case Kind::constant:
  case Kind::splat:
    return 0;
  case Kind::range:
    return distance;
  case Kind::extend:
    return of(integer.lhs);
  case Kind::reindex: {
    int from = operandDim(op, dim);
    return from == -2 ? std::nullopt : growthOver(integer.lhs, from, distance, undivided);
  }
  case Kind::add:
  case Kind::subtract:
    return ofSum(integer, of(integer.lhs), of(integer.rhs));
  case Kind::multiply:
    return ofProduct(integer, of(integer.lhs), of(integer.rhs));
  case Kind::opaque:
    return std::nullopt;
  }
  llvm_unreachable("kind");
}
} // namespace

Growth growthOver(Value value, int dim, int64_t distance, Undivideds *undivided) {
  static thread_local Remembered<Growth, int, int64_t, bool> remembered;
  return remembered.of(value, dim, distance, undivided != nullptr, [&] { return compute(value, dim, distance, undivided); });
}

std::optional<LaneStrands> laneStrands(Value places, ArrayRef<Condition> conditions) {
  ArrayRef<int64_t> shape = tile::shapeOf(places.getType());
  if (shape.size() != 1)
    return std::nullopt;
  constexpr int64_t mostPeriod = 64; // windows of 8 x 8
  int64_t lanes = shape[0];
  auto alike = [&](llvm::function_ref<bool(const Condition &)> are) { return llvm::all_of(conditions, are); };
  for (int64_t period = 1; period <= std::min(mostPeriod, lanes / 2); ++period)
    if (growthOver(places, 0, period) == 1 &&
        alike([&](const Condition &each) { return growthOver(each.value, each.dim, period) == 0; }))
      return LaneStrands{lanes, period, {}};
  for (int64_t group = lanes & -lanes; group > 1; group /= 2)
    if (laneGroups(places, 0, group).follow &&
        alike([&](const Condition &each) { return laneGroups(each.value, each.dim, group).equal; }))
      return LaneStrands{group, 1, {}};
  LaneStrands whole{lanes, 1, {}};
  bool holds = lanes > 1 && growthOver(places, 0, 1, &whole.undivided) == 1 &&
               alike([&](const Condition &each) { return growthOver(each.value, each.dim, 1, &whole.undivided) == 0; });
  return holds ? std::optional(whole) : std::nullopt;
}

} // namespace tilery::analysis
