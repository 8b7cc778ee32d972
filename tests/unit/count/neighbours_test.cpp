// Neighbours of computed places, in a launch's numbers.
#include "compiler/count/neighbours.h"
#include "tests/unit/analysis/kernel.h"
#include <gtest/gtest.h>

using namespace tilery;

/// Of places whose steps are `%steps : tensor<64xi64>`, which `ops` make of %i (0 to 64), %m and %n.
static bool apart(const std::string &ops, int64_t m, int64_t n) {
  Kernel kernel("tile.kernel @k(%x: !tile.ptr<f32>, %m: i64, %n: i64, %unknown: i64) { %zero = arith.constant 0 : i64\n"
                "%count = tile.range 0 to 64 : tensor<64xi32>\n %i = arith.extsi %count : tensor<64xi32> to tensor<64xi64>\n "
                "%all_m = tile.splat %m : i64 -> tensor<64xi64>\n"
                "%all_n = tile.splat %n : i64 -> tensor<64xi64>\n" +
                ops +
                "\n%place = tile.access %x, %zero steps(%steps) bounds [0]() : <f32>, (tensor<64xi64>), () -> <64xf32>\n"
                "tile.return }");
  count::Scalars scalars;
  scalars.values[scalars.slot(kernel.argument(1))] = {m, true};
  scalars.values[scalars.slot(kernel.argument(2))] = {n, true};
  return count::liesApart(*kernel.body().getOps<tile::AccessOp>().begin(), scalars);
}

static const std::string turned =
    "%r = tile.rem trunc %i, %all_m : tensor<64xi64>\n%q = tile.div trunc %i, %all_m : tensor<64xi64>\n"
    "%far = arith.muli %r, %all_n : tensor<64xi64>\n"
    "%steps = arith.addi %far, %q : tensor<64xi64>";

TEST(Neighbours, LieAsFarAsTheLaunchSays) {
  EXPECT_TRUE(apart(turned, 50, 128));
  EXPECT_TRUE(apart(turned, 5, 128));
  EXPECT_TRUE(apart(turned, 50, -4));
  EXPECT_FALSE(apart(turned, 50, 3));
  EXPECT_FALSE(apart(turned, 50, 1));
  EXPECT_FALSE(apart(turned, 50, 0));
  EXPECT_FALSE(apart(turned, 1, 128)) << "quotients alone count up";
  EXPECT_FALSE(apart("%r = tile.div trunc %i, %all_m : tensor<64xi64>\n%steps = arith.muli %r, %all_n : tensor<64xi64>", 2, 128))
      << "every other pair is one element";
}

TEST(Neighbours, OfNumbersThatAreNotKnownNothingIsSaid) {
  EXPECT_FALSE(apart("%u = tile.splat %unknown : i64 -> tensor<64xi64>\n%steps = arith.muli %i, %u : tensor<64xi64>", 1, 1));
}

TEST(Neighbours, AnyDimensionMayHaveThem) {
  Kernel kernel(R"(tile.kernel @k(%x: !tile.ptr<f32>, %n: i64) {
    %zero = arith.constant 0 : i64
    %one = arith.constant 1 : i64
    %count = tile.range 0 to 8 : tensor<8xi32>
    %i = arith.extsi %count : tensor<8xi32> to tensor<8xi64>
    %all = tile.splat %n : i64 -> tensor<8xi64>
    %apart = arith.muli %i, %all : tensor<8xi64>
    %a = tile.access %x, %zero steps(%apart, %one) bounds [0, 0]() : <f32>, (tensor<8xi64>, i64), () -> <8x16xf32>
    %b = tile.access %x, %zero steps(%apart, %n) bounds [0, 0]() : <f32>, (tensor<8xi64>, i64), () -> <8x16xf32>
    %c = tile.access %x, %zero steps(%n, %n) bounds [0, 0]() : <f32>, (i64, i64), () -> <8x16xf32>
    tile.return })");
  count::Scalars scalars;
  scalars.values[scalars.slot(kernel.argument(1))] = {100, true};
  std::vector<bool> found;
  for (tile::AccessOp place : kernel.body().getOps<tile::AccessOp>())
    found.push_back(count::liesApart(place, scalars));
  EXPECT_EQ(found, (std::vector<bool>{false, true, false})) << "strides alone are said where code is made";
}
