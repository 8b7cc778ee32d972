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
std::string llvmOf(const std::string &text, const char *target = "avx512") {
  cpu::Options options = planOptions(target, true);
  options.wantLLVM = true;
  options.lineTables = false;
  Compiled compiled = compileText(text, options);
  EXPECT_EQ(compiled.errors, "");
  return compiled.code.llvm;
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
