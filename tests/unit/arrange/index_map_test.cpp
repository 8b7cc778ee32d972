// The simplified maps against the tables, and how little of the bounds is left.
#include "tilery/arrange.h"
#include <gtest/gtest.h>
#include <random>

using namespace tilery::arrange;

namespace {

std::vector<Symbol> symbols(const std::vector<int64_t> &values) { return {values.begin(), values.end()}; }
Tensor symbolic(size_t rank) { return Tensor(Source{}, std::vector<std::optional<Symbol>>(rank)); }

std::vector<Symbol> indices(const char *prefix, size_t count) {
  std::vector<Symbol> result;
  for (size_t i = 0; i < count; ++i)
    result.push_back(Symbol::plain(prefix + std::to_string(i)));
  return result;
}

TileMap mapOf(const Tensor &tensor) {
  const size_t outer = tensor.ndim();
  size_t middle = 0;
  Tensor level = tensor;
  while (!level.isInnermost()) {
    level = level.inner();
    middle += level.isInnermost() ? 0 : level.ndim();
  }
  return mapTile(tensor, indices("p", outer), indices("k", middle));
}

bool holds(const Bound &bound, const Symbol::Values &values) {
  int64_t index = *bound.index.substitute(values).constant();
  return index >= 0 && index < *bound.size.substitute(values).constant();
}

/// Every element of `tensor` (constant sizes) through `map` (of the same steps, perhaps with names for sizes) equals the table's.
void expectEqualsTable(const Tensor &tensor, const TileMap &map, const Tensor &mapped, const Symbol::Values &sizes) {
  Table table = evaluate(tensor);
  std::vector<std::string> names;
  size_t outer = tensor.ndim();
  for (size_t d = 0; d < outer; ++d)
    names.push_back("p" + std::to_string(d));
  size_t middle = table.shape.size() - outer - map.lanes.size();
  for (size_t d = 0; d < middle; ++d)
    names.push_back("k" + std::to_string(d));
  for (const Symbol &lane : map.lanes)
    names.push_back(lane.name().text);
  std::vector<int64_t> at(table.shape.size(), 0);
  for (int64_t expected : table.offsets) {
    Symbol::Values values = sizes;
    for (size_t d = 0; d < at.size(); ++d)
      values.insert_or_assign(names[d], at[d]);
    int64_t offset = 0;
    bool exists = true;
    for (size_t d = 0; d < map.index.size(); ++d) {
      Symbol size = mapped.source().shape[d].substitute(values);
      int64_t index = *map.index[d].substitute(values).constant();
      exists = exists && index >= 0 && index < *size.constant();
      offset = offset * *size.constant() + index;
    }
    for (const Bound &bound : map.bounds)
      exists = exists && holds(bound, values);
    ASSERT_EQ(exists ? offset : -1, expected);
    if (map.affine) {
      bool kept = true;
      for (size_t d = 0; d < map.lanes.size(); ++d)
        if (auto limit = map.affine->limits[d])
          kept = kept && *values.at(map.lanes[d].name().text).constant() < *limit->substitute(values).constant();
      for (const Bound &bound : map.affine->conditions)
        kept = kept && holds(bound, values);
      for (size_t k = 0; k < map.index.size(); ++k) {
        Symbol index = map.affine->starts[k];
        for (size_t d = 0; d < map.lanes.size(); ++d)
          if (map.affine->dims[d] == int64_t(k))
            index = index + map.affine->dilations[d] * map.lanes[d];
        ASSERT_EQ(index.substitute(values).constant(), map.index[k].substitute(values).constant());
        int64_t value = *index.substitute(values).constant();
        kept = kept && value >= 0 && value < *mapped.source().shape[k].substitute(values).constant();
      }
      ASSERT_EQ(kept, expected != -1);
    }
    for (size_t d = at.size(); d-- > 0 && ++at[d] == table.shape[d];)
      at[d] = 0;
  }
}

void check(const Tensor &tensor, const std::vector<std::vector<int64_t>> &shapes) {
  TileMap map = mapOf(tensor);
  for (const auto &shape : shapes) {
    Symbol::Values sizes;
    for (size_t d = 0; d < shape.size(); ++d)
      sizes.insert_or_assign(tensor.source().shape[d].name().text, shape[d]);
    expectEqualsTable(tensor.substitute(sizes), map, tensor, sizes);
  }
}

TEST(IndexMap, MatmulNeedsTheSourceBoundsOnly) {
  Symbol m = 4, n = 6, k = 3;
  Tensor c = symbolic(2).tile({m, n});
  Tensor a = symbolic(2).tile({m, k}).tile(symbols({1, -1})).expand({-1, c.shape()[1]});
  a.setInner(a.inner().squeeze({0}));
  EXPECT_GT(mapIndices(a, {indices("p", 2), indices("k", 1), indices("l", 2)}).bounds.size(), 9u);
  TileMap map = mapOf(a);
  EXPECT_TRUE(map.bounds.empty());
  EXPECT_EQ(map.rootBounds.size(), 2u);
  ASSERT_TRUE(map.affine);
  EXPECT_EQ(map.affine->starts[0].str(), "p0 * 4");
  EXPECT_EQ(map.affine->starts[1].str(), "k0 * 3");
  EXPECT_EQ(map.affine->dims, (std::vector<int64_t>{0, 1}));
}

TEST(IndexMap, OneDimensionalTile) {
  TileMap map = mapOf(symbolic(1).tile({Symbol::named("B", Role::meta)}));
  EXPECT_TRUE(map.bounds.empty());
  EXPECT_EQ(map.rootBounds.size(), 1u);
}

TEST(IndexMap, FloorModeNeedsNoBounds) {
  TileMap map = mapOf(symbolic(1).tile(symbols({4}), {}, {}, true));
  EXPECT_TRUE(map.bounds.empty());
  EXPECT_TRUE(map.rootBounds.empty());
  check(symbolic(1).tile(symbols({4}), {}, {}, true), {{0}, {3}, {4}, {9}});
}

TEST(IndexMap, PadLeavesTheSourceBounds) {
  Tensor padded = symbolic(1).pad({{1, 2}}).tile(symbols({3}));
  EXPECT_TRUE(mapOf(padded).bounds.empty());
  check(padded, {{1}, {5}, {7}});
}

TEST(IndexMap, UserIndexOutsideItsLevelIsMasked) {
  Tensor x = symbolic(1).tile(symbols({2})).tile(symbols({3}));
  TileMap map = mapOf(x);
  ASSERT_EQ(map.bounds.size(), 1u); // 0 <= k0 < 3: k0 = 3 would reach into the next program's elements
  ASSERT_TRUE(map.affine);
  EXPECT_EQ(map.affine->conditions.size(), 1u);
}

TEST(IndexMap, SymbolicSizesEqualTheTables) {
  check(symbolic(1).tile(symbols({2})), {{0}, {1}, {5}, {6}});
  check(symbolic(1).tile(symbols({2}), {Symbol(1)}, {Symbol(2)}), {{4}, {5}, {6}});
  check(symbolic(1).tile(symbols({3}), {Symbol(2)}), {{3}, {4}, {5}});
  check(symbolic(2).flatten().tile(symbols({4})), {{2, 3}, {1, 1}, {3, 5}});
  check(symbolic(2).tile(symbols({1, 2})).flatten(), {{2, 3}, {3, 1}});
  check(symbolic(2).tile(symbols({2, 3})).tile(symbols({2, 3})), {{5, 6}, {1, 1}, {4, 10}});
  check(symbolic(2).permute({1, 0}).tile(symbols({2, 3})), {{5, 6}, {3, 2}});
  check(symbolic(2).unsqueeze(1).tile(symbols({2, 1, 2})), {{3, 5}});
}

/// A random chain of steps on either level; the map is made with symbolic sizes and compared at several.
TEST(IndexMap, RandomArrangementsEqualTheTables) {
  std::mt19937 random(20260721);
  auto upTo = [&](int64_t n) { return int64_t(random() % uint64_t(n)); };
  for (int round = 0; round < 400; ++round) {
    Tensor x = symbolic(1 + upTo(2));
    size_t steps = 1 + upTo(4);
    for (size_t s = 0; s < steps; ++s) {
      const size_t rank = x.ndim();
      switch (upTo(8)) {
      case 0:
      case 1: {
        if (x.levels() > 2 || rank > 3)
          break;
        std::vector<Symbol> tile;
        std::vector<std::optional<Symbol>> stride, spacing;
        for (size_t d = 0; d < rank; ++d) {
          tile.push_back(1 + upTo(3));
          stride.push_back(upTo(2) ? std::optional<Symbol>() : Symbol(1 + upTo(3)));
          spacing.push_back(Symbol(1 + upTo(2)));
        }
        x = x.tile(tile, upTo(2) ? stride : std::vector<std::optional<Symbol>>{},
                   upTo(3) ? std::vector<std::optional<Symbol>>{} : spacing, upTo(4) == 0);
        break;
      }
      case 2:
        if (rank)
          x = x.flatten(upTo(rank));
        break;
      case 3:
        if (rank < 4)
          x = x.unsqueeze(upTo(rank + 1));
        break;
      case 4: {
        std::vector<int64_t> order(rank);
        for (size_t d = 0; d < rank; ++d)
          order[d] = d;
        std::shuffle(order.begin(), order.end(), random);
        x = x.permute(order);
        break;
      }
      case 5: {
        std::vector<std::pair<Symbol, Symbol>> amounts;
        for (size_t d = 0; d < rank; ++d)
          amounts.push_back({upTo(3), upTo(3)});
        x = x.pad(amounts);
        break;
      }
      case 6: {
        std::vector<Slice> slices;
        for (size_t d = 0; d < rank; ++d)
          slices.push_back({Slice::Kind::range, Symbol(upTo(2)), {}, Symbol(1 + upTo(2))});
        x = x.slice(slices);
        break;
      }
      case 7: {
        if (x.isInnermost())
          break;
        Tensor inner = x.inner();
        x.setInner(inner.ndim() > 1 ? inner.flatten() : inner.unsqueeze(0));
        break;
      }
      }
    }
    if (x.isInnermost())
      x = x.tile(std::vector<Symbol>(x.ndim(), Symbol(2)));
    std::vector<std::vector<int64_t>> shapes;
    for (int i = 0; i < 3; ++i) {
      std::vector<int64_t> shape;
      for (size_t d = 0; d < x.source().shape.size(); ++d)
        shape.push_back(3 + upTo(5));
      shapes.push_back(shape);
    }
    check(x, shapes);
    if (HasFatalFailure())
      FAIL() << "round " << round << ", level 0 of rank " << x.ndim();
  }
}

} // namespace
