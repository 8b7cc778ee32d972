// What is the sum of one-dimensional terms, and which; the i64 arithmetic that they are made with.
#include "compiler/passes/separable.h"
#include "tests/unit/analysis/kernel.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace tilery;

namespace {
struct Analysed : Kernel {
  explicit Analysed(const std::string &text)
      : Kernel("tile.kernel @k(%p: !tile.ptr<f32>, %n: i64, %m: i32, %q: !tile.ptr<i32>) {\n" + text + "  tile.return\n}\n") {
    b.setInsertionPoint(body().getTerminator());
  }
  /// Of the result of the op with this attribute, `{test = "name"}`.
  Value named(StringRef name) {
    Value found;
    module->walk([&](Operation *op) {
      if (auto attribute = op->getAttrOfType<StringAttr>("test"); attribute && attribute.getValue() == name)
        found = op->getResult(0);
    });
    EXPECT_TRUE(found) << name.str();
    return found;
  }
  std::optional<Separable> form(StringRef name) { return math.analyse(named(name)); }

  OpBuilder b{&context};
  SeparableAnalysis math{b, UnknownLoc::get(&context)};
};

const std::string plane = R"(
  %c16 = arith.constant dense<16> : tensor<4x2xi32>
  %rows = tile.range 3 to 7 : tensor<4xi32>
  %r1 = tile.expand_dims %rows axis 1 : tensor<4xi32> -> tensor<4x1xi32>
  %r = tile.broadcast %r1 : tensor<4x1xi32> -> tensor<4x2xi32>
  %columns = tile.range 0 to 2 : tensor<2xi32>
  %s1 = tile.expand_dims %columns axis 0 : tensor<2xi32> -> tensor<1x2xi32>
  %s = tile.broadcast %s1 : tensor<1x2xi32> -> tensor<4x2xi32>
)";
} // namespace

TEST(Separable, RowsAndColumnsAreSteps) {
  Analysed k(plane + R"(
  %scaled = arith.muli %r, %c16 overflow<nsw> : tensor<4x2xi32>
  %at = arith.addi %scaled, %s overflow<nsw> : tensor<4x2xi32>
  %base = tile.splat %p : !tile.ptr<f32> -> tensor<4x2x!tile.ptr<f32>>
  %where = tile.add_ptr %base, %at {test = "where"} : tensor<4x2x!tile.ptr<f32>>, tensor<4x2xi32>
  %moved = tile.permute %at [1, 0] {test = "moved"} : tensor<4x2xi32> -> tensor<2x4xi32>
  %none = arith.subi %at, %at overflow<nsw> {test = "none"} : tensor<4x2xi32>
)");
  ASSERT_TRUE(k.module);
  auto form = k.form("where");
  ASSERT_TRUE(form);
  EXPECT_EQ(form->base, k.argument(0));
  EXPECT_EQ(constantOf(form->offset), 48);
  EXPECT_EQ(constantOf(form->steps[0]), 16);
  EXPECT_EQ(constantOf(form->steps[1]), 1);
  EXPECT_FALSE(form->vectors[0] || form->vectors[1] || form->isUniform());
  Separable moved = k.form("moved").value();
  EXPECT_EQ(constantOf(moved.steps[0]), 1);
  EXPECT_EQ(constantOf(moved.steps[1]), 16);
  EXPECT_TRUE(k.form("none").value().isUniform());
  EXPECT_FALSE(k.form("none").value().offset);
}

TEST(Separable, WhatVariesAlongOneDimensionMayBeAnything) {
  Analysed k(plane + R"(
  %squares = arith.muli %r, %r overflow<nsw> {test = "squares"} : tensor<4x2xi32>
  %product = arith.muli %r, %s overflow<nsw> {test = "product"} : tensor<4x2xi32>
  %column = arith.muli %r1, %r1 overflow<nsw> {test = "column"} : tensor<4x1xi32>
  %wide = tile.broadcast %column : tensor<4x1xi32> -> tensor<4x2xi32>
  %sum = arith.addi %wide, %s overflow<nsw> {test = "sum"} : tensor<4x2xi32>
)");
  ASSERT_TRUE(k.module);
  EXPECT_FALSE(k.form("squares")); // of two dimensions, for all that the analysis knows
  EXPECT_FALSE(k.form("product"));
  auto column = k.form("column");
  ASSERT_TRUE(column);
  EXPECT_EQ(column->vectors[0].getType(), RankedTensorType::get({4}, IntegerType::get(&k.context, 64)));
  EXPECT_FALSE(column->steps[0] || column->dependsOn(1));
  auto sum = k.form("sum");
  ASSERT_TRUE(sum);
  EXPECT_TRUE(sum->vectors[0] && !sum->steps[0] && !sum->vectors[1]);
  EXPECT_EQ(constantOf(sum->steps[1]), 1);
}

TEST(Separable, WhatMayWrapIsNotTakenApart) {
  Analysed k(R"(
  %i = tile.range 0 to 8 : tensor<8xi32>
  %far = tile.splat %m : i32 -> tensor<8xi32>
  %exact = arith.addi %i, %far overflow<nsw> {test = "exact"} : tensor<8xi32>
  %wraps = arith.addi %i, %far {test = "wraps"} : tensor<8xi32>
)");
  ASSERT_TRUE(k.module);
  EXPECT_EQ(constantOf(k.form("exact").value().steps[0]), 1);
  EXPECT_FALSE(k.form("exact").value().vectors[0]);
  EXPECT_FALSE(k.form("wraps").value().steps[0]);
  EXPECT_TRUE(k.form("wraps").value().vectors[0]);
}

TEST(Separable, CarriedValuesHaveAClosedForm) {
  Analysed k(R"(
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %ten = arith.constant 10 : i64
  %five = arith.constant 5 : i64
  %seven = arith.constant 7 : i64
  %r:2 = scf.for %i = %zero to %ten step %one iter_args(%u = %seven, %v = %seven) -> (i64, i64) : i64 {
    %next = arith.addi %u, %five overflow<nsw> : i64
    %odd = arith.muli %v, %five overflow<nsw> : i64
    %here = arith.addi %u, %zero overflow<nsw> {test = "here"} : i64
    scf.yield %next, %odd : i64, i64
  }
  %after = arith.addi %r#0, %zero overflow<nsw> {test = "after"} : i64
  %grown = arith.addi %r#1, %zero overflow<nsw> {test = "grown"} : i64
  %e = scf.for %i = %ten to %zero step %one iter_args(%u = %seven) -> (i64) : i64 {
    %next = arith.addi %u, %five overflow<nsw> : i64
    scf.yield %next : i64
  }
  %empty = arith.addi %e, %zero overflow<nsw> {test = "empty"} : i64
)");
  ASSERT_TRUE(k.module);
  EXPECT_EQ(constantOf(k.form("after").value().offset), 57);
  EXPECT_EQ(constantOf(k.form("empty").value().offset), 7);
  EXPECT_FALSE(constantOf(k.form("grown").value().offset));
  Operation *here = k.named("here").getDefiningOp();
  OpBuilder inside(here);
  SeparableAnalysis math(inside, here->getLoc());
  auto form = math.analyse(here->getOperand(0)); // 7 + 5 i
  ASSERT_TRUE(form && form->offset);
  auto sum = form->offset.getDefiningOp<arith::AddIOp>();
  ASSERT_TRUE(sum);
  EXPECT_EQ(constantOf(sum.getLhs()), 7);
  auto product = sum.getRhs().getDefiningOp<arith::MulIOp>();
  ASSERT_TRUE(product);
  EXPECT_TRUE(constantOf(product.getLhs()) == 5 || constantOf(product.getRhs()) == 5);
}

TEST(Separable, ArithmeticFolds) {
  Analysed k("");
  Value n = k.argument(1);
  auto c = [&](int64_t value) { return k.math.constant(value); };
  EXPECT_EQ(k.math.add({}, n), n);
  EXPECT_EQ(constantOf(k.math.add(c(3), c(4))), 7);
  EXPECT_FALSE(k.math.add(c(3), c(-3)));
  EXPECT_FALSE(k.math.sub(n, n));
  EXPECT_FALSE(k.math.mul(n, c(0)));
  EXPECT_EQ(k.math.mul(c(1), n), n);
  EXPECT_EQ(k.math.min(n, n), n);
  EXPECT_EQ(constantOf(k.math.max({}, c(-2))), 0);
  for (int64_t x : {-7, -6, -1, 0, 1, 6, 7})
    for (int64_t y : {1, 2, 3, 8})
      EXPECT_EQ(constantOf(k.math.ceilDiv(c(x), y)), int64_t(std::ceil(double(x) / double(y)))) << x << " " << y;
  Value difference = k.math.sub(n, c(9)), negated = k.math.sub({}, difference); // 9 - n
  ASSERT_TRUE(negated.getDefiningOp<arith::SubIOp>());
  EXPECT_EQ(negated.getDefiningOp<arith::SubIOp>().getRhs(), n);
}
