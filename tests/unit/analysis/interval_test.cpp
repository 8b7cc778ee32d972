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
  EXPECT_EQ(found, (std::vector<std::string>{"0..7", "0..7", "?", "0..21", "-7..21", "?", "?", "?"}));
}
