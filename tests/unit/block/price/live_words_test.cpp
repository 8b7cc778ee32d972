#include "compiler/block/price/live_words.h"
#include "tests/unit/analysis/kernel.h"
#include <gtest/gtest.h>

using namespace tilery;
using namespace tilery::block;

namespace {

/// Of tiles of 64 x 64 (4096 words of f32), with the kernel's ops.
unsigned wordsOf(const std::string &body, bool registers = false) {
  Kernel kernel(R"(
    tile.kernel @k(%p: !tile.ptr<f16>, %o: !tile.ptr<f32>) {
      %c0 = arith.constant 0 : i64
      %c1 = arith.constant 1 : i64
      %none = arith.constant dense<0.0> : tensor<64x64xf32>
      %from = tile.access %p, %c0 steps(%c1, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
      %to = tile.access %o, %c0 steps(%c1, %c1) bounds [0, 0]() : <f32>, (i64, i64), () -> <64x64xf32>
      %a = tile.load %from : !tile.access<64x64xf16> -> tensor<64x64xf16>
      )" + body +
                "\n tile.return\n }");
  EXPECT_TRUE(kernel.module);
  tile::KernelOp op = *kernel.module->getOps<tile::KernelOp>().begin();
  return mostLiveWords(op.getBody().front(), [&](tile::DotOp) { return registers; });
}

std::string dot(const std::string &result, const std::string &a, const std::string &acc) {
  return result + " = tile.dot " + a + ", %a, " + acc + " : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>\n";
}
std::string store(const std::string &value) {
  return "tile.store %to, " + value + " : !tile.access<64x64xf32>, tensor<64x64xf32>\n";
}

TEST(LiveWords, SumsAreThereUntilNothingIsComputedFromThem) {
  EXPECT_EQ(wordsOf(dot("%x", "%a", "%none") + store("%x")), 4096u);
  EXPECT_EQ(wordsOf(dot("%x", "%a", "%none") + store("%x") + dot("%y", "%a", "%none") + store("%y")), 4096u);
  EXPECT_EQ(wordsOf(dot("%x", "%a", "%none") + dot("%y", "%a", "%none") + store("%y") + store("%x")), 8192u);
  std::string lazy = "%z = arith.mulf %x, %x : tensor<64x64xf32>\n"; // computed where it is stored
  EXPECT_EQ(wordsOf(dot("%x", "%a", "%none") + lazy + dot("%y", "%a", "%none") + store("%y") + store("%z")), 8192u);
}

TEST(LiveWords, ProductsGoOnInSums) {
  EXPECT_EQ(wordsOf(dot("%x", "%a", "%none") + dot("%y", "%a", "%x") + store("%y")), 4096u);
  std::string scaled = "%z = arith.mulf %x, %x : tensor<64x64xf32>\n";
  EXPECT_EQ(wordsOf(dot("%x", "%a", "%none") + scaled + dot("%y", "%a", "%z") + store("%y")), 4096u);
}

TEST(LiveWords, FactorsInRegistersStandBesideTheSums) {
  std::string low = "%l = arith.truncf %x : tensor<64x64xf32> to tensor<64x64xf16>\n";
  std::string both = dot("%x", "%a", "%none") + low + dot("%y", "%l", "%none") + store("%y");
  EXPECT_EQ(wordsOf(both), 4096u);
  EXPECT_EQ(wordsOf(both, true), 4096u + 2048u);
}

} // namespace
