#include "compiler/analysis/interval.h"
#include "compiler/analysis/integer_op.h"
#include "compiler/analysis/remembered.h"

using namespace mlir;

namespace tilery::analysis {

constexpr int64_t mostSteps = int64_t(1) << 40, mostPrograms = INT32_MAX;

static std::optional<Interval> ofCounter(BlockArgument argument) {
  if (auto contract = dyn_cast<tile::ContractOp>(argument.getOwner()->getParentOp())) {
    auto steps = intervalOf(contract.getSteps());
    return Interval{0, std::max<int64_t>(steps ? steps->greatest : mostSteps, 1) - 1};
  }
  if (auto threads = dyn_cast<tile::ThreadsOp>(argument.getOwner()->getParentOp()))
    return Interval{0, int64_t(threads.getCount()) - 1};
  auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
  if (!loop || argument != loop.getInductionVar() || loop.getUnsignedCmp())
    return std::nullopt;
  auto from = intervalOf(loop.getLowerBound()), to = intervalOf(loop.getUpperBound());
  auto type = dyn_cast<IntegerType>(argument.getType());
  int64_t most = type && type.getWidth() <= 32 ? (int64_t(1) << (type.getWidth() - 1)) - 1 : mostSteps;
  if (!from || (to && to->greatest <= from->least))
    return std::nullopt;
  return Interval{from->least, (to ? to->greatest : std::max(most, from->least + 1)) - 1};
}

/// Quotient or remainder by a constant of what is not negative, or the remainder that never is.
static std::optional<Interval> ofQuotient(Operation *op) {
  auto divisor = intervalOf(op->getOperand(1)), of = intervalOf(op->getOperand(0));
  if (!divisor || divisor->least != divisor->greatest || divisor->least <= 0)
    return std::nullopt;
  if (!of || of->least < 0) {
    auto rest = dyn_cast<tile::RemOp>(op);
    return rest && rest.getMode() == tile::IntDivMode::floor ? std::optional(Interval{0, divisor->least - 1}) : std::nullopt;
  }
  int64_t by = divisor->least;
  if (isa<tile::DivOp>(op))
    return Interval{of->least / by, of->greatest / by};
  return Interval{0, std::min(by - 1, of->greatest)};
}

/// No such number wraps around in the value's type.
static bool fits(const Interval &interval, Value value) {
  auto type = dyn_cast<IntegerType>(getElementTypeOrSelf(value.getType()));
  if (!type || type.getWidth() >= 64 || type.getWidth() < 2)
    return false;
  int64_t most = (int64_t(1) << (type.getWidth() - 1)) - 1;
  return interval.least >= -most - 1 && interval.greatest <= most;
}

static std::optional<Interval> compute(Value value) {
  if (Operation *op = value.getDefiningOp(); op && isa<tile::DivOp, tile::RemOp>(op))
    return ofQuotient(op);
  else if (isa_and_nonnull<tile::ProgramIdOp>(op))
    return Interval{0, mostPrograms - 1};
  else if (auto truncate = dyn_cast_or_null<arith::TruncIOp>(op)) { // of what fits
    bool fits = bitEnumContainsAny(truncate.getOverflowFlags(), arith::IntegerOverflowFlags::nsw);
    auto of = fits ? intervalOf(truncate.getIn()) : std::nullopt;
    int64_t greatest = INT64_MAX >> (64 - std::min(63u, getElementTypeOrSelf(value.getType()).getIntOrFloatBitWidth()));
    return of && of->least >= 0 ? std::optional(Interval{std::min(of->least, greatest), std::min(of->greatest, greatest)})
                                : std::nullopt;
  } else if (isa_and_nonnull<arith::AndIOp>(op)) { // bits of a number
    for (Value mask : op->getOperands())
      if (auto bits = intervalOf(mask); bits && bits->least == bits->greatest && bits->least >= 0)
        return Interval{0, bits->least};
    return std::nullopt;
  }
  if (auto argument = dyn_cast<BlockArgument>(value))
    return ofCounter(argument);
  IntegerOp op = integerOpOf(value, Wrapping::any);
  switch (op.kind) {
  case IntegerOp::Kind::constant:
    return Interval{op.number, op.number};
  case IntegerOp::Kind::extend:
  case IntegerOp::Kind::splat:
  case IntegerOp::Kind::reindex:
    return intervalOf(op.lhs);
  case IntegerOp::Kind::range:
    return Interval{op.number, op.number + tile::shapeOf(value.getType())[0] - 1};
  case IntegerOp::Kind::add:
  case IntegerOp::Kind::subtract:
  case IntegerOp::Kind::multiply: {
    auto x = intervalOf(op.lhs), y = intervalOf(op.rhs);
    if (!x || !y)
      return std::nullopt;
    Interval result{INT64_MAX, INT64_MIN};
    for (int64_t a : {x->least, x->greatest})
      for (int64_t b : {y->least, y->greatest}) {
        int64_t r;
        bool wraps = op.kind == IntegerOp::Kind::add        ? llvm::AddOverflow(a, b, r)
                     : op.kind == IntegerOp::Kind::subtract ? llvm::SubOverflow(a, b, r)
                                                            : llvm::MulOverflow(a, b, r);
        if (wraps)
          return std::nullopt;
        result = {std::min(result.least, r), std::max(result.greatest, r)};
      }
    return fits(result, value) || integerOpOf(value, Wrapping::address).kind == op.kind ? std::optional(result) : std::nullopt;
  }
  default:
    return std::nullopt;
  }
}

std::optional<Interval> intervalOf(Value value) {
  static thread_local Remembered<std::optional<Interval>> remembered;
  return remembered.of(value, [&] { return compute(value); });
}

} // namespace tilery::analysis
