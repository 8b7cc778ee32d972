#include "compiler/lower/segment_values.h"
#include "compiler/lower/evaluator.h"

using namespace mlir;

namespace tilery::lower {

SegmentValues::SegmentValues(Evaluator &ev) : ev(ev), e(ev.e) {}

const Index *SegmentValues::start() const {
  const Index *start = nullptr;
  for (const InSegment &known : ev.known().segment) {
    if (known.foreseen)
      return nullptr;
    for (const Index &index : known.first)
      if (index.loop == known.loop)
        start = &index;
  }
  return start;
}

const InSegment *SegmentValues::find(Value tile, ArrayRef<Index> point, const Index *&moved, const Index *&first) const {
  for (const InSegment &known : ev.known().segment) {
    if (known.tile != tile)
      continue;
    moved = first = nullptr;
    bool there = true;
    for (auto [index, start] : llvm::zip_equal(point, known.first)) {
      bool moves = start.loop == known.loop;
      there &= moves ? index.loop == known.loop && !index.lanes : index.uniform() && index.base == start.base;
      if (moves)
        std::tie(moved, first) = std::pair(&index, &start);
    }
    if (there)
      return &known;
  }
  return nullptr;
}

Value SegmentValues::chosen(Value tile, ArrayRef<Index> point) const {
  const Index *moved, *first;
  const InSegment *known = find(tile, point, moved, first);
  return known ? known->chosen : Value();
}

std::optional<Linear> SegmentValues::linear(Value tile, ArrayRef<Index> point) {
  const Index *moved, *first;
  const InSegment *known = find(tile, point, moved, first);
  if (!known)
    return std::nullopt;
  if (known->chosen)
    return ev.linear(known->chosen, point);
  Linear result = known->at;
  if (!result.step)
    return result;
  result.level = moved->level;
  AtLevel at(ev.levels, result.level);
  result.base = e.b.CreateAdd(result.base, e.b.CreateMul(e.b.CreateSub(moved->base, first->base), e.i64(result.step)));
  result.step *= moved->step;
  return result;
}

} // namespace tilery::lower
