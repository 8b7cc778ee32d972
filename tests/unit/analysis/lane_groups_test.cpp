// What groups of lanes have to do with each other: places of a convolution's windows.
#include "compiler/analysis/lane_groups.h"
#include "tests/unit/analysis/kernel.h"
#include <gtest/gtest.h>

using namespace mlir;
using tilery::analysis::laneGroups;
using tilery::analysis::LaneGroups;

namespace {
std::string text(Value value, int dim, int64_t width) {
  LaneGroups groups = laneGroups(value, dim, width);
  return std::string(groups.follow ? "follow " : "") + (groups.equal ? "equal " : "") + std::to_string(groups.divisor);
}
} // namespace

TEST(LaneGroups, OfQuotientsAndRemainders) {
  Kernel kernel(R"(
    tile.kernel @k(%n: i32, %aligned: i32 {tile.divisibility = 16 : i64}) {
      %range = tile.range 0 to 64 : tensor<64xi32>
      %eight = arith.constant dense<8> : tensor<64xi32>
      %twelve = arith.constant dense<12> : tensor<64xi32>
      %start = tile.splat %aligned : i32 -> tensor<64xi32>
      %a = arith.addi %range, %start overflow<nsw> : tensor<64xi32>
      %b = tile.div floor %a, %eight : tensor<64xi32>
      %c = tile.rem floor %a, %eight : tensor<64xi32>
      %d = tile.div floor %a, %twelve : tensor<64xi32>
      %e = tile.div trunc %a, %eight : tensor<64xi32>
      %f = arith.muli %b, %twelve overflow<nsw> : tensor<64xi32>
      %g = arith.addi %f, %c overflow<nsw> : tensor<64xi32>
      %any = tile.splat %n : i32 -> tensor<64xi32>
      %h = arith.addi %range, %any overflow<nsw> : tensor<64xi32>
      %i = arith.cmpi slt, %a, %start : tensor<64xi32>
      %j = arith.cmpi slt, %a, %any : tensor<64xi32>
      tile.return
    })");
  ASSERT_TRUE(kernel.module);
  std::vector<std::string> found;
  for (unsigned number : {0, 4, 5, 6, 7, 8, 9, 10, 12, 13, 14})
    found.push_back(text(kernel.result(number), 0, 8));
  EXPECT_EQ(found, (std::vector<std::string>{"follow 8", "follow 8", "equal 1", "follow 8", "1", "1", "equal 4", "follow 4",
                                             "follow 1", "equal 1", "1"}));
  EXPECT_EQ(text(kernel.result(4), 0, 1), "follow equal 1"); // each lane is a group
  EXPECT_EQ(text(kernel.result(3), 0, 8), "equal 16");
}
