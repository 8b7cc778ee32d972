// Places that several lanes share: how many, and how far into a group lane 0 is.
#include "compiler/analysis/lane_repeats.h"
#include "tests/unit/analysis/kernel.h"
#include <gtest/gtest.h>

using namespace tilery::analysis;

namespace {
constexpr const char *halves = R"(
    tile.kernel @k() {
      %program = tile.program_id 0
      %size = arith.constant 64 : i32
      %begin = arith.muli %program, %size overflow<nsw> : i32
      %begins = tile.splat %begin : i32 -> tensor<64xi32>
      %range = tile.range 0 to 64 : tensor<64xi32>
      %at = arith.addi %begins, %range overflow<nsw> : tensor<64xi32>
      %two = arith.constant dense<2> : tensor<64xi32>
      %one = arith.constant dense<1> : tensor<64xi32>
      %half = tile.div trunc %at, %two : tensor<64xi32>
      %behind = arith.addi %at, %one overflow<nsw> : tensor<64xi32>
      %next = tile.div trunc %behind, %two : tensor<64xi32>
      %ahead = arith.subi %at, %one overflow<nsw> : tensor<64xi32>
      %toZero = tile.div trunc %ahead, %two : tensor<64xi32>
      %down = tile.div floor %ahead, %two : tensor<64xi32>
      %programs = tile.splat %program : i32 -> tensor<64xi32>
      %anywhere = arith.addi %at, %programs overflow<nsw> : tensor<64xi32>
      %unknown = tile.div floor %anywhere, %two : tensor<64xi32>
      %line = tile.expand_dims %ahead axis 0 : tensor<64xi32> -> tensor<1x64xi32>
      %twos = arith.constant dense<2> : tensor<1x64xi32>
      %lines = tile.div floor %line, %twos : tensor<1x64xi32>
      %flat = tile.reshape %lines : tensor<1x64xi32> -> tensor<64xi32>
      %wide = arith.extsi %flat : tensor<64xi32> to tensor<64xi64>
      %eight = arith.constant dense<8> : tensor<64xi32>
      %eighth = tile.div floor %ahead, %eight : tensor<64xi32>
      %four = arith.constant dense<4> : tensor<64xi32>
      %quarter = tile.div floor %ahead, %four : tensor<64xi32>
      %apart = arith.muli %quarter, %two overflow<nsw> : tensor<64xi32>
      tile.return
    })";

void expect(mlir::Value places, int64_t width, int64_t ahead) {
  LaneRepeats repeats = laneRepeats(places);
  EXPECT_EQ(repeats.width, width);
  EXPECT_EQ(repeats.ahead, ahead);
}
} // namespace

TEST(LaneRepeats, WhereGroupsBegin) {
  Kernel kernel(halves);
  ASSERT_TRUE(kernel.module);
  expect(kernel.result(8), 2, 0);
  expect(kernel.result(10), 2, 1);
  expect(kernel.result(13), 2, 1);
  expect(kernel.result(21), 2, 1);
  expect(kernel.result(23), 8, 7);
}

TEST(LaneRepeats, ElsewhereNothingIsKnown) {
  Kernel kernel(halves);
  ASSERT_TRUE(kernel.module);
  expect(kernel.result(12), 1, 0); // -1 and 0 are one place
  expect(kernel.result(16), 1, 0); // groups begin anywhere
  expect(kernel.result(26), 1, 0); // the next group's place is two further
}
