// The loops of one nest: whole vectors first, masks only for what is left, code that does not grow with the tile.
#include "tests/unit/lower/plan.h"

using namespace tilery;
using namespace tilery::test;

namespace {
/// o = x + x. `twice`: in two arguments, so that neither store bypasses the cache.
std::string add(int64_t elements, bool bounded, bool twice = false) {
  std::string n = std::to_string(elements), access = "!tile.access<" + n + "xf32>", tensor = "tensor<" + n + "xf32>";
  std::string bounds = bounded ? " bounds [1] (%zero, %n) : !tile.ptr<f32>, (i64), (i64, i64) -> "
                               : " bounds [0] () : !tile.ptr<f32>, (i64), () -> ";
  return "tile.kernel @k(%x: !tile.ptr<f32>, %o: !tile.ptr<f32>, %n: i64, %q: !tile.ptr<f32>) {\n  %zero = arith.constant 0 : "
         "i64\n"
         "  %one = arith.constant 1 : i64\n  %ax = tile.access %x, %zero steps(%one)" +
         bounds + access + "\n  %ao = tile.access %o, %zero steps(%one)" + bounds + access +
         "\n  %a = tile.load %ax : " + access + " -> " + tensor + "\n  %b = arith.addf %a, %a : " + tensor +
         "\n  tile.store %ao, %b : " + access + ", " + tensor + "\n" +
         (twice ? "  %aq = tile.access %q, %zero steps(%one)" + bounds + access + "\n  tile.store %aq, %b : " + access + ", " +
                      tensor + "\n"
                : "") +
         "  tile.return\n}\n";
}
} // namespace

TEST(Nest, AWholeTileNeedsNoMasks) {
  std::string text = llvmOf(add(1024, false, true));
  EXPECT_EQ(text.find("masked"), std::string::npos) << text;
  EXPECT_NE(text.find("load <16 x float>"), std::string::npos) << text;
}

TEST(Nest, OnlyTheLastVectorsOfABoundedTileAreMasked) {
  std::string text = llvmOf(add(1024, true));
  EXPECT_NE(text.find("= load <16 x float>"), std::string::npos) << text;
  EXPECT_NE(text.find("@llvm.masked.load.v16f32"), std::string::npos) << text;
  EXPECT_NE(text.find("@llvm.masked.store.v16f32"), std::string::npos) << text;
}

TEST(Nest, VectorsAreTheTargets) {
  EXPECT_NE(llvmOf(add(1024, false), "avx2").find("load <8 x float>"), std::string::npos);
  EXPECT_EQ(llvmOf(add(1024, false), "avx2").find("<16 x float>"), std::string::npos);
}

TEST(Nest, CodeDoesNotGrowWithTheTile) {
  size_t small = llvmOf(add(1 << 10, true)).size(), large = llvmOf(add(1 << 20, true)).size();
  EXPECT_LT(large, small + small / 10);
}

TEST(Nest, EveryCountOfElementsIsWalkedOnce) {
  for (int64_t elements : {1, 3, 16, 64, 100}) {
    Compiled k = compileText(add(elements, true));
    ASSERT_EQ(k.kernels.size(), 1u) << k.errors;
    for (int64_t n : {int64_t(0), int64_t(1), elements - 1, elements, elements + 5}) {
      std::vector<float> x(elements), out(elements + 1, -1.0f);
      for (int64_t i = 0; i < elements; ++i)
        x[i] = float(i + 1);
      uint64_t slots[] = {slot(x.data()), slot(out.data()), slot(n), 0};
      int64_t grid[] = {1, 1, 1};
      launch(*k.kernels[0], grid, slots, {});
      for (int64_t i = 0; i <= elements; ++i)
        ASSERT_EQ(out[i], i < std::min(n, elements) ? 2.0f * float(i + 1) : -1.0f) << i << " of " << elements << ", " << n;
    }
  }
}

namespace {
/// o[i + j * step] = x[i * 24 + j] for i < m of 32, j of 24: rows are turned into columns.
std::string turn() {
  return R"(tile.kernel @k(%x: !tile.ptr<f32>, %o: !tile.ptr<f32>, %step: i64, %m: i64) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %width = arith.constant 24 : i64
  %ax = tile.access %x, %zero steps(%width, %one) bounds [1, 0] (%zero, %m) : !tile.ptr<f32>, (i64, i64), (i64, i64) -> !tile.access<32x24xf32>
  %ao = tile.access %o, %zero steps(%one, %step) bounds [1, 0] (%zero, %m) : !tile.ptr<f32>, (i64, i64), (i64, i64) -> !tile.access<32x24xf32>
  %a = tile.load %ax : !tile.access<32x24xf32> -> tensor<32x24xf32>
  tile.store %ao, %a : !tile.access<32x24xf32>, tensor<32x24xf32>
  tile.return
}
)";
}
} // namespace

TEST(Nest, WhatIsStoredTurnedIsStoredInVectors) {
  std::string text = llvmOf(turn());
  EXPECT_NE(text.find("store <16 x float>"), std::string::npos) << text;
}

// Columns that overlap are written in the tile's order: the last row wins.
TEST(Nest, WhatIsStoredTurnedHasTheSameLastElements) {
  Compiled k = compileText(turn());
  ASSERT_EQ(k.kernels.size(), 1u) << k.errors;
  for (int64_t step : {40, 32, 31, 16, 3, 1, 0, -1, -31, -32, -33})
    for (int64_t m : {0, 5, 16, 31, 32}) {
      constexpr int64_t origin = 24 * 40;
      std::vector<float> x(32 * 24), out(2 * origin + 32, -1.0f), expected(out);
      for (size_t i = 0; i < x.size(); ++i)
        x[i] = float(i);
      for (int64_t i = 0; i < m; ++i)
        for (int64_t j = 0; j < 24; ++j)
          expected[origin + i + j * step] = x[i * 24 + j];
      uint64_t slots[] = {slot(x.data()), slot(out.data() + origin), slot(step), slot(m)};
      int64_t grid[] = {1, 1, 1};
      launch(*k.kernels[0], grid, slots, {});
      ASSERT_EQ(out, expected) << step << ", " << m;
    }
}
