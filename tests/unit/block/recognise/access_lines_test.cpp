#include "compiler/block/recognise/access_lines.h"
#include "tests/unit/block/access_kernel.h"
#include <gtest/gtest.h>

using namespace tilery::block;
using tilery::analysis::polynomialOf;

namespace {
struct Lines {
  std::optional<AccessLines> found;
  std::string why;

  explicit Lines(AccessKernel &kernel, llvm::ArrayRef<mlir::Value> live = {}) {
    EXPECT_TRUE(kernel.module);
    if (kernel.module)
      found = linesOf(kernel.access(), live, why);
  }
};
} // namespace

TEST(AccessLines, TakesBoundsApart) {
  AccessKernel kernel(R"(
    %lo = arith.subi %c0, %row overflow<nsw> : i64
    %low = arith.maxsi %lo, %c0 : i64
    %some = arith.cmpi slt, %z, %n : i64
    %high = arith.select %some, %rows, %c0 : i64
    %least = arith.minsi %rows, %high : i64
    %a = tile.access %p, %at steps(%s, %c1) bounds [1, 1](%low, %least, %c0, %c64) : <bf16>, (i64, i64), (i64, i64, i64, i64) -> <128x64xbf16>)");
  Lines lines(kernel);
  ASSERT_TRUE(lines.found) << lines.why;
  ASSERT_EQ(lines.found->lines.size(), 2u);
  const AccessLine &rows = lines.found->lines[0], &columns = lines.found->lines[1];
  IndexPolynomial row = IndexPolynomial(128) * polynomialOf(kernel.result(5)), m = polynomialOf(kernel.argument(2));
  EXPECT_EQ(*rows.lower, IndexPolynomial() - row);
  EXPECT_EQ(*rows.upper, m - row);
  EXPECT_EQ(rows.size, 128);
  EXPECT_FALSE(columns.lower || columns.upper); // they reach as far as the tile
  ASSERT_EQ(lines.found->notBelow.size(), 1u);
  EXPECT_EQ(lines.found->notBelow[0], polynomialOf(kernel.argument(3)) - polynomialOf(kernel.result(6)) - IndexPolynomial(1));
}

TEST(AccessLines, BoundsOfOneLaneAreConditions) {
  AccessKernel kernel(R"(
    %left = arith.subi %n, %z overflow<nsw> : i64
    %a = tile.access %p, %at steps(%t, %s, %c1) bounds [1, 0, 0](%c0, %left) : <bf16>, (i64, i64, i64), (i64, i64) -> <1x128x64xbf16>)");
  Lines lines(kernel);
  ASSERT_TRUE(lines.found) << lines.why;
  EXPECT_EQ(lines.found->lines.size(), 2u);
  EXPECT_EQ(lines.found->lines[0].tile, 1u);
  EXPECT_EQ(lines.found->notBelow.size(), 2u); // 0 <= 0 and 0 < n - z
}

TEST(AccessLines, BlocksAreThereAsAWhole) {
  AccessKernel kernel(R"(
    %c32 = arith.constant 32 : i64
    %first = arith.muli %x, %c64 overflow<nsw> : i64
    %lo = arith.subi %c0, %first overflow<nsw> : i64
    %low = arith.maxsi %lo, %c0 : i64
    %left = arith.subi %m, %first overflow<nsw> : i64
    %high = arith.minsi %left, %c32 : i64
    %a = tile.access %p, %at steps(%s, %c1) bounds [1, 0](%low, %high) : <bf16>, (i64, i64), (i64, i64) -> <128x64xbf16>)");
  IndexPolynomial first = IndexPolynomial(64) * polynomialOf(kernel.result(5)), m = polynomialOf(kernel.argument(2));
  Lines lines(kernel);
  ASSERT_TRUE(lines.found) << lines.why;
  EXPECT_FALSE(lines.found->lines[0].lower);
  EXPECT_EQ(lines.found->lines[0].upper->constant(), 32);
  ASSERT_EQ(lines.found->notBelow.size(), 2u);
  EXPECT_EQ(lines.found->notBelow[0], first);
  EXPECT_EQ(lines.found->notBelow[1], m - first - IndexPolynomial(1));
  ASSERT_EQ(lines.found->multiples.size(), 1u);
  EXPECT_EQ(lines.found->multiples[0], std::pair(m, int64_t(32)));
}

TEST(AccessLines, SaysWhatItCannotTake) {
  for (auto [body, reason] : {
           std::pair(R"(%mask = arith.constant dense<true> : tensor<128x64xi1>
             %a = tile.access %p, %at steps(%s, %c1) bounds [0, 0]() residual %mask : tensor<128x64xi1> : <bf16>, (i64, i64), () -> <128x64xbf16>)",
                     "its mask joins several dimensions"),
           std::pair(R"(%lanes = arith.constant dense<true> : tensor<64xi1>
             %a = tile.access %p, %at steps(%s, %c1) bounds [0, 2](%lanes) : <bf16>, (i64, i64), (tensor<64xi1>) -> <128x64xbf16>)",
                     "its mask is not an interval"),
           std::pair(R"(%high = arith.minsi %rows, %n : i64
             %a = tile.access %p, %at steps(%s, %c1) bounds [1, 0](%c0, %high) : <bf16>, (i64, i64), (i64, i64) -> <128x64xbf16>)",
                     "several bounds meet in one dimension"),
           std::pair(R"(%c48 = arith.constant 48 : i64
             %high = arith.minsi %rows, %c48 : i64
             %a = tile.access %p, %at steps(%s, %c1) bounds [1, 0](%c0, %high) : <bf16>, (i64, i64), (i64, i64) -> <128x64xbf16>)",
                     "several bounds meet in one dimension"), // 128 rows are no number of blocks
           std::pair(R"(%steps = arith.constant dense<0> : tensor<128xi64>
             %a = tile.access %p, %at steps(%steps, %c1) bounds [0, 0]() : <bf16>, (tensor<128xi64>, i64), () -> <128x64xbf16>)",
                     "its addresses are no multiples of a step"),
       }) {
    AccessKernel kernel(body);
    Lines lines(kernel);
    EXPECT_FALSE(lines.found);
    EXPECT_EQ(lines.why, reason);
  }
}

TEST(AccessLines, RowsMayBeginAgainWhereNobodyLooks) {
  AccessKernel kernel(R"(
    %range = tile.range 0 to 128 : tensor<128xi32>
    %range64 = arith.extsi %range : tensor<128xi32> to tensor<128xi64>
    %first = tile.splat %row : i64 -> tensor<128xi64>
    %numbers = arith.addi %first, %range64 overflow<nsw> : tensor<128xi64>
    %all = tile.splat %m : i64 -> tensor<128xi64>
    %wrapped = tile.rem trunc %numbers, %all : tensor<128xi64>
    %stride = tile.splat %s : i64 -> tensor<128xi64>
    %steps = arith.muli %wrapped, %stride overflow<nsw> : tensor<128xi64>
    %a = tile.access %p, %c0 steps(%steps, %c1) bounds [0, 0]() : <bf16>, (tensor<128xi64>, i64), () -> <128x64xbf16>)");
  mlir::Value row = kernel.result(9), rows = kernel.result(10); // rows = m - row
  Lines lines(kernel, {rows, mlir::Value()}), others(kernel, {row, mlir::Value()}), none(kernel);
  ASSERT_TRUE(lines.found) << lines.why;
  EXPECT_EQ(*lines.found->lines[0].rows, polynomialOf(kernel.argument(2)));
  EXPECT_EQ(*lines.found->lines[0].wrapped, polynomialOf(row));
  EXPECT_FALSE(others.found);
  EXPECT_FALSE(none.found);
}
