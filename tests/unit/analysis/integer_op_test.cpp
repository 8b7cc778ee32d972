#include "compiler/analysis/integer_op.h"
#include "tests/unit/analysis/kernel.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace tilery;
using analysis::constantOf, analysis::integerOpOf, analysis::IntegerOp, analysis::Wrapping;
using Kind = IntegerOp::Kind;

namespace {
constexpr const char *text = R"(
  tile.kernel @k(%n: i32, %m: i64, %p: !tile.ptr<f32>, %c: i1) {
    %0 = arith.constant 7 : i32
    %1 = arith.constant dense<-3> : tensor<4xi32>
    %2 = arith.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
    %3 = arith.addi %n, %0 overflow<nsw> : i32
    %4 = arith.addi %n, %0 : i32
    %5 = arith.subi %m, %m : i64
    %6 = arith.muli %n, %n overflow<nsw> : i32
    %7 = arith.extsi %n : i32 to i64
    %8 = arith.extsi %c : i1 to i64
    %9 = arith.extui %n : i32 to i64
    %10 = tile.splat %n : i32 -> tensor<4xi32>
    %11 = tile.range 5 to 9 : tensor<4xi32>
    %12 = tile.expand_dims %11 axis 0 : tensor<4xi32> -> tensor<1x4xi32>
    %13 = tile.broadcast %12 : tensor<1x4xi32> -> tensor<2x4xi32>
    %14 = tile.add_ptr %p, %n : !tile.ptr<f32>, i32
    %15 = arith.xori %n, %n : i32
    tile.return
  })";
} // namespace

TEST(IntegerOp, NamesWhatItKnows) {
  Kernel kernel(text);
  ASSERT_TRUE(kernel.module);
  std::vector<Kind> kinds;
  for (unsigned i = 0; i < 16; ++i)
    kinds.push_back(integerOpOf(kernel.result(i)).kind);
  EXPECT_EQ(kinds, (std::vector{Kind::constant, Kind::constant, Kind::opaque, Kind::add, Kind::opaque, Kind::opaque,
                                Kind::multiply, Kind::extend, Kind::opaque, Kind::opaque, Kind::splat, Kind::range, Kind::reindex,
                                Kind::reindex, Kind::add, Kind::opaque}));
  EXPECT_EQ(integerOpOf(kernel.argument(0)).kind, Kind::opaque);
  EXPECT_EQ(integerOpOf(kernel.argument(0)).op, nullptr);
  EXPECT_EQ(integerOpOf(kernel.result(1)).number, -3);
  EXPECT_EQ(integerOpOf(kernel.result(11)).number, 5);
  IntegerOp sum = integerOpOf(kernel.result(3));
  EXPECT_EQ(sum.lhs, kernel.argument(0));
  EXPECT_EQ(sum.rhs, kernel.result(0));
  EXPECT_TRUE(sum.exact);
  IntegerOp moved = integerOpOf(kernel.result(14));
  EXPECT_EQ(moved.lhs, kernel.argument(2));
  EXPECT_EQ(moved.rhs, kernel.argument(0));
}

TEST(IntegerOp, TheCallerSaysWhatMayWrap) {
  Kernel kernel(text);
  ASSERT_TRUE(kernel.module);
  EXPECT_EQ(integerOpOf(kernel.result(4), Wrapping::address).kind, Kind::opaque);
  EXPECT_EQ(integerOpOf(kernel.result(5), Wrapping::address).kind, Kind::subtract);
  EXPECT_EQ(integerOpOf(kernel.result(4), Wrapping::any).kind, Kind::add);
  EXPECT_FALSE(integerOpOf(kernel.result(4), Wrapping::any).exact);
  EXPECT_TRUE(integerOpOf(kernel.result(3), Wrapping::any).exact);
}

TEST(IntegerOp, Constants) {
  Kernel kernel(text);
  ASSERT_TRUE(kernel.module);
  EXPECT_EQ(constantOf(kernel.result(0)), 7);
  EXPECT_EQ(constantOf(kernel.result(1)), -3);
  EXPECT_EQ(constantOf(kernel.result(2)), std::nullopt);
  EXPECT_EQ(constantOf(kernel.argument(0)), std::nullopt);
}
