// What is computed once although it is used twice, and what inner loops need not repeat; seen in the code.
#include "tests/unit/lower/plan.h"

using namespace tilery;
using namespace tilery::test;

namespace {
unsigned count(llvm::StringRef text, llvm::StringRef what) { return text.count(what); }

/// q = value of 32 x 64 elements, `value` being made by `body` from %a: tensor<32xf32> and %b: tensor<64xf32>.
std::string overMatrix(const std::string &body) {
  return overRows(
      "  %rows = tile.access %x, %zero steps(%one) bounds [1] (%zero, %n) : !tile.ptr<f32>, (i64), (i64, i64) -> "
      "!tile.access<32xf32>\n"
      "  %a = tile.load %rows : !tile.access<32xf32> -> tensor<32xf32>\n" +
      load("b", "ay") + body +
      "  %to = tile.access %q, %zero steps(%n, %one) bounds [0, 1] (%zero, %n) : !tile.ptr<f32>, (i64, i64), (i64, i64) -> "
      "!tile.access<32x64xf32>\n"
      "  tile.store %to, %value : !tile.access<32x64xf32>, tensor<32x64xf32>\n");
}
} // namespace

TEST(Evaluator, AnExpressionOfTwoSinksIsComputedOnce) {
  auto both = [](const std::string &second) {
    return llvmOf(overRows(load("a", "ax") + load("z", "ay") + apply("b", "math.exp", "%a") + apply("c", "math.exp", second) +
                           store("ao", "b") + store("aq", "c")));
  };
  unsigned one = count(both("%a"), "call contract <16 x float> @llvm.fma"),
           two = count(both("%z"), "call contract <16 x float> @llvm.fma");
  ASSERT_GT(one, 0u);
  EXPECT_EQ(two, 2 * one);
}

TEST(Evaluator, AValueThatIsReadTwiceIsLoadedOnce) {
  std::string once = overRows(load("a", "ax") + apply("b", "arith.negf", "%a") + store("ao", "b"));
  std::string twice =
      overRows(load("a", "ax") + apply("b", "arith.negf", "%a") + apply("c", "arith.mulf", "%a, %b") + store("ao", "c"));
  unsigned loads = count(llvmOf(once), "load <16 x float>");
  ASSERT_GT(loads, 0u);
  EXPECT_EQ(count(llvmOf(twice), "load <16 x float>"), loads);
}

TEST(Evaluator, AColumnIsLoadedAsScalarsOutsideTheInnerLoop) {
  std::string text = llvmOf(overMatrix("  %column = tile.expand_dims %a axis 1 : tensor<32xf32> -> tensor<32x1xf32>\n"
                                       "  %value = tile.broadcast %column : tensor<32x1xf32> -> tensor<32x64xf32>\n"));
  EXPECT_EQ(count(text, "gather"), count(text, "declare {{.*}}gather"));
  EXPECT_NE(text.find("load float, ptr"), std::string::npos) << text;
  EXPECT_EQ(text.find("masked.load.v16f32(ptr"), std::string::npos) << text;
}

TEST(Evaluator, ARowIsLoadedAsVectors) {
  std::string text = llvmOf(overMatrix("  %row = tile.expand_dims %b axis 0 : tensor<64xf32> -> tensor<1x64xf32>\n"
                                       "  %value = tile.broadcast %row : tensor<1x64xf32> -> tensor<32x64xf32>\n"));
  EXPECT_EQ(text.find("gather"), std::string::npos) << text;
  EXPECT_NE(text.find("load <16 x float>"), std::string::npos) << text;
}

TEST(Evaluator, LanesThatDoNotExistAreNotRead) {
  // The store has 64 lanes, the load's own bound is narrower: its lanes are masked one by one, and take `other` elsewhere.
  Compiled k =
      compileText(overRows("  %few = arith.constant 5 : i64\n"
                           "  %some = tile.access %x, %zero steps(%one) bounds [1] (%zero, %few) : !tile.ptr<f32>, (i64), "
                           "(i64, i64) -> !tile.access<64xf32>\n  %none = arith.constant dense<7.0> : tensor<64xf32>\n"
                           "  %a = tile.load %some other %none : tensor<64xf32> : !tile.access<64xf32> -> tensor<64xf32>\n" +
                           store("ao", "a")));
  ASSERT_EQ(k.kernels.size(), 1u) << k.errors;
  std::vector<float> x(5, 1.5f), out(64, 0.0f);
  uint64_t slots[] = {slot(x.data()), slot(x.data()), slot(out.data()), slot(out.data()), slot(64)};
  int64_t grid[] = {1, 1, 1};
  launch(*k.kernels[0], grid, slots, {});
  for (int i = 0; i < 64; ++i)
    EXPECT_EQ(out[i], i < 5 ? 1.5f : 7.0f) << i;
}
