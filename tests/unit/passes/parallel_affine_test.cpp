// Integers of a parallel body as sums of multiples of its loop variables, as long as nothing wraps.
#include "compiler/passes/parallel_affine.h"
#include "tests/unit/analysis/kernel.h"
#include "compiler/analysis/integer_op.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace tilery;

namespace {
/// %i and %j stand for loop variables of 100 and 10 iterations, %n and %m for values from outside.
struct Body : Kernel {
  explicit Body(const std::string &text)
      : Kernel("tile.kernel @k(%i: i64, %j: i64, %n: i64, %m: i32, %s: i32) {\n  %two = arith.constant 2 : i64\n"
               "  %five = arith.constant 5 : i64\n" +
               text + "  tile.return\n}\n"),
        b(body().getTerminator()), loopVars{argument(0), argument(1)} {}
  std::optional<Affine> read(unsigned number) {
    AffineReader reader = makeReader();
    return reader.read(result(number + 2));
  }
  AffineReader makeReader() {
    AffineReader reader(b, {100, 10}, [&](Value v) { return v == argument(2) || v == argument(3) ? v : Value(); });
    for (unsigned d : {0, 1})
      reader.know(loopVars[d], reader.position(d));
    return reader;
  }
  OpBuilder b;
  SmallVector<Value> loopVars;
};
using Coefficients = SmallVector<int64_t>;
} // namespace

TEST(ParallelAffine, ReadsSumsOfMultiples) {
  Body body(R"(
    %0 = arith.muli %i, %five overflow<nsw> : i64
    %1 = arith.addi %0, %j overflow<nsw> : i64
    %2 = arith.subi %1, %two overflow<nsw> : i64
    %3 = arith.addi %2, %n overflow<nsw> : i64
    %4 = arith.muli %two, %3 overflow<nsw> : i64
  )");
  ASSERT_TRUE(body.module);
  auto form = body.read(3); // 5 i + j + n - 2
  ASSERT_TRUE(form);
  EXPECT_EQ(form->coefficients, (Coefficients{5, 1}));
  EXPECT_EQ(form->base, body.argument(2));
  EXPECT_EQ(form->constant, -2);
  auto twice = body.read(4);
  ASSERT_TRUE(twice);
  EXPECT_EQ(twice->coefficients, (Coefficients{10, 2}));
  EXPECT_EQ(twice->constant, -4);
  EXPECT_TRUE(twice->base.getDefiningOp<arith::MulIOp>());
}

TEST(ParallelAffine, SaysWhichVariableWalks) {
  Body body(R"(
    %0 = arith.addi %j, %n overflow<nsw> : i64
    %1 = arith.muli %j, %two overflow<nsw> : i64
    %2 = arith.addi %i, %j overflow<nsw> : i64
    %3 = arith.subi %n, %j overflow<nsw> : i64
    %4 = arith.subi %n, %five overflow<nsw> : i64
  )");
  ASSERT_TRUE(body.module);
  EXPECT_EQ(body.read(0).value().walks(), 1u);
  EXPECT_FALSE(body.read(1).value().walks()); // by twos
  EXPECT_FALSE(body.read(2).value().walks()); // two at once
  EXPECT_FALSE(body.read(3).value().walks()); // backwards
  EXPECT_EQ(body.read(3).value().coefficients, (Coefficients{0, -1}));
  EXPECT_FALSE(body.read(4).value().walks());
  EXPECT_TRUE(body.read(4).value().isUniform());
  EXPECT_FALSE(body.read(0).value().isUniform());
}

TEST(ParallelAffine, WhatIsNoSumIsNotRead) {
  Body body(R"(
    %0 = arith.muli %i, %j overflow<nsw> : i64
    %1 = arith.muli %i, %n overflow<nsw> : i64
    %2 = arith.xori %i, %j : i64
    %3 = arith.extsi %s : i32 to i64
  )");
  ASSERT_TRUE(body.module);
  for (unsigned number = 0; number < 4; ++number)
    EXPECT_FALSE(body.read(number)) << number;
}

TEST(ParallelAffine, WhatMayWrapIsReadWhereTheExtentsSayThatItDoesNot) {
  Body body(R"(
    %0 = arith.addi %i, %j : i64
    %1 = arith.addi %i, %n : i64
    %2 = arith.constant 9223372036854775707 : i64
    %3 = arith.addi %i, %2 : i64
    %4 = arith.addi %3, %j : i64
    %5 = arith.addi %i, %n overflow<nsw> : i64
  )");
  ASSERT_TRUE(body.module);
  EXPECT_TRUE(body.read(0));
  EXPECT_FALSE(body.read(1)); // of n nothing is known
  EXPECT_TRUE(body.read(3)) << "2^63 - 101 + 99";
  EXPECT_FALSE(body.read(4)) << "2^63 - 101 + 99 + 9";
  EXPECT_TRUE(body.read(5));
}

TEST(ParallelAffine, StartsAreIn64Bits) {
  Body body(R"(
    %0 = arith.extsi %m : i32 to i64
    %1 = arith.addi %0, %j overflow<nsw> : i64
    %2 = arith.addi %1, %five overflow<nsw> : i64
  )");
  ASSERT_TRUE(body.module);
  auto form = body.read(2);
  ASSERT_TRUE(form && form->base);
  EXPECT_TRUE(form->base.getType().isInteger(64));
  auto start = form->start(body.b, body.b.getUnknownLoc()).getDefiningOp<arith::AddIOp>();
  ASSERT_TRUE(start);
  EXPECT_EQ(start.getLhs(), form->base);
  EXPECT_EQ(analysis::constantOf(start.getRhs()), 5);
  form->constant = 0;
  EXPECT_EQ(form->start(body.b, body.b.getUnknownLoc()), form->base);
  form->base = {};
  EXPECT_EQ(analysis::constantOf(form->start(body.b, body.b.getUnknownLoc())), 0);
}

TEST(ParallelAffine, TakesQuotientsApart) {
  Body body(R"(
    %0 = arith.muli %i, %five overflow<nsw> : i64
    %1 = tile.div floor %0, %five : i64
    %2 = tile.rem floor %1, %five : i64
    %3 = tile.div floor %j, %five : i64
    %4 = arith.addi %0, %two overflow<nsw> : i64
    %5 = tile.rem trunc %4, %five : i64
    %6 = arith.subi %0, %five overflow<nsw> : i64
    %7 = tile.div floor %6, %five : i64
  )");
  ASSERT_TRUE(body.module);
  EXPECT_EQ(body.read(1).value().coefficients, (Coefficients{1, 0})); // 5 i / 5
  EXPECT_FALSE(body.read(2));                                         // i % 5: i is part of both
  EXPECT_FALSE(body.read(3));
  auto rest = body.read(5); // (5 i + 2) % 5
  ASSERT_TRUE(rest);
  EXPECT_EQ(rest->coefficients, (Coefficients{0, 0}));
  EXPECT_EQ(rest->constant, 2);
  EXPECT_FALSE(body.read(7)); // may be negative
}

TEST(ParallelAffine, MeansFixedPlacesOnly) {
  Body body("    %0 = arith.muli %i, %five overflow<nsw> : i64\n    %1 = arith.addi %0, %j overflow<nsw> : i64\n");
  ASSERT_TRUE(body.module);
  AffineReader reader = body.makeReader();
  reader.fix(0, 7);
  auto form = reader.read(body.result(3));
  ASSERT_TRUE(form);
  EXPECT_EQ(form->coefficients, (Coefficients{0, 1}));
  EXPECT_EQ(form->constant, 35);
  reader.release(0);
  EXPECT_EQ(reader.read(body.result(3)).value().coefficients, (Coefficients{5, 1}));
}
