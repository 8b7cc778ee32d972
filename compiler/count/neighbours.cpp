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

std::optional<ShortRows> shortRows(tile::AccessOp place, Scalars &scalars) {
  constexpr int64_t least = 32, most = 128, page = 4096, few = 8; // bytes, bytes, bytes, rows
  LaneReader reader(scalars);
  auto type = cast<tile::AccessType>(place.getType());
  auto strideOf = [&](unsigned d) { return place.isStrided(d) ? reader.at(place.getSteps()[d], {}) : Known(); };
  int64_t width = tile::elementBytes(type.getElementType());
  unsigned inner = type.getShape().size();
  while (inner && type.getShape()[inner - 1] == 1)
    --inner;
  if (!inner--)
    return {};
  ShortRows rows{type.getShape()[inner], type.getShape()[inner] * width, 0};
  if (Known step = strideOf(inner); !step.is || step.number != 1 || rows.bytes < least || rows.bytes > most)
    return {};
  int64_t count = 1;
  for (unsigned d = 0; d < inner; ++d) {
    if (type.getShape()[d] == 1)
      continue;
    Known stride = strideOf(d);
    if (!stride.is || std::abs(stride.number) * width < page)
      return {};
    count *= type.getShape()[d], rows.apart = std::abs(stride.number) * width;
  }
  return count < few ? std::nullopt : std::optional(rows);
}

} // namespace tilery::count
