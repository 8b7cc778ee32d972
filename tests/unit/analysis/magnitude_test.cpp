#include "compiler/analysis/magnitude.h"
#include "tests/unit/analysis/kernel.h"
#include <gtest/gtest.h>

using namespace mlir;
using tilery::analysis::isExact;
using tilery::analysis::magnitudeOf;

TEST(Magnitude, FollowsArithmetic) {
  Kernel kernel(R"(
  tile.kernel @k(%n: i32, %m: i64) {
    %id = tile.program_id 0
    %block = arith.constant 512 : i64
    %minus = arith.constant -512 : i64
    %wide = arith.extsi %id : i32 to i64
    %start = arith.muli %wide, %block : i64
    %back = arith.muli %wide, %minus : i64
    %square = arith.muli %wide, %wide : i64
    %fourth = arith.muli %square, %square : i64
    %sum = arith.addi %start, %m : i64
    %lanes = tile.range 0 to 512 : tensor<512xi32>
    %far = arith.extsi %lanes : tensor<512xi32> to tensor<512xi64>
    %starts = tile.splat %start : i64 -> tensor<512xi64>
    %at = arith.addi %starts, %far : tensor<512xi64>
    %narrow = arith.addi %n, %n : i32
    %of = arith.extsi %narrow : i32 to i64
    %both = arith.subi %of, %back : i64
    tile.return
  })");
  ASSERT_TRUE(kernel.module);
  struct Case {
    int result;
    unsigned magnitude;
    bool exact;
  };
  // Results in order: 4 start, 5 back, 6 square, 7 fourth, 8 sum, 12 at, 13 narrow, 15 both.
  for (Case c : {Case{4, 41, true}, Case{5, 41, true}, Case{6, 62, true}, Case{7, 63, false}, Case{8, 63, false},
                 Case{12, 42, true}, Case{13, 31, false}, Case{15, 42, true}}) {
    EXPECT_EQ(magnitudeOf(kernel.result(c.result)), c.magnitude) << c.result;
    EXPECT_EQ(isExact(kernel.result(c.result)), c.exact) << c.result;
  }
  EXPECT_EQ(magnitudeOf(kernel.result(10)), 10u);
}

TEST(Magnitude, EndsInLongChains) {
  std::string text = "tile.kernel @k(%n: i64) {\n  %s0 = arith.addi %n, %n : i64\n";
  for (int i = 1; i < 3000; ++i)
    text += "  %s" + std::to_string(i) + " = arith.addi %s" + std::to_string(i - 1) + ", %s" + std::to_string(i - 1) + " : i64\n";
  Kernel kernel(text + "  tile.return\n}\n");
  ASSERT_TRUE(kernel.module);
  for (int i = 0; i < 3000; ++i)
    EXPECT_FALSE(isExact(kernel.result(i)));
}
