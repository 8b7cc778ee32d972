#include "compiler/analysis/divisor.h"
#include "tests/unit/analysis/kernel.h"
#include <gtest/gtest.h>

using namespace mlir;
using tilery::analysis::divisorOf;

TEST(Divisor, FollowsArithmetic) {
  constexpr const char *text = R"(
    tile.kernel @k(%p: !tile.ptr<f32> {tile.divisibility = 16 : i64}, %n: i32 {tile.divisibility = 16 : i64}, %m: i32) {
      %id = tile.program_id 0
      %c = arith.constant 12 : i32
      %row = arith.muli %id, %n : i32
      %sum = arith.addi %row, %c : i32
      %wide = arith.extsi %sum : i32 to i64
      %least = arith.minsi %n, %m : i32
      %moved = tile.add_ptr %p, %row : !tile.ptr<f32>, i32
      %product = arith.muli %c, %c : i32
      tile.return
    })";
  Kernel kernel(text);
  ASSERT_TRUE(kernel.module);
  std::vector<int64_t> found;
  for (Operation &op : kernel.body().without_terminator())
    found.push_back(divisorOf(op.getResult(0)));
  EXPECT_EQ(found, (std::vector<int64_t>{1, 4, 16, 4, 4, 1, 16, 16}));
  EXPECT_EQ(divisorOf(kernel.argument(0)), 16);
  EXPECT_EQ(divisorOf(kernel.argument(2)), 1);
}

TEST(Divisor, InLoops) {
  const char *text = R"(
    tile.kernel @k(%n: i32 {tile.divisibility = 16 : i64}, %m: i32, %p: !tile.ptr<bf16> {tile.divisibility = 16 : i64}) {
      %c0 = arith.constant 0 : i32
      %c4 = arith.constant 4 : i32
      %c64 = arith.constant 64 : i32
      scf.for %i = %c0 to %m step %c64 iter_args(%from = %n, %at = %p, %odd = %n, %product = %n)
          -> (i32, !tile.ptr<bf16>, i32, i32) : i32 {
        %next = arith.addi %from, %c64 : i32
        %further = tile.add_ptr %at, %c4 : !tile.ptr<bf16>, i32
        %any = arith.addi %odd, %m : i32
        %times = arith.muli %product, %c64 : i32
        scf.yield %next, %further, %any, %times : i32, !tile.ptr<bf16>, i32, i32
      }
      scf.for %i = %m to %n step %c64 : i32 {
      }
      tile.return
    })";
  Kernel kernel(text);
  ASSERT_TRUE(kernel.module);
  std::vector<std::vector<int64_t>> found;
  for (auto loop : kernel.body().getOps<mlir::scf::ForOp>()) {
    found.emplace_back();
    for (mlir::Value argument : loop.getBody()->getArguments())
      found.back().push_back(divisorOf(argument));
  }
  EXPECT_EQ(found, (std::vector<std::vector<int64_t>>{{64, 16, 8, 1, 1}, {1}}));
}

TEST(Divisor, OfPolynomials) {
  Kernel kernel("tile.kernel @k(%n: i32 {tile.divisibility = 16 : i64}, %m: i32) {\n tile.return\n}");
  ASSERT_TRUE(kernel.module);
  using tilery::analysis::IndexPolynomial;
  IndexPolynomial n = IndexPolynomial::of(kernel.argument(0)), m = IndexPolynomial::of(kernel.argument(1));
  EXPECT_EQ(divisorOf(n * m * IndexPolynomial(3)), 16);
  EXPECT_EQ(divisorOf(n * m + IndexPolynomial(-24)), 8);
  EXPECT_EQ(divisorOf(n * n), 256);
  EXPECT_EQ(divisorOf(m), 1);
  EXPECT_EQ(divisorOf(IndexPolynomial()), 256); // 0 is a multiple of anything
}

TEST(Divisor, EndsInLongChains) {
  std::string text = "tile.kernel @k(%n: i64) {\n  %s0 = arith.addi %n, %n : i64\n";
  for (int i = 1; i < 3000; ++i) {
    std::string last = "%s" + std::to_string(i - 1);
    text += "  %s" + std::to_string(i) + " = arith.minsi " + last + ", " + last + " : i64\n";
  }
  Kernel kernel(text + "  tile.return\n}\n");
  ASSERT_TRUE(kernel.module);
  for (int i = 0; i < 3000; ++i)
    EXPECT_EQ(divisorOf(kernel.result(i)), 1);
}
