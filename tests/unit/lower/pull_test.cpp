// What an expression reaches and costs.
#include "compiler/lower/pull.h"
#include "tests/unit/lower/loads_kernel.h"

using namespace mlir;
using namespace tilery;
using namespace tilery::test;

namespace {
struct PullTest : KernelOfLoads {};
bool nothing(Value) { return false; }
} // namespace

TEST_F(PullTest, ReachesDownToLoads) {
  lower::Pull pull;
  pull.add(result("math.exp"), nothing);
  ASSERT_EQ(pull.tiles.size(), 4u); // exp, sum, a, b
  for (auto &[value, reach] : pull.tiles)
    EXPECT_TRUE(reach.sameElement && !reach.spread);
  EXPECT_TRUE(pull.scalars.contains(kernel.getBody().getArgument(0))) << "where the loads read";
  EXPECT_TRUE(pull.scalars.contains(kernel.getBody().getArgument(2))) << "and what bounds them";
}

TEST_F(PullTest, AStoredTileEndsTheWalk) {
  Value sum = result("arith.addf");
  lower::Pull pull;
  pull.add(result("math.exp"), [&](Value value) { return value == sum; });
  EXPECT_EQ(pull.tiles.size(), 2u);
  EXPECT_TRUE(pull.tiles.count(sum));
  EXPECT_FALSE(pull.tiles.count(result("tile.load")));
}

TEST_F(PullTest, BroadcastSpreadsAndPermutationMoves) {
  lower::Pull pull;
  pull.add(result("tile.permute"), nothing);
  EXPECT_FALSE(pull.tiles.find(result("tile.broadcast"))->second.sameElement);
  lower::Pull::Reach exp = pull.tiles.find(result("math.exp"))->second;
  EXPECT_TRUE(exp.spread && !exp.sameElement);
  lower::Pull wide;
  wide.add(result("tile.broadcast"), nothing);
  EXPECT_FALSE(wide.tiles.find(result("tile.broadcast"))->second.spread);
  EXPECT_TRUE(wide.tiles.find(result("tile.expand_dims"))->second.spread);
}

constexpr unsigned noLimit = ~0u;

TEST_F(PullTest, CostsGrowWithTheExpression) {
  unsigned sum = lower::costOf(result("arith.addf"), nothing, noLimit);
  unsigned exp = lower::costOf(result("math.exp"), nothing, noLimit);
  EXPECT_GT(exp, 2 * sum);
  EXPECT_EQ(lower::costOf(result("tile.broadcast"), nothing, noLimit), exp) << "a change of shape costs nothing";
  Value stored = result("arith.addf");
  EXPECT_EQ(lower::costOf(result("math.exp"), [&](Value value) { return value == stored; }, noLimit), exp - sum);
}

TEST_F(PullTest, LongExpressionsAreNotWalked) {
  unsigned asked = 0;
  auto counted = [&](Value) { return ++asked, false; };
  EXPECT_GE(lower::costOf(result("math.exp"), counted, 5), 5u);
  EXPECT_EQ(asked, 0u) << "the function alone costs more";
}

TEST_F(PullTest, LoadsOfLanesThatLieApartCostMore) {
  for (unsigned i = 0; i < 5; ++i) // a, b, rows, columns, one element for all
    EXPECT_EQ(lower::costOf(result("tile.load", i), nothing, noLimit, 9), 2u) << i;
  EXPECT_EQ(lower::costOf(result("tile.load", 5), nothing, noLimit, 9), 9u) << "strided";
  EXPECT_GE(lower::costOf(result("tile.load", 6), nothing, noLimit, 9), 9u) << "by pointers";
}

TEST_F(PullTest, WhatCanBeComputedAgain) {
  for (const char *name : {"tile.load", "arith.addf", "math.exp", "tile.expand_dims", "tile.broadcast", "tile.permute"})
    EXPECT_TRUE(lower::canBeVirtual(result(name).getDefiningOp())) << name;
  EXPECT_FALSE(lower::canBeVirtual(kernel.getBody().front().getTerminator()));
}
