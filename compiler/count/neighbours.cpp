#include "compiler/count/neighbours.h"
#include "compiler/analysis/integer_op.h"
#include "compiler/analysis/reindexed.h"

using namespace mlir;

namespace tilery::count {
namespace {

using Point = SmallVector<int64_t>;
using Kind = analysis::IntegerOp::Kind;

/// Tiles of integers, lane by lane.
class LaneReader {
public:
  explicit LaneReader(Scalars &scalars) : scalars(scalars) {}

  Known at(Value value, const Point &point) {
    if (!isa<RankedTensorType>(value.getType()))
      return scalars.values[scalars.slot(value)];
    auto [known, fresh] = lanes.try_emplace({value.getAsOpaquePointer(), point});
    return fresh ? known->second = compute(value, point) : known->second; // a map's entries stay where they are
  }

private:
  Known compute(Value value, const Point &point) {
    analysis::IntegerOp op = analysis::integerOpOf(value, analysis::Wrapping::any);
    switch (op.kind) {
    case Kind::constant:
      return {op.number, true};
    case Kind::splat:
      return at(op.lhs, {});
    case Kind::range:
      return {op.number + point[0], true};
    case Kind::reindex:
      return reindexed(op, point);
    default:
      break;
    }
    std::optional<Arithmetic> arithmetic = op.op ? arithmeticOf(op.op) : std::nullopt;
    if (!arithmetic)
      return {};
    SmallVector<Known, 3> operands;
    for (Value operand : op.op->getOperands())
      operands.push_back(at(operand, point));
    return (*arithmetic)(operands);
  }

  Known reindexed(const analysis::IntegerOp &op, const Point &point) {
    Point inner(tile::shapeOf(op.lhs.getType()).size());
    for (auto [d, index] : llvm::enumerate(point)) {
      int of = analysis::operandDim(op.op, int(d));
      if (of < -1)
        return {};
      if (of >= 0)
        inner[of] = index;
    }
    return at(op.lhs, inner);
  }

  Scalars &scalars;
  std::map<std::pair<void *, Point>, Known> lanes;
};

constexpr int64_t near = 3; ///< elements that vectors still bring together

/// Whether most neighbours at a row's beginning lie further apart.
bool isFar(LaneReader &reader, Value steps, int64_t size) {
  constexpr int64_t enough = 64;
  int64_t pairs = std::min(size, enough) - 1, far = 0;
  for (int64_t lane = 0; lane < pairs; ++lane) {
    Known here = reader.at(steps, {lane}), next = reader.at(steps, {lane + 1});
    if (!here.is || !next.is)
      return false;
    far += std::abs(next.number - here.number) > near;
  }
  return 4 * far > 3 * pairs;
}
} // namespace

bool liesApart(tile::AccessOp place, Scalars &scalars) {
  LaneReader reader(scalars);
  bool any = false;
  for (auto [d, size] : llvm::enumerate(cast<tile::AccessType>(place.getType()).getShape())) {
    if (size == 1)
      continue;
    Value steps = place.getSteps()[d];
    Known stride = place.isStrided(d) ? reader.at(steps, {}) : Known();
    if (place.isStrided(d) ? !stride.is || std::abs(stride.number) <= near : !isFar(reader, steps, size))
      return false;
    any |= !place.isStrided(d);
  }
  return any;
}

} // namespace tilery::count
