#include "compiler/arrange/index_map.h"
#include "compiler/arrange/normal_form.h"
#include <set>

namespace tilery::arrange {
namespace {

struct SymbolArithmetic {
  Symbol constant(int64_t v) const { return v; }
  Symbol value(const Symbol &s) const { return s; }
  Symbol add(const Symbol &a, const Symbol &b) const { return a + b; }
  Symbol mul(const Symbol &a, const Symbol &b) const { return a * b; }
  Symbol div(const Symbol &a, const Symbol &b) const { return floorDiv(a, b); }
  Symbol mod(const Symbol &a, const Symbol &b) const { return floorMod(a, b); }
};

/// Whether `bound` follows from `other`: it lies between the other's index - c and size - c for some c that shrinks neither end.
bool follows(const Poly &index, const Poly &size, const Poly &otherIndex, const Poly &otherSize, const Ranges &ranges) {
  return isNonNegative(index - otherIndex, ranges) && isNonNegative((size - index) - (otherSize - otherIndex), ranges);
}

struct PolyBound {
  Poly index, size;
  bool isRoot, isImplied;
};

/// Fills `affine` if the map has that form.
void makeAffine(TileMap &map, std::vector<Poly> index, std::vector<PolyBound> bounds, const Ranges &ranges) {
  const size_t rank = map.lanes.size();
  // The only lane of a dimension is lane 0: it walks nothing, and its bounds are conditions of the whole tile.
  for (size_t d = 0; d < rank; ++d) {
    if (map.shape[d].constant() != 1)
      continue;
    for (Poly &expr : index)
      expr = without(expr, map.lanes[d]);
    for (PolyBound &bound : bounds)
      bound.index = without(bound.index, map.lanes[d]);
  }
  auto hasLane = [&](const Poly &p) {
    for (size_t d = 0; d < rank; ++d)
      if (contains(p, map.lanes[d]))
        return true;
    return false;
  };
  TileMap::Affine affine;
  affine.dims.assign(rank, -1);
  affine.dilations.assign(rank, Symbol(0));
  affine.limits.resize(rank);
  for (size_t k = 0; k < index.size(); ++k) {
    Poly start = index[k];
    for (size_t d = 0; d < rank; ++d) {
      auto step = factorOf(index[k], map.lanes[d]);
      if (!step || hasLane(*step))
        return;
      if (step->constant() == 0)
        continue;
      if (affine.dims[d] != -1)
        return; // one lane that walks two source dimensions
      affine.dims[d] = k;
      affine.dilations[d] = symbolOf(*step);
      start = without(start, map.lanes[d]);
    }
    affine.starts.push_back(symbolOf(start));
  }
  for (const PolyBound &bound : bounds) {
    std::optional<size_t> lane;
    for (size_t d = 0; d < rank; ++d) {
      if (!contains(bound.index, map.lanes[d]) && !contains(bound.size, map.lanes[d]))
        continue;
      if (lane || contains(bound.size, map.lanes[d]))
        return;
      lane = d;
    }
    if (!lane) {
      affine.conditions.push_back({symbolOf(bound.index), symbolOf(bound.size), !isNonNegative(bound.index, ranges)});
      continue;
    }
    auto step = factorOf(bound.index, map.lanes[*lane]);
    if (!step || !step->constant() || *step->constant() < 1 || !isNonNegative(bound.index, ranges))
      return;
    Symbol limit = simplify(ceilDiv(symbolOf(bound.size - without(bound.index, map.lanes[*lane])), *step->constant()));
    auto &known = affine.limits[*lane];
    known = known ? Symbol::make(ExprKind::minimum, {*known, limit}) : limit;
  }
  map.affine = std::move(affine);
}

} // namespace

IndexMap mapIndices(const Tensor &tensor, const std::vector<std::vector<Symbol>> &indices) {
  std::vector<BoundOf<Symbol>> bounds;
  IndexMap map;
  map.index = walkBack<Symbol>(*tensor.view(), indices, SymbolArithmetic(), bounds);
  for (const auto &bound : bounds)
    map.bounds.push_back({bound.index, bound.size, true});
  return map;
}

bool mixesRows(const Tensor &tensor) {
  if (!tensor.source().jagged || !isRowLength(tensor.rowLength()))
    return false;
  std::vector<std::vector<Symbol>> indices;
  for (const Shape &level : tensor.view()->levels) {
    indices.emplace_back();
    for (size_t d = 0; d < level.size(); ++d)
      indices.back().push_back(Symbol::plain("at_" + std::to_string(indices.size()) + "_" + std::to_string(d)));
  }
  return contains(polyOf(mapIndices(tensor, indices).index[0]), tensor.rowLength());
}

TileMap mapTile(const Tensor &given, const std::vector<Symbol> &program, const std::vector<Symbol> &user) {
  const Tensor tensor = mixesRows(given) ? given.padded(longest(given.rowLength())) : given;
  const auto &levels = tensor.view()->levels;
  TileMap map;
  std::vector<std::vector<Symbol>> indices{program};
  Ranges ranges;
  for (size_t d = 0; d < program.size(); ++d)
    if (program[d].isName())
      ranges[program[d].name().text] = {0, longest(levels[0][d]) - 1};
  auto nextUser = user.begin();
  for (size_t l = 1; l < levels.size(); ++l) {
    indices.emplace_back();
    for (size_t d = 0; d < levels[l].size(); ++d) {
      if (l + 1 < levels.size()) {
        if (nextUser == user.end())
          throw ArrangementError(Diagnostic::Kind::Value, "too few indices");
        // Nothing is known of a user's index: it may be negative.
        if (nextUser->isName())
          ranges[nextUser->name().text] = {-1, {}};
        indices.back().push_back(*nextUser++);
        continue;
      }
      map.lanes.push_back(Symbol::plain("lane_" + std::to_string(d)));
      map.shape.push_back(levels[l][d]);
      // A tile without lanes is built with one lane that does not exist.
      ranges[map.lanes[d].name().text] = {0, levels[l][d].constant() == 0 ? Symbol(0) : levels[l][d] - 1};
      indices.back().push_back(map.lanes[d]);
    }
  }

  std::vector<BoundOf<Symbol>> all;
  std::vector<Poly> index;
  for (const Symbol &expr : walkBack<Symbol>(*tensor.view(), indices, SymbolArithmetic(), all)) {
    index.push_back(polyOf(expr, ranges));
    map.index.push_back(symbolOf(index.back()));
  }
  std::vector<PolyBound> bounds;
  for (const auto &bound : all) {
    if (bound.implied == Implied::byOuter)
      continue;
    PolyBound poly{polyOf(bound.index, ranges), polyOf(bound.size, ranges), bound.isRoot, bound.implied == Implied::byInput};
    bool always = isNonNegative(poly.index, ranges) && isNonNegative(poly.size - poly.index - Poly(1), ranges);
    if (!always)
      bounds.push_back(std::move(poly));
  }
  // The source's bounds are part of an access; another bound goes if one that stays implies it. A bound that its input implies may serve
  // as the reason if it is nearer to the source, so that reasons never run in a circle.
  for (size_t i = 0; i < bounds.size();) {
    bool redundant = false;
    for (size_t j = 0; j < bounds.size() && !redundant && !bounds[i].isRoot && !bounds[i].isImplied; ++j)
      redundant = i != j && (j > i || !bounds[j].isImplied) &&
                  follows(bounds[i].index, bounds[i].size, bounds[j].index, bounds[j].size, ranges);
    if (redundant)
      bounds.erase(bounds.begin() + i);
    else
      ++i;
  }
  std::vector<PolyBound> extra;
  for (PolyBound &bound : bounds) {
    if (bound.isImplied)
      continue;
    (bound.isRoot ? map.rootBounds : map.bounds)
        .push_back({symbolOf(bound.index), symbolOf(bound.size), !isNonNegative(bound.index, ranges)});
    if (!bound.isRoot)
      extra.push_back(std::move(bound));
  }
  makeAffine(map, std::move(index), std::move(extra), ranges);
  return map;
}

} // namespace tilery::arrange
