// Places of windows along K: how far apart neighbours in memory are.
#include "compiler/analysis/lane_strands.h"
#include "tests/unit/analysis/kernel.h"
#include <gtest/gtest.h>

using namespace tilery::analysis;

namespace {
/// K counts columns of windows of 3x3 first, then rows, then channels: steps of `begin` + 64, all not negative.
constexpr const char *channelsOutermost = R"(
    tile.kernel @k(%row: i64, %column: i64, %high: i64) {
      %program = tile.program_id 0
      %p = arith.extsi %program : i32 to i64
      %numbers = tile.range 0 to 64 : tensor<64xi32>
      %range = arith.extsi %numbers : tensor<64xi32> to tensor<64xi64>
      %begin = tile.splat %p : i64 -> tensor<64xi64>
      %k = arith.addi %range, %begin overflow<nsw> : tensor<64xi64>
      %three = arith.constant dense<3> : tensor<64xi64>
      %kw = tile.rem trunc %k, %three : tensor<64xi64>
      %rest = tile.div trunc %k, %three : tensor<64xi64>
      %kh = tile.rem trunc %rest, %three : tensor<64xi64>
      %channel = tile.div trunc %rest, %three : tensor<64xi64>
      %rows = tile.splat %row : i64 -> tensor<64xi64>
      %columns = tile.splat %column : i64 -> tensor<64xi64>
      %down = arith.muli %kh, %rows overflow<nsw> : tensor<64xi64>
      %right = arith.muli %kw, %columns overflow<nsw> : tensor<64xi64>
      %sum = arith.addi %down, %right overflow<nsw> : tensor<64xi64>
      %place = arith.addi %sum, %channel overflow<nsw> : tensor<64xi64>
      %most = tile.splat %high : i64 -> tensor<64xi64>
      %inside = arith.cmpi slt, %kh, %most : tensor<64xi64>
      %early = arith.cmpi slt, %k, %most : tensor<64xi64>
      %line = tile.reshape %inside : tensor<64xi1> -> tensor<1x64xi1>
      %all = tile.broadcast %line : tensor<1x64xi1> -> tensor<32x64xi1>
      %two = arith.constant dense<2> : tensor<64xi64>
      %apart = arith.muli %channel, %two overflow<nsw> : tensor<64xi64>
      tile.return
    })";
} // namespace

TEST(LaneStrands, EveryNinthLane) {
  Kernel kernel(channelsOutermost);
  ASSERT_TRUE(kernel.module);
  auto place = kernel.result(16);
  EXPECT_EQ(growthOver(place, 0, 9), 1);
  EXPECT_EQ(growthOver(place, 0, 18), 2);
  EXPECT_EQ(growthOver(place, 0, 3), std::nullopt);
  EXPECT_EQ(growthOver(kernel.result(9), 0, 9), 0) << "rows of windows";
  EXPECT_EQ(growthOver(kernel.result(23), 0, 9), 2) << "channels are two apart";
  EXPECT_EQ(growthOver(kernel.result(21), 1, 9), 0) << "conditions of a row of windows";
  EXPECT_EQ(growthOver(kernel.result(21), 0, 9), 0) << "another dimension";
  EXPECT_EQ(growthOver(kernel.result(19), 0, 9), std::nullopt);
  auto strands = laneStrands(place, {{kernel.result(21), 1}});
  ASSERT_TRUE(strands);
  EXPECT_EQ(strands->group, 64);
  EXPECT_EQ(strands->period, 9);
  EXPECT_TRUE(strands->undivided.empty());
  EXPECT_FALSE(laneStrands(place, {{kernel.result(19), 0}})) << "lanes of one strand may or may not exist";
  EXPECT_FALSE(laneStrands(kernel.result(23)));
}

TEST(LaneStrands, OfWhatMayBeNegativeNothingIsKnown) {
  Kernel kernel(R"(
    tile.kernel @k(%p: i64) {
      %numbers = tile.range 0 to 64 : tensor<64xi32>
      %range = arith.extsi %numbers : tensor<64xi32> to tensor<64xi64>
      %begin = tile.splat %p : i64 -> tensor<64xi64>
      %k = arith.addi %range, %begin overflow<nsw> : tensor<64xi64>
      %three = arith.constant dense<3> : tensor<64xi64>
      %channel = tile.div trunc %k, %three : tensor<64xi64>
      %floor = tile.div floor %k, %three : tensor<64xi64>
      tile.return
    })");
  ASSERT_TRUE(kernel.module);
  EXPECT_FALSE(growthOver(kernel.result(5), 0, 3));
  EXPECT_EQ(growthOver(kernel.result(6), 0, 3), 1);
}

TEST(LaneStrands, GroupsBetweenMultiplesAndPiecesKnownAtRunTime) {
  Kernel kernel(R"(
    tile.kernel @k(%c: i64, %size: i64, %stride: i64) {
      %program = tile.program_id 0
      %p = arith.extsi %program : i32 to i64
      %length = arith.constant 32 : i64
      %first = arith.muli %p, %length overflow<nsw> : i64
      %numbers = tile.range 0 to 32 : tensor<32xi32>
      %range = arith.extsi %numbers : tensor<32xi32> to tensor<32xi64>
      %begin = tile.splat %first : i64 -> tensor<32xi64>
      %k = arith.addi %range, %begin overflow<nsw> : tensor<32xi64>
      %channels = arith.constant dense<48> : tensor<32xi64>
      %strides = tile.splat %stride : i64 -> tensor<32xi64>
      %channel = tile.rem trunc %k, %channels : tensor<32xi64>
      %window = tile.div trunc %k, %channels : tensor<32xi64>
      %jumps = arith.muli %window, %strides overflow<nsw> : tensor<32xi64>
      %place = arith.addi %jumps, %channel overflow<nsw> : tensor<32xi64>
      %many = tile.splat %c : i64 -> tensor<32xi64>
      %lane = tile.rem trunc %k, %many : tensor<32xi64>
      %piece = tile.div trunc %k, %many : tensor<32xi64>
      %away = arith.muli %piece, %strides overflow<nsw> : tensor<32xi64>
      %at = arith.addi %away, %lane overflow<nsw> : tensor<32xi64>
      %most = tile.splat %size : i64 -> tensor<32xi64>
      %ok = arith.cmpi slt, %piece, %most : tensor<32xi64>
      tile.return
    })");
  ASSERT_TRUE(kernel.module);
  auto groups = laneStrands(kernel.result(13));
  ASSERT_TRUE(groups);
  EXPECT_EQ(groups->group, 16) << "48 channels in steps of 32";
  EXPECT_EQ(groups->period, 1);
  EXPECT_FALSE(growthOver(kernel.result(18), 0, 1)) << "it may jump";
  auto pieces = laneStrands(kernel.result(18), {{kernel.result(20), 0}});
  ASSERT_TRUE(pieces);
  EXPECT_EQ(pieces->group, 32);
  ASSERT_EQ(pieces->undivided.size(), 1u);
  EXPECT_EQ(pieces->undivided[0].numbers, kernel.result(7));
  EXPECT_EQ(pieces->undivided[0].divisor, kernel.result(14));
}
