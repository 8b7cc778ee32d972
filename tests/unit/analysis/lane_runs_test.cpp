// How far places count up by one: positions in the rows of an image.
#include "compiler/analysis/lane_runs.h"
#include "tests/unit/analysis/kernel.h"
#include <gtest/gtest.h>

using tilery::analysis::laneRun;

TEST(LaneRuns, OfPositionsInRows) {
  Kernel kernel(R"(
    tile.kernel @k(%n: i64, %p: i64) {
      %numbers = tile.range 0 to 64 : tensor<64xi32>
      %range = arith.extsi %numbers : tensor<64xi32> to tensor<64xi64>
      %start = tile.splat %p : i64 -> tensor<64xi64>
      %width = arith.constant dense<14> : tensor<64xi64>
      %stride = tile.splat %n : i64 -> tensor<64xi64>
      %two = arith.constant dense<2> : tensor<64xi64>
      %at = arith.addi %range, %start overflow<nsw> : tensor<64xi64>
      %row = tile.div trunc %at, %width : tensor<64xi64>
      %column = tile.rem trunc %at, %width : tensor<64xi64>
      %rows = arith.muli %row, %stride overflow<nsw> : tensor<64xi64>
      %place = arith.addi %rows, %column overflow<nsw> : tensor<64xi64>
      %skipping = arith.muli %column, %two overflow<nsw> : tensor<64xi64>
      %apart = arith.muli %column, %stride overflow<nsw> : tensor<64xi64>
      %any = tile.rem trunc %at, %stride : tensor<64xi64>
      %back = arith.subi %start, %range overflow<nsw> : tensor<64xi64>
      tile.return
    })");
  ASSERT_TRUE(kernel.module);
  EXPECT_EQ(laneRun(kernel.result(6)), INT64_MAX);
  EXPECT_EQ(laneRun(kernel.result(7)), 0) << "rows stay the same";
  EXPECT_EQ(laneRun(kernel.result(8)), 14);
  EXPECT_EQ(laneRun(kernel.result(10)), 14);
  EXPECT_EQ(laneRun(kernel.result(11)), 0);
  EXPECT_EQ(laneRun(kernel.result(12)), 0);
  EXPECT_GT(laneRun(kernel.result(13)), 0) << "a width that the launch brings";
  EXPECT_EQ(laneRun(kernel.result(14)), 0);
  EXPECT_EQ(laneRun(kernel.argument(0)), 0);
}

TEST(LaneRuns, ThroughShapes) {
  Kernel kernel(R"(
    tile.kernel @k() {
      %range = tile.range 0 to 32 : tensor<32xi32>
      %column = tile.reshape %range : tensor<32xi32> -> tensor<32x1xi32>
      %nine = arith.constant dense<9> : tensor<32x1xi32>
      %rest = tile.rem trunc %column, %nine : tensor<32x1xi32>
      %line = tile.reshape %rest : tensor<32x1xi32> -> tensor<32xi32>
      %wide = arith.extsi %line : tensor<32xi32> to tensor<32xi64>
      %grid = tile.broadcast %column : tensor<32x1xi32> -> tensor<32x4xi32>
      tile.return
    })");
  ASSERT_TRUE(kernel.module);
  EXPECT_EQ(laneRun(kernel.result(5)), 9);
  EXPECT_EQ(laneRun(kernel.result(6)), 0) << "lanes of two dimensions";
}

TEST(LaneRuns, EndInLongChains) {
  std::string text = "tile.kernel @k() {\n  %s0 = tile.range 0 to 64 : tensor<64xi32>\n";
  for (int i = 1; i < 3000; ++i) {
    std::string last = "%s" + std::to_string(i - 1);
    text += "  %s" + std::to_string(i) + " = arith.addi " + last + ", " + last + " overflow<nsw> : tensor<64xi32>\n";
  }
  Kernel kernel(text + "  tile.return\n}\n");
  ASSERT_TRUE(kernel.module);
  EXPECT_EQ(laneRun(kernel.result(0)), INT64_MAX);
  for (int i = 1; i < 3000; ++i)
    EXPECT_EQ(laneRun(kernel.result(i)), 0);
}
