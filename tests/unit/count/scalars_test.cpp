// Scalar integers are computed as the oracle computes them.
#include "compiler/count/scalars.h"
#include "tests/unit/analysis/kernel.h"
#include <gtest/gtest.h>

using namespace tilery;

static std::optional<int64_t> computed(const std::string &op, int64_t x, int64_t y, const std::string &type = "i64") {
  Kernel kernel("tile.kernel @k(%x: " + type + ", %y: " + type + ") { %r = " + op + " tile.return }");
  count::Scalars scalars;
  auto step = scalars.step(&kernel.body().front());
  if (!step)
    return std::nullopt;
  scalars.values[scalars.slot(kernel.argument(0))] = {x, true};
  scalars.values[scalars.slot(kernel.argument(1))] = {y, true};
  scalars.run(*step);
  EXPECT_TRUE(scalars.values[step->out].is);
  return scalars.values[step->out].number;
}

TEST(Scalars, DivisionsAreTotal) {
  EXPECT_EQ(computed("tile.div floor %x, %y : i64", -7, 2), -4);
  EXPECT_EQ(computed("tile.div trunc %x, %y : i64", -7, 2), -3);
  EXPECT_EQ(computed("tile.div unsigned %x, %y : i64", -1, 2), INT64_MAX);
  EXPECT_EQ(computed("tile.rem floor %x, %y : i64", -7, 2), 1);
  EXPECT_EQ(computed("tile.rem trunc %x, %y : i64", -7, 2), -1);
  EXPECT_EQ(computed("tile.rem floor %x, %y : i64", 7, -2), -1);
  for (const char *mode : {"floor", "trunc", "unsigned"})
    for (const char *op : {"div", "rem"})
      EXPECT_EQ(computed(std::string("tile.") + op + " " + mode + " %x, %y : i64", 5, 0), 0);
  EXPECT_EQ(computed("tile.div trunc %x, %y : i64", INT64_MIN, -1), INT64_MIN);
  EXPECT_EQ(computed("tile.div trunc %x, %y : i32", INT32_MIN, -1, "i32"), INT32_MIN);
  EXPECT_EQ(computed("tile.div unsigned %x, %y : i32", -1, 2, "i32"), INT32_MAX);
}

TEST(Scalars, Wrap) {
  EXPECT_EQ(computed("arith.addi %x, %y : i32", INT32_MAX, 1, "i32"), INT32_MIN);
  EXPECT_EQ(computed("arith.muli %x, %y : i8", 100, 3, "i8"), 44);
  EXPECT_EQ(computed("arith.extui %x : i8 to i64", -1, 0, "i8"), 255);
  EXPECT_EQ(computed("arith.trunci %x : i64 to i8", 200, 0), -56);
  EXPECT_EQ(computed("arith.cmpi slt, %x, %y : i32", -1, 0, "i32"), -1);
  EXPECT_EQ(computed("arith.cmpi ult, %x, %y : i32", -1, 0, "i32"), 0);
  EXPECT_EQ(computed("arith.extui %x : i1 to i32", -1, 0, "i1"), 1);
}

TEST(Scalars, FloatsAreNone) { EXPECT_EQ(computed("arith.addf %x, %y : f32", 0, 0, "f32"), std::nullopt); }
