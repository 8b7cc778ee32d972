// What every meta-operation does to the elements: the offsets that the upstream implementation gives (and, for the long cases, the
// levels' sizes).
#include "tilery/arrange.h"
#include <gtest/gtest.h>

using namespace tilery::arrange;

namespace {

using Offsets = std::vector<int64_t>;

Tensor source(const std::vector<int64_t> &shape) {
  std::vector<std::optional<Symbol>> sizes(shape.begin(), shape.end());
  return Tensor(Source{}, sizes);
}
std::vector<Symbol> symbols(const std::vector<int64_t> &values) { return {values.begin(), values.end()}; }
std::vector<std::optional<Symbol>> optionals(const std::vector<int64_t> &values) { return {values.begin(), values.end()}; }
Offsets offsets(const Tensor &tensor) { return evaluate(tensor).offsets; }

/// Sizes of all levels, levels separated by -1.
std::vector<int64_t> levels(Tensor tensor) {
  std::vector<int64_t> result;
  while (true) {
    for (const Symbol &size : tensor.shape())
      result.push_back(*size.constant());
    if (tensor.isInnermost())
      return result;
    result.push_back(-1);
    tensor = tensor.inner();
  }
}

TEST(ArrangeTile, LastTileOverhangs) { EXPECT_EQ(offsets(source({5}).tile(symbols({2}))), (Offsets{0, 1, 2, 3, 4, -1})); }

TEST(ArrangeTile, StridesOverlapAndDilationSpreads) {
  EXPECT_EQ(offsets(source({5}).tile(symbols({2}), optionals({1}))), (Offsets{0, 1, 1, 2, 2, 3, 3, 4}));
  EXPECT_EQ(offsets(source({5}).tile(symbols({2}), {}, optionals({2}))), (Offsets{0, 2, 2, 4}));
  EXPECT_EQ(offsets(source({5}).tile(symbols({2}), optionals({1}), optionals({2}))), (Offsets{0, 2, 1, 3, 2, 4}));
  EXPECT_EQ(offsets(source({5}).tile(symbols({3}), optionals({2}))), (Offsets{0, 1, 2, 2, 3, 4}));
}

TEST(ArrangeTile, FloorModeDropsTheLastTile) {
  EXPECT_EQ(offsets(source({5}).tile(symbols({2}), {}, {}, true)), (Offsets{0, 1, 2, 3}));
}

TEST(ArrangeTile, WholeDimensionIsOneTileAlsoWhenEmpty) {
  EXPECT_EQ(levels(source({2, 0}).tile(symbols({1, -1}))), (std::vector<int64_t>{2, 1, -1, 1, 0}));
}

TEST(ArrangeTile, NestedTilesMaskWhatOverhangsAtAnyLevel) {
  Tensor nested = source({5, 6}).tile(symbols({2, 3})).tile(symbols({2, 3}));
  EXPECT_EQ(levels(nested), (std::vector<int64_t>{2, 1, -1, 2, 3, -1, 2, 3}));
  Table table = evaluate(nested);
  // Tile (0, 0), inner tile (0, 2) does not exist: the first level has 3 x 2 tiles.
  auto at = [&](int a, int c, int d, int e, int f) { return table.offsets[(((a * 2 + c) * 3 + d) * 2 + e) * 3 + f]; };
  EXPECT_EQ(at(0, 0, 0, 0, 0), 0);
  EXPECT_EQ(at(0, 0, 1, 1, 2), 11);
  EXPECT_EQ(at(0, 0, 2, 0, 0), -1);
  EXPECT_EQ(at(1, 0, 0, 0, 0), 24);
  EXPECT_EQ(at(1, 0, 0, 1, 0), -1);
  EXPECT_EQ(at(1, 0, 1, 0, 0), 27);
}

TEST(ArrangePad, PaddingDoesNotExist) {
  Tensor padded = source({5}).pad({{1, 2}}).tile(symbols({3}));
  EXPECT_EQ(offsets(padded), (Offsets{-1, 0, 1, 2, 3, 4, -1, -1, -1}));
}

TEST(ArrangeFlatten, RowOverflowDoesNotWrap) {
  EXPECT_EQ(offsets(source({2, 3}).flatten().tile(symbols({4}))), (Offsets{0, 1, 2, 3, 4, 5, -1, -1}));
  Tensor rows = source({2, 3}).tile(symbols({1, 2}));
  EXPECT_EQ(levels(rows.flatten()), (std::vector<int64_t>{4, -1, 1, 2}));
  EXPECT_EQ(offsets(rows.flatten()), (Offsets{0, 1, 2, -1, 3, 4, 5, -1}));
  EXPECT_EQ(levels(rows.ravel()), (std::vector<int64_t>{2, 2, 1, 2}));
  EXPECT_EQ(offsets(rows.ravel()), (Offsets{0, 1, 2, -1, 3, 4, 5, -1}));
}

TEST(ArrangeFlatten, EndIsExclusiveAndNegativeDimensionsCount) {
  EXPECT_EQ(levels(source({2, 3, 4}).flatten(0, 2)), (std::vector<int64_t>{6, 4}));
  EXPECT_EQ(levels(source({2, 3, 4}).flatten(-2)), (std::vector<int64_t>{2, 12}));
  EXPECT_EQ(levels(source({2, 3, 4}).flatten(0, -1)), (std::vector<int64_t>{6, 4}));
}

TEST(ArrangeFlatten, MergedSourceHasTheSameElements) {
  Tensor flat = source({2, 3, 4}).flatten(1).tile(symbols({1, 5})).flatten();
  auto found = flatteningOf(flat);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->dims, (std::vector<int64_t>{0, 1, 2}));
  EXPECT_EQ(found->start, 1u);
  EXPECT_EQ(found->end, 3u);
  Tensor merged = mergeDims(flat, {{0}, {1, 2}});
  EXPECT_EQ(merged.source().shape.size(), 2u);
  EXPECT_EQ(offsets(merged), offsets(flat));
  EXPECT_FALSE(flatteningOf(source({2, 3}).tile(symbols({1, 2})).flatten()));
  EXPECT_FALSE(flatteningOf(source({2, 3})));
}

TEST(ArrangeFlatten, SomeDimensionsAreMerged) {
  Tensor flat = source({2, 3, 4}).flatten().tile(symbols({5}));
  EXPECT_EQ(offsets(mergeDims(flat, {{0}, {1, 2}})), offsets(flat));
  EXPECT_EQ(offsets(mergeDims(flat, {{0, 1}, {2}})), offsets(flat));
  EXPECT_EQ(offsets(mergeDims(flat, {{0, 1, 2}})), offsets(flat));
}

TEST(ArrangeFlatten, PermutedDimensionsAreFound) {
  Tensor flat = source({2, 3, 4}).permute({1, 0, 2}).flatten(1).tile(symbols({1, -1}));
  auto found = flatteningOf(flat);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->dims, (std::vector<int64_t>{1, 0, 2}));
  // Dimensions 0 and 2 are not one in this source: the merged one is another tensor, of the same arrangement.
  Tensor merged = mergeDims(flat, {{1}, {0, 2}});
  EXPECT_EQ(levels(merged), levels(flat));
  EXPECT_EQ(offsets(merged), offsets(source({3, 8}).tile(symbols({1, -1}))));
  EXPECT_FALSE(flatteningOf(source({2, 1}).expand(symbols({2, 5})).flatten()));
}

TEST(ArrangeFlatten, TilesThatNeverLeaveARowAreAffine) {
  Tensor flat = Tensor(Source{}, std::vector<std::optional<Symbol>>(2)).flatten().tile(symbols({8}));
  Symbol tiles = Symbol::plain("tiles_in_a_row");
  auto affine = [](const Tensor &tensor) { return mapTile(tensor, {Symbol::plain("program")}, {}).affine.has_value(); };
  EXPECT_FALSE(affine(flat));
  EXPECT_TRUE(affine(mergeDims(flat, {{0}, {1}}, tiles * 8)));
  EXPECT_TRUE(affine(mergeDims(flat, {{0}, {1}}, tiles * 16)));
  EXPECT_FALSE(affine(mergeDims(flat, {{0}, {1}}, tiles * 4)));
}

TEST(ArrangeExpand, RepeatsDimensionsOfSizeOneAndKeepsOthers) {
  EXPECT_EQ(offsets(source({1, 3}).expand(symbols({4, -1}))), (Offsets{0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2}));
  EXPECT_EQ(offsets(source({2, 1}).expand(symbols({2, 3}))), (Offsets{0, 0, 0, 1, 1, 1}));
}

TEST(ArrangeInner, OperationsActOnTheirLevelOnly) {
  Tensor tiled = source({4, 4}).tile(symbols({2, 2}));
  Tensor flat = tiled, transposed = tiled, deeper = tiled;
  flat.setInner(tiled.inner().flatten());
  EXPECT_EQ(levels(flat), (std::vector<int64_t>{2, 2, -1, 4}));
  EXPECT_EQ(offsets(flat), (Offsets{0, 1, 4, 5, 2, 3, 6, 7, 8, 9, 12, 13, 10, 11, 14, 15}));
  transposed.setInner(tiled.inner().permute({1, 0}));
  EXPECT_EQ(offsets(transposed), (Offsets{0, 4, 1, 5, 2, 6, 3, 7, 8, 12, 9, 13, 10, 14, 11, 15}));
  deeper.setInner(tiled.inner().tile(symbols({1, 2})));
  EXPECT_EQ(levels(deeper), (std::vector<int64_t>{2, 2, -1, 2, 1, -1, 1, 2}));
}

TEST(ArrangeInner, OnlyADescendantReplacesTheElements) {
  Tensor a = source({4}).tile(symbols({2})), b = source({4}).tile(symbols({2}));
  EXPECT_THROW(a.setInner(b.inner().unsqueeze(0)), ArrangementError);
}

TEST(ArrangeDescribe, DiffersWhereTheElementsDo) {
  Tensor x = source({6});
  EXPECT_EQ(describe(x.tile(symbols({2}))), describe(x.tile(symbols({2}))));
  EXPECT_NE(describe(x.tile(symbols({2}))), describe(x.tile(symbols({2}), {}, {}, true)));
  EXPECT_NE(describe(x.pad({{1, 0}})), describe(x.pad({{0, 1}})));
  Tensor square = source({4, 4});
  EXPECT_NE(describe(square.permute({1, 0})), describe(square.permute({0, 1})));
}

TEST(ArrangeBranches, OneTensorManyArrangements) {
  Tensor x = source({6});
  Tensor pairs = x.tile(symbols({2})), triples = x.tile(symbols({3}));
  Tensor nested = pairs.tile(symbols({3}));
  EXPECT_EQ(levels(triples), (std::vector<int64_t>{2, -1, 3}));
  EXPECT_EQ(levels(pairs), (std::vector<int64_t>{3, -1, 2}));
  EXPECT_EQ(levels(nested), (std::vector<int64_t>{1, -1, 3, -1, 2}));
}

TEST(ArrangeSlice, FollowsPython) {
  auto range = [](std::optional<Symbol> start, std::optional<Symbol> stop, std::optional<Symbol> step) {
    return Slice{Slice::Kind::range, start, stop, step};
  };
  auto index = [](int64_t at) { return Slice{Slice::Kind::index, at, {}, {}}; };
  Slice all = range({}, {}, {}), axis{Slice::Kind::newAxis, {}, {}, {}}, dots{Slice::Kind::ellipsis, {}, {}, {}};
  EXPECT_EQ(offsets(source({6}).slice({range(1, 5, 2)})), (Offsets{1, 3}));
  EXPECT_EQ(offsets(source({6}).slice({range({}, {}, -1)})), (Offsets{5, 4, 3, 2, 1, 0}));
  EXPECT_EQ(offsets(source({6}).slice({range(-3, -1, {})})), (Offsets{3, 4}));
  EXPECT_EQ(offsets(source({2, 3}).slice({dots, index(-1)})), (Offsets{2, 5}));
  EXPECT_EQ(offsets(source({2, 3}).slice({index(-2)})), (Offsets{0, 1, 2}));
  EXPECT_EQ(levels(source({2, 3}).slice({axis, all, axis, index(0), axis})), (std::vector<int64_t>{1, 2, 1, 1}));
  EXPECT_EQ(levels(source({2, 3, 4}).slice({index(0), dots})), (std::vector<int64_t>{3, 4}));
  EXPECT_THROW(source({2}).slice({dots, dots}), ArrangementError);
  EXPECT_THROW(source({2}).slice({all, all}), ArrangementError);
}

TEST(ArrangeErrors, RanksAndDimensionsAreChecked) {
  Tensor x = source({2, 3});
  EXPECT_THROW(x.tile(symbols({2})), ArrangementError);
  EXPECT_THROW(x.expand(symbols({-1})), ArrangementError);
  EXPECT_THROW(x.permute({0, 0}), ArrangementError);
  EXPECT_THROW(x.squeeze({0}), ArrangementError);
  EXPECT_THROW(x.expand(symbols({4, -1})), ArrangementError);
  EXPECT_THROW(x.squeeze({2}), ArrangementError);
  EXPECT_THROW(x.unsqueeze(3), ArrangementError);
  EXPECT_THROW(x.inner(), ArrangementError);
  EXPECT_EQ(levels(x.unsqueeze(-1)), (std::vector<int64_t>{2, 3, 1}));
}

TEST(ArrangeSizesOfOne, AreThoseNotKnownOfWhatIsLeftOutOrRepeated) {
  Source source;
  source.name = "x";
  const Tensor x(source, {std::nullopt, Symbol(1)});
  const Symbol rows = x.shape()[0];
  auto ones = x.tile(symbols({4, 1})).squeeze({0}).expand(symbols({7})).sizesOfOne();
  ASSERT_EQ(ones.size(), 1u);
  EXPECT_STREQ(ones[0].operation, "squeeze");
  ones = x.expand(symbols({5, 7})).permute({1, 0}).sizesOfOne();
  ASSERT_EQ(ones.size(), 1u);
  EXPECT_EQ(ones[0].size.str(), rows.str());
  EXPECT_STREQ(ones[0].operation, "expand");
  EXPECT_EQ(ones[0].level, 0u);
  EXPECT_TRUE(x.squeeze({1}).expand({rows}).sizesOfOne().empty());
  Tensor tiled = x.tile({rows, Symbol(1)});
  tiled.setInner(tiled.inner().squeeze({0}));
  ones = tiled.sizesOfOne();
  ASSERT_EQ(ones.size(), 1u);
  EXPECT_EQ(ones[0].level, 1u);
  EXPECT_EQ(ones[0].dim, 0u);
}

struct Matrices {
  Tensor lhs, rhs, out;
};
Matrices matmul(const Tensor &lhs, const Tensor &rhs, const Tensor &out, int64_t m, int64_t n, int64_t k) {
  Tensor c = out.tile(symbols({m, n}));
  Tensor a = lhs.tile(symbols({m, k})).tile(symbols({1, -1})).expand({-1, c.shape()[1]});
  a.setInner(a.inner().squeeze({0}));
  Tensor b = rhs.tile(symbols({k, n})).tile(symbols({-1, 1})).expand({c.shape()[0], -1});
  b.setInner(b.inner().squeeze({1}));
  return {a, b, c};
}

TEST(ArrangePrograms, Matmul) {
  auto [a, b, c] = matmul(source({8, 12}), source({12, 16}), source({8, 16}), 4, 4, 4);
  EXPECT_EQ(levels(a), (std::vector<int64_t>{2, 4, -1, 3, -1, 4, 4}));
  EXPECT_EQ(levels(b), (std::vector<int64_t>{2, 4, -1, 3, -1, 4, 4}));
  EXPECT_EQ(levels(c), (std::vector<int64_t>{2, 4, -1, 4, 4}));
}

TEST(ArrangePrograms, BatchedMatmul) {
  Tensor c = source({2, 8, 16}).tile(symbols({1, 4, 4}));
  c.setInner(c.inner().squeeze({0}));
  Tensor a = source({2, 8, 12}).tile(symbols({1, 4, 4})).tile(symbols({1, 1, -1})).expand({-1, -1, c.shape()[2]});
  a.setInner(a.inner().squeeze({0, 1}));
  Tensor inner = a.inner();
  inner.setInner(inner.inner().squeeze({0}));
  a.setInner(inner);
  EXPECT_EQ(levels(a), (std::vector<int64_t>{2, 2, 4, -1, 3, -1, 4, 4}));
  EXPECT_EQ(levels(c), (std::vector<int64_t>{2, 2, 4, -1, 4, 4}));
}

TEST(ArrangePrograms, ConvolutionIsMatmul) {
  Tensor input = source({1, 2, 4, 4}).tile(symbols({1, 2, 3, 3}), optionals({-1, -1, 1, 1}));
  input = input.squeeze({1});
  input.setInner(input.inner().squeeze({0}));
  input = input.ravel().flatten(0, 3);
  input = input.flatten(1);
  EXPECT_EQ(levels(input), (std::vector<int64_t>{4, 18}));
  Tensor filter = source({3, 2, 3, 3}).flatten(1).permute({1, 0});
  Tensor output = source({1, 3, 2, 2}).permute({0, 2, 3, 1}).flatten(0, 3);
  auto [a, b, c] = matmul(input, filter, output, 2, 2, 4);
  EXPECT_EQ(levels(a), (std::vector<int64_t>{2, 2, -1, 5, -1, 2, 4}));
  EXPECT_EQ(levels(b), (std::vector<int64_t>{2, 2, -1, 5, -1, 4, 2}));
  EXPECT_EQ(levels(c), (std::vector<int64_t>{2, 2, -1, 2, 2}));
}

TEST(ArrangePrograms, Attention) {
  Tensor q = source({2, 4, 100, 64}).tile(symbols({1, 1, 64, -1}));
  q.setInner(q.inner().squeeze({0, 1}));
  Tensor k =
      source({2, 4, 100, 64}).tile(symbols({1, 1, 32, -1})).tile(symbols({1, 1, -1, -1})).expand({-1, -1, q.shape()[2], -1});
  k.setInner(k.inner().squeeze({0, 1, 3}));
  Tensor inner = k.inner();
  inner.setInner(inner.inner().squeeze({0, 1}));
  k.setInner(inner);
  EXPECT_EQ(levels(q), (std::vector<int64_t>{2, 4, 2, 1, -1, 64, 64}));
  EXPECT_EQ(levels(k), (std::vector<int64_t>{2, 4, 2, 1, -1, 4, -1, 32, 64}));
}

TEST(ArrangePrograms, MaxPool) {
  Tensor x = source({1, 3, 8, 8}).tile(symbols({1, 1, 3, 3}), {}, {}, true);
  x = x.ravel().flatten(0, 4).flatten(1).tile(symbols({4, -1}));
  EXPECT_EQ(levels(x), (std::vector<int64_t>{3, 1, -1, 4, 9}));
}

TEST(ArrangePrograms, RotaryInterleaved) {
  Tensor x = source({2, 3, 4, 8})
                 .tile(symbols({1, 1, 1, 4}), optionals({-1, -1, -1, 1}), optionals({1, 1, 1, 2}))
                 .tile(symbols({1, 1, 1, 2}));
  x.setInner(x.inner().squeeze({0, 1, 2}));
  Tensor inner = x.inner();
  inner.setInner(inner.inner().squeeze({0, 1, 2}));
  x.setInner(inner);
  EXPECT_EQ(levels(x), (std::vector<int64_t>{2, 3, 4, 1, -1, 2, -1, 4}));
  Offsets all = offsets(x);
  EXPECT_EQ(Offsets(all.begin(), all.begin() + 8), (Offsets{0, 2, 4, 6, 1, 3, 5, 7}));
}

} // namespace
