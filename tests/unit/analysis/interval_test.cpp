// Ranges of integers from constants, counters and threads.
#include "compiler/analysis/interval.h"
#include "tests/unit/analysis/kernel.h"
#include <gtest/gtest.h>

using namespace mlir;
using tilery::analysis::intervalOf;

namespace {
std::string text(Value value) {
  auto range = intervalOf(value);
  return range ? std::to_string(range->least) + ".." + std::to_string(range->greatest) : "?";
}
} // namespace

TEST(Interval, FollowsCountersAndThreads) {
  Kernel kernel(R"(
    tile.kernel @k(%n: i32) {
      %zero = arith.constant 0 : i32
      %eight = arith.constant 8 : i32
      %three = arith.constant 3 : i32
      tile.threads 64 {
      ^bb0(%t: i32):
        %a = tile.rem floor %t, %eight : i32
        %b = tile.div floor %t, %eight : i32
        %c = tile.rem floor %n, %eight : i32
        %back = tile.rem trunc %n, %eight : i32
        scf.for %i = %zero to %eight step %three : i32 {
          %d = arith.muli %i, %three overflow<nsw> : i32
          %e = arith.subi %d, %a overflow<nsw> : i32
          %f = arith.addi %d, %n overflow<nsw> : i32
          %g = arith.addi %d, %a : i32
        }
        scf.for %i = %zero to %n step %three : i32 {
          %h = arith.addi %i, %three overflow<nsw> : i32
        }
        tile.yield
      }
      tile.return
    })");
  ASSERT_TRUE(kernel.module);
  std::vector<std::string> found;
  kernel.module->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<tilery::tile::RemOp, tilery::tile::DivOp, arith::AddIOp, arith::SubIOp, arith::MulIOp>(op))
      found.push_back(text(op->getResult(0)));
  });
  EXPECT_EQ(found, (std::vector<std::string>{"0..7", "0..7", "0..7", "?", "0..21", "-7..21", "?", "0..28", "3..2147483649"}));
}

TEST(Interval, FollowsTilesProgramsAndBits) {
  Kernel kernel(R"(
    tile.kernel @k(%n: i32) {
      %range = tile.range 3 to 67 : tensor<64xi32>
      %nine = arith.constant dense<9> : tensor<64xi32>
      %a = tile.rem floor %range, %nine : tensor<64xi32>
      %program = tile.program_id 0
      %four = arith.constant 4 : i32
      %b = arith.muli %program, %four overflow<nsw> : i32
      %bits = arith.constant 15 : i32
      %c = arith.andi %n, %bits : i32
      %all = tile.splat %c : i32 -> tensor<64xi32>
      %d = arith.addi %all, %a overflow<nsw> : tensor<64xi32>
      tile.return
    })");
  ASSERT_TRUE(kernel.module);
  EXPECT_EQ(text(kernel.result(0)), "3..66");
  EXPECT_EQ(text(kernel.result(2)), "0..8");
  EXPECT_EQ(text(kernel.result(5)), "0..8589934584");
  EXPECT_EQ(text(kernel.result(7)), "0..15");
  EXPECT_EQ(text(kernel.result(9)), "0..23");
}
