#include "random_layout.h"
#include <gtest/gtest.h>
#include <map>

using namespace tilery::layout;

namespace {
const Axis hardware[] = {Register, Lane, Warp};

Layout matrix8x8() {
  return Layout({{dim(0), 8}, {dim(1), 8}}).add(Register, 2, {0, 1}).add(Lane, 4, {0, 2}).add(Lane, 8, {1, 0});
}

/// Rows of 64 elements of two bytes under the 128-byte swizzle.
Layout swizzled(int64_t rows) {
  Layout result({{dim(0), rows}, {dim(1), 64}});
  result.add(Offset, 8, {0, 1});
  for (int64_t bit : {8, 16, 32})
    result.flip(Offset, {0, bit});
  for (int64_t bit : {1, 2, 4})
    result.flip(Offset, {bit, 8 * bit});
  return result.add(Offset, rows / 8, {8, 0});
}

void expectSameFunction(const Layout &a, const Layout &b) {
  ASSERT_EQ(a.outputs().size(), b.outputs().size());
  forEachPlace(a, [&](llvm::ArrayRef<Layout::Place> place) {
    ASSERT_EQ(a.at(place), b.at(place)) << a.print() << "\n" << b.print();
  });
}
bool sameFunction(const Layout &a, const Layout &b) {
  bool same = true;
  for (Axis axis : hardware)
    same &= a.extent(axis) == b.extent(axis);
  if (same)
    forEachPlace(a, [&](llvm::ArrayRef<Layout::Place> place) { same &= a.at(place) == b.at(place); });
  return same;
}
} // namespace

TEST(Layout, Places) {
  Layout m = matrix8x8();
  EXPECT_EQ(m.at({{Register, 1}, {Lane, 6}}), (Layout::Vector{1, 5}));
  EXPECT_EQ(m.extent(Lane), 32);
  EXPECT_EQ(m.extent(Warp), 1);
  EXPECT_EQ(m.canonical().print(), "register: 2*(0,1); lane: 4*(0,2) 8*(1,0) -> 8x8");
  // A row of 160: five blocks of 32.
  Layout wide = Layout({{dim(0), 160}}).add(Register, 2, {1}).add(Lane, 16, {2}).add(Register, 5, {32});
  EXPECT_EQ(wide.at({{Register, 9}, {Lane, 15}}), (Layout::Vector{159}));
}

TEST(Layout, SwizzlesAreExclusiveOrs) {
  Layout s = swizzled(16);
  for (int64_t row = 0; row < 16; ++row)
    for (int64_t chunk = 0; chunk < 8; ++chunk)
      EXPECT_EQ(s.at({{Offset, row * 64 + chunk * 8 + 3}}), (Layout::Vector{row, (chunk ^ (row % 8)) * 8 + 3}));
  EXPECT_EQ(s.canonical().print(), "offset: 8*(0,1) 2*(0,0)^(0,8) 2*(0,0)^(0,16) 2*(0,0)^(0,32) 2*(1,0)^(0,8) 2*(2,0)^(0,16) "
                                   "2*(4,0)^(0,32) 2*(8,0) -> 16x64");
}

TEST(Layout, EqualityIsThatOfFunctions) {
  EXPECT_EQ(Layout({{dim(0), 6}}).add(Lane, 3, {1}).add(Lane, 2, {3}), Layout({{dim(0), 6}}).add(Lane, 2, {1}).add(Lane, 3, {2}));
  EXPECT_FALSE(Layout({{dim(0), 6}}).add(Lane, 6, {1}) == Layout({{dim(0), 6}}).add(Register, 6, {1}));
  EXPECT_FALSE(Layout({{dim(0), 8}}).add(Lane, 6, {1}) == Layout({{dim(0), 6}}).add(Lane, 6, {1})) << "other outputs";
  RandomLayouts random(1);
  int equal = 0;
  for (int i = 0; i < 3000; ++i) {
    std::vector<Layout::Output> tile{{dim(0), 4 + random.upTo(4)}};
    Layout a = random.any(tile, {Register}), b = random.any(tile, {Register});
    EXPECT_EQ(a == b, sameFunction(a, b)) << a.print() << "\n" << b.print();
    equal += a == b;
    expectSameFunction(a, a.canonical());
  }
  EXPECT_GT(equal, 50);
}

TEST(Layout, InverseOfEveryBijection) {
  RandomLayouts random(2);
  int found = 0;
  for (int i = 0; i < 1000; ++i) {
    bool mixed = random.upTo(1);
    Layout layout = random.bijection(random.tile(), hardware, mixed);
    std::optional<Layout> inverse = invert(layout);
    if (!inverse) {
      // An exclusive or within a number whose digits below are no power of two.
      EXPECT_TRUE(mixed) << layout.print();
      continue;
    }
    ++found;
    forEachPlace(layout, [&](llvm::ArrayRef<Layout::Place> place) {
      Layout::Vector back = inverse->at(named(layout.outputs(), layout.at(place)));
      for (auto [axis, number] : place)
        if (auto output = inverse->output(axis))
          ASSERT_EQ(back[*output], number) << layout.print() << "\n" << inverse->print();
    });
    if (llvm::all_of(layout.outputs(), [](const Layout::Output &o) { return o.extent > 1; })) // others have no digits
      EXPECT_TRUE(*invert(*inverse) == layout) << layout.print();
  }
  EXPECT_GT(found, 900);
}

TEST(Layout, InverseOfCopiesIsTheFirst) {
  Layout rows = Layout({{dim(0), 8}}).add(Lane, 4, {0}).add(Lane, 8, {1});
  EXPECT_EQ(invert(rows)->at({{dim(0), 5}}), (Layout::Vector{20}));
  EXPECT_FALSE(invert(Layout({{dim(0), 8}}).add(Lane, 4, {1}))) << "half of it is nowhere";
  EXPECT_FALSE(invert(Layout({{dim(0), 8}}).add(Lane, 8, {1}).add(Register, 2, {1}))) << "an overlap that is no copy";
  EXPECT_FALSE(invert(Layout({{dim(0), 8}}).flip(Lane, {1}).flip(Lane, {1}).add(Lane, 4, {2}))) << "a singular matrix";
}

TEST(Layout, CompositionIsThatOfFunctions) {
  RandomLayouts random(3);
  int found = 0, complete = 0;
  for (int i = 0; i < 4000; ++i) {
    std::vector<Layout::Output> middle = random.tile(), end{{Offset, 64}, {Axis::Block, 40}};
    std::vector<Axis> axes;
    for (const Layout::Output &output : middle)
      axes.push_back(output.axis);
    bool simple = i % 2;
    Layout inner = simple ? random.bijection(middle, hardware, random.upTo(1)) : random.any(middle, hardware);
    Layout outer = random.any(end, axes);
    bool inside = true;
    for (const Layout::Output &output : middle)
      inside &= outer.extent(output.axis) >= output.extent;
    auto result = compose(outer, inner);
    if (!result)
      continue;
    ++found;
    if (!inside)
      forEachPlace(inner, [&](llvm::ArrayRef<Layout::Place> place) {
        Layout::Vector at = inner.at(place);
        for (size_t d = 0; d < at.size(); ++d)
          ASSERT_LT(at[d], outer.extent(middle[d].axis)) << "a place that there is not";
      });
    forEachPlace(inner, [&](llvm::ArrayRef<Layout::Place> place) {
      ASSERT_EQ(result->at(place), outer.at(named(middle, inner.at(place)))) << outer.print() << "\nof " << inner.print() << "\n"
                                                                             << result->print();
    });
  }
  EXPECT_GT(found, 300);
  // Every bijection has an inverse, and the two compose to the identity.
  for (int i = 0; i < 500; ++i) {
    Layout layout = random.bijection(random.tile(), hardware, random.upTo(1));
    auto inverse = invert(layout);
    auto identity = inverse ? compose(layout, *inverse) : std::nullopt;
    if (!identity)
      continue;
    ++complete;
    forEachPlace(*identity, [&](llvm::ArrayRef<Layout::Place> place) {
      Layout::Vector at = identity->at(place);
      for (auto [axis, number] : place)
        ASSERT_EQ(at[unsigned(axis) - unsigned(Dim0)], number);
    });
  }
  EXPECT_GT(complete, 400);
}

TEST(Layout, CompositionSplitsAndCarriesAsItMust) {
  Layout memory = Layout({{Offset, 64}}).add(dim(0), 3, {1}).add(dim(0), 5, {8});
  Layout inner = Layout({{dim(0), 15}}).add(Lane, 15, {1});
  EXPECT_EQ(compose(memory, inner)->print(), "lane: 3*(1) 5*(8) -> 64");
  EXPECT_FALSE(compose(memory, Layout({{dim(0), 15}}).add(Lane, 5, {2}))) << "0, 2, 4, .. walk askew over threes";
  EXPECT_FALSE(compose(memory, Layout({{dim(0), 15}}).add(Lane, 2, {2}).add(Register, 2, {2}))) << "2 + 2 carries";
  EXPECT_FALSE(compose(memory, Layout({{dim(0), 30}}).add(Lane, 30, {1}))) << "beyond the end";
  Layout s = *invert(swizzled(8));
  Layout column = Layout({{dim(0), 8}, {dim(1), 64}}).add(Lane, 8, {1, 8}); // the chunk of the row's own number
  forEachPlace(column, [&](llvm::ArrayRef<Layout::Place> place) {
    EXPECT_EQ(compose(s, column)->at(place)[0], place[0].second * 64) << "it lies at the row's begin";
  });
}

TEST(Layout, DivisionUndoesProducts) {
  RandomLayouts random(5);
  for (int i = 0; i < 500; ++i) {
    std::vector<Layout::Output> tile = random.tile(), more = random.tile();
    if (tile.size() != more.size())
      continue;
    bool powers = llvm::all_of(tile, [](const Layout::Output &o) { return (o.extent & (o.extent - 1)) == 0; });
    Layout inner = random.bijection(tile, hardware, true), outer = random.bijection(more, hardware, powers && random.upTo(1));
    if (!powers) // flips that are sums may be multiplied by anything
      outer = outer.canonical();
    Layout whole = product(inner, outer);
    forEachPlace(outer, [&](llvm::ArrayRef<Layout::Place> at) {
      std::vector<Layout::Place> place;
      for (auto [axis, number] : at)
        place.push_back({axis, number * inner.extent(axis)});
      Layout::Vector expected = outer.at(at), got = whole.at(place);
      for (size_t d = 0; d < expected.size(); ++d)
        ASSERT_EQ(got[d], expected[d] * tile[d].extent);
    });
    auto rest = divide(whole, inner);
    ASSERT_TRUE(rest) << whole.print() << "\nby " << inner.print();
    EXPECT_TRUE(*rest == outer) << rest->print() << "\n" << outer.print();
    EXPECT_TRUE(product(inner, *rest) == whole);
  }
  EXPECT_EQ(divide(swizzled(320), swizzled(8))->print(), "offset: 40*(1,0) -> 40x1");
  EXPECT_FALSE(divide(swizzled(64), Layout({{dim(0), 8}, {dim(1), 64}}).add(Offset, 64, {0, 1}).add(Offset, 8, {1, 0})));
  EXPECT_FALSE(divide(matrix8x8(), Layout({{dim(0), 1}, {dim(1), 3}}).add(Register, 3, {0, 1})));
}

TEST(Layout, TextsAreReadBack) {
  RandomLayouts random(71);
  for (int i = 0; i < 300; ++i) {
    Layout layout = random.any(random.tile(), hardware);
    std::optional<Layout> again = parse(layout.print());
    ASSERT_TRUE(again) << layout.print();
    EXPECT_EQ(again->print(), layout.print());
  }
  EXPECT_TRUE(parse(swizzled(16).print()) == swizzled(16));
  for (const char *wrong :
       {"", "lane: 4*(1)", "lane: 4*(1) -> ", "lane: 4*(1,0) -> 8", "lane: 4(1) -> 8", "line: 4*(1) -> 8", "lane: 4*(-1) -> 8",
        "lane: 0*(1) -> 8", "lane: 4*(1)^(2) -> 8", "lane: 4*(1) -> 0", "lane: 4*(1) -> 8x"})
    EXPECT_FALSE(parse(wrong)) << wrong;
}

TEST(Layout, DimensionsComeAndGo) {
  Layout m = matrix8x8();
  EXPECT_EQ(slice(m, 0).print(), "register: 2*(1); lane: 4*(2) 8*(0) -> 8"); // lanes with copies stay
  EXPECT_EQ(slice(m, 1).print(), "lane: 4*(0) 8*(1) -> 8");                  // registers with copies vanish
  EXPECT_EQ(expanded(slice(m, 1), 1).print(), "lane: 4*(0,0) 8*(1,0) -> 8x1");
  EXPECT_EQ(permuted(m, {1, 0}), m.transposed());
  Layout cube = expanded(m, 1);
  EXPECT_EQ(permuted(cube, {2, 0, 1}).print(), "register: 2*(1,0,0); lane: 4*(2,0,0) 8*(0,1,0) -> 8x8x1");
  EXPECT_EQ(slice(cube, 1), m);
}

TEST(Layout, OtherShapesHaveTheSameRowMajorNumbers) {
  // Halves of bytes: of the factor's neighbours along k, the registers of which hold one byte.
  Layout factor = *parse("register: 2*(0,1) 2*(8,0) 2*(0,8) 4*(0,16); lane: 4*(0,2) 8*(1,0); warp: 4*(16,0) -> 64x64");
  EXPECT_EQ(slice(*reshaped(factor, {64, 32, 2}), 2).print(),
            "register: 2*(8,0) 8*(0,4); lane: 4*(0,1) 8*(1,0); warp: 4*(16,0) -> 64x32");
  EXPECT_EQ(reshaped(*reshaped(factor, {8, 8, 4, 16}), {64, 64}), factor);
  EXPECT_FALSE(reshaped(*parse("lane: 3*(2) -> 6"), {3, 2})->print().empty());
  EXPECT_FALSE(reshaped(*parse("lane: 2*(1) 3*(2) -> 6"), {2, 3}));  // lane 2 is at (0,2), lane 3 at (1,0)
  EXPECT_FALSE(reshaped(*parse("lane: 2*(0,0)^(0,1) -> 2x2"), {4})); // flipped
  RandomLayouts layouts(23);
  unsigned count = 0;
  for (int i = 0; i < 2000; ++i) {
    Layout layout = layouts.any(layouts.tile(), {Register, Lane, Warp});
    int64_t size = 1;
    for (const Layout::Output &output : layout.outputs())
      size *= output.extent;
    llvm::SmallVector<int64_t> shape;
    for (int64_t left = size; left > 1 || shape.empty();) {
      int64_t each = 1 + layouts.upTo(left - 1);
      if (left % each == 0)
        shape.push_back(each), left /= each;
    }
    std::optional<Layout> other = reshaped(layout, shape);
    if (!other)
      continue;
    ++count;
    forEachPlace(layout, [&](llvm::ArrayRef<Layout::Place> place) {
      int64_t before = 0, now = 0;
      Layout::Vector from = layout.at(place), to = other->at(place);
      for (size_t d = 0; d < from.size(); ++d)
        before = before * layout.outputs()[d].extent + from[d];
      for (size_t d = 0; d < shape.size(); ++d) {
        EXPECT_LT(to[d], shape[d]);
        now = now * shape[d] + to[d];
      }
      ASSERT_EQ(before, now) << layout.print() << " as " << other->print();
    });
  }
  EXPECT_GT(count, 200u);
}

TEST(Layout, PiecesAreWhatEachThreadHasOfThem) {
  Layout sums = *parse("register: 2*(0,1) 2*(8,0) 32*(0,8); lane: 4*(0,2) 8*(1,0); warp: 8*(16,0) -> 128x256");
  EXPECT_EQ(piece(sums, {128, 64})->print(),
            "register: 2*(0,1) 2*(8,0) 8*(0,8); lane: 4*(0,2) 8*(1,0); warp: 8*(16,0) -> 128x64");
  EXPECT_EQ(piece(sums, {128, 256}), sums);
  EXPECT_FALSE(piece(sums, {64, 256})); // half of the warps
  EXPECT_FALSE(piece(sums, {128, 4}));  // half of the lanes
}
