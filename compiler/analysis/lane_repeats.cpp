#include "compiler/analysis/lane_repeats.h"
#include "compiler/analysis/integer_op.h"
#include "compiler/analysis/lane_groups.h"
#include "compiler/analysis/lane_strands.h"
#include "compiler/analysis/reindexed.h"

using namespace mlir;

namespace tilery::analysis {
namespace {

/// By how much numbers that follow each other are beyond a multiple of the width in each lane whose number is one.
std::optional<int64_t> beyondMultiples(Value numbers, int dim, int64_t width) {
  for (int64_t beyond = 0; numbers;) {
    LaneGroups groups = laneGroups(numbers, dim, width);
    if (groups.follow && groups.divisor % width == 0)
      return ((beyond % width) + width) % width;
    IntegerOp op = integerOpOf(numbers, Wrapping::address);
    std::optional<int64_t> moved = op.rhs ? constantOf(op.rhs) : std::nullopt;
    if (op.kind == IntegerOp::Kind::reindex)
      dim = operandDim(op.op, dim);
    else if (op.kind == IntegerOp::Kind::add && moved)
      beyond += *moved % width;
    else if (op.kind == IntegerOp::Kind::subtract && moved)
      beyond -= *moved % width;
    else if (op.kind != IntegerOp::Kind::extend)
      break;
    if (dim < 0)
      break;
    numbers = op.lhs;
  }
  return std::nullopt;
}

/// The quotient that numbers are, and the dimension of it that lanes go along.
std::pair<tile::DivOp, int> quotientOf(Value numbers) {
  int dim = 0;
  for (IntegerOp op = integerOpOf(numbers); dim >= 0; op = integerOpOf(numbers)) {
    if (auto quotient = numbers.getDefiningOp<tile::DivOp>())
      return {quotient, dim};
    if (op.kind == IntegerOp::Kind::reindex)
      dim = operandDim(op.op, dim);
    else if (op.kind != IntegerOp::Kind::extend)
      break;
    numbers = op.lhs;
  }
  return {};
}
} // namespace

LaneRepeats laneRepeats(Value places) {
  auto type = dyn_cast<RankedTensorType>(places.getType());
  if (!type || type.getRank() != 1)
    return {};
  auto [quotient, dim] = quotientOf(places);
  for (int64_t width : {8, 4, 2}) {
    if (type.getDimSize(0) <= width || type.getDimSize(0) % width || growthOver(places, 0, width) != 1)
      continue;
    if (laneGroups(places, 0, width).equal)
      return {width, 0};
    // One more after `width` lanes: numbers that follow each other, divided by the width.
    if (auto ahead = quotient ? beyondMultiples(quotient.getLhs(), dim, width) : std::nullopt)
      return {width, *ahead};
  }
  return {};
}

} // namespace tilery::analysis
