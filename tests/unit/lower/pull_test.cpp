// What an expression reaches and costs, and which memory accesses may touch.
#include "compiler/lower/pull.h"
#include "tests/unit/targets/cpu/run_kernel.h"

using namespace mlir;
using namespace tilery;
using namespace tilery::test;
using lower::MemoryClass;

namespace {
const char *program = R"(
tile.kernel @k(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>, %n: i64, %pp: !tile.ptr<i64>) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %c64 = arith.constant 64 : i64
  %ax = tile.access %x, %zero steps(%one) bounds [1] (%zero, %n) : !tile.ptr<f32>, (i64), (i64, i64) -> !tile.access<64xf32>
  %same = tile.access %x, %zero steps(%one) bounds [1] (%zero, %c64) : !tile.ptr<f32>, (i64), (i64, i64) -> !tile.access<64xf32>
  %next = tile.access %x, %one steps(%one) bounds [1] (%zero, %n) : !tile.ptr<f32>, (i64), (i64, i64) -> !tile.access<64xf32>
  %overlapping = tile.access %x, %zero steps(%one, %one) bounds [0, 1] (%zero, %n) : !tile.ptr<f32>, (i64, i64), (i64, i64) -> !tile.access<4x64xf32>
  %rows = tile.access %x, %zero steps(%c64, %one) bounds [0, 1] (%zero, %n) : !tile.ptr<f32>, (i64, i64), (i64, i64) -> !tile.access<4x64xf32>
  %moved = tile.add_ptr %x, %n : !tile.ptr<f32>, i64
  %am = tile.access %moved, %zero steps(%one) bounds [1] (%zero, %n) : !tile.ptr<f32>, (i64), (i64, i64) -> !tile.access<64xf32>
  %ay = tile.access %y, %zero steps(%one) bounds [1] (%zero, %n) : !tile.ptr<f32>, (i64), (i64, i64) -> !tile.access<64xf32>
  %a = tile.load %ax : !tile.access<64xf32> -> tensor<64xf32>
  %b = tile.load %ay : !tile.access<64xf32> -> tensor<64xf32>
  %sum = arith.addf %a, %b : tensor<64xf32>
  %exp = math.exp %sum : tensor<64xf32>
  %row = tile.expand_dims %exp axis 0 : tensor<64xf32> -> tensor<1x64xf32>
  %wide = tile.broadcast %row : tensor<1x64xf32> -> tensor<4x64xf32>
  %turned = tile.permute %wide [1, 0] : tensor<4x64xf32> -> tensor<64x4xf32>
  %apart = tile.access %x, %zero steps(%c64) bounds [1] (%zero, %n) : !tile.ptr<f32>, (i64), (i64, i64) -> !tile.access<64xf32>
  %columns = tile.access %x, %zero steps(%one, %c64) bounds [0, 1] (%zero, %n) : !tile.ptr<f32>, (i64, i64), (i64, i64) -> !tile.access<4x64xf32>
  %one_for_all = tile.access %x, %zero steps(%zero) bounds [1] (%zero, %n) : !tile.ptr<f32>, (i64), (i64, i64) -> !tile.access<64xf32>
  %i = tile.range 0 to 64 : tensor<64xi32>
  %pointers = tile.splat %x : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
  %chosen = tile.add_ptr %pointers, %i : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
  %ap = tile.pointer_access %chosen : tensor<64x!tile.ptr<f32>> -> <64xf32>
  %ra = tile.load %rows : !tile.access<4x64xf32> -> tensor<4x64xf32>
  %ca = tile.load %columns : !tile.access<4x64xf32> -> tensor<4x64xf32>
  %oa = tile.load %one_for_all : !tile.access<64xf32> -> tensor<64xf32>
  %sa = tile.load %apart : !tile.access<64xf32> -> tensor<64xf32>
  %pa = tile.load %ap : !tile.access<64xf32> -> tensor<64xf32>
  tile.return
})";

struct PullTest : testing::Test {
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(program, &context());
  tile::KernelOp kernel;
  void SetUp() override {
    ASSERT_TRUE(module);
    kernel = *module->getOps<tile::KernelOp>().begin();
  }
  /// The result of the op number `index` of this name.
  Value result(llvm::StringRef name, unsigned index = 0) {
    for (Operation &op : kernel.getBody().front())
      if (op.getName().getStringRef() == name && index-- == 0)
        return op.getResult(0);
    ADD_FAILURE() << "no " << name.str();
    return {};
  }
  Value place(unsigned index) { return result("tile.access", index); }
};
enum Place { AX, Same, Next, Overlapping, Rows, AM, AY };
bool nothing(Value) { return false; }
} // namespace

TEST_F(PullTest, ClassesOfMemory) {
  MemoryClass x = lower::classOfPlace(place(AX)), y = lower::classOfPlace(place(AY));
  EXPECT_EQ(x.kind, MemoryClass::Argument);
  EXPECT_NE(x.which, y.which);
  EXPECT_EQ(lower::classOfPlace(place(AM)).which, x.which) << "a pointer that was moved stays in its argument";
  MemoryClass unknown{MemoryClass::Unknown}, buffer{MemoryClass::Buffer, &x}, other{MemoryClass::Buffer, &y},
      some{MemoryClass::Buffer, nullptr};
  for (bool disjoint : {false, true}) {
    EXPECT_TRUE(lower::mayAlias(x, x, disjoint));
    EXPECT_EQ(lower::mayAlias(x, y, disjoint), !disjoint);
    EXPECT_TRUE(lower::mayAlias(unknown, x, disjoint) && lower::mayAlias(x, unknown, disjoint));
    EXPECT_FALSE(lower::mayAlias(buffer, x, disjoint) || lower::mayAlias(unknown, buffer, disjoint));
    EXPECT_FALSE(lower::mayAlias(buffer, other, disjoint));
    EXPECT_TRUE(lower::mayAlias(buffer, buffer, disjoint) && lower::mayAlias(buffer, some, disjoint));
  }
}

TEST_F(PullTest, SamePatterns) {
  EXPECT_TRUE(lower::samePattern(place(AX), place(AX)));
  EXPECT_TRUE(lower::samePattern(place(AX), place(Same))); // bounds only leave elements out
  EXPECT_FALSE(lower::samePattern(place(AX), place(Next)));
  EXPECT_FALSE(lower::samePattern(place(AX), place(AY)));
  EXPECT_FALSE(lower::samePattern(place(Overlapping), place(Overlapping))) << "rows that lie over each other share addresses";
  EXPECT_TRUE(lower::samePattern(place(Rows), place(Rows)));
}

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

TEST_F(PullTest, CostsGrowWithTheExpression) {
  bool loads = false;
  unsigned sum = lower::costOf(result("arith.addf"), nothing, loads);
  EXPECT_TRUE(loads);
  loads = false;
  unsigned exp = lower::costOf(result("math.exp"), nothing, loads);
  EXPECT_GT(exp, 2 * sum);
  EXPECT_EQ(lower::costOf(result("tile.broadcast"), nothing, loads), exp) << "a change of shape costs nothing";
  loads = false;
  Value stored = result("arith.addf");
  EXPECT_EQ(lower::costOf(result("math.exp"), [&](Value value) { return value == stored; }, loads), exp - sum);
  EXPECT_FALSE(loads);
}

TEST_F(PullTest, LoadsOfLanesThatLieApartCostMore) {
  bool loads = false;
  for (unsigned i = 0; i < 5; ++i) // a, b, rows, columns, one element for all
    EXPECT_EQ(lower::costOf(result("tile.load", i), nothing, loads, 9), 2u) << i;
  EXPECT_EQ(lower::costOf(result("tile.load", 5), nothing, loads, 9), 9u) << "strided";
  EXPECT_GE(lower::costOf(result("tile.load", 6), nothing, loads, 9), 9u) << "by pointers";
}

TEST_F(PullTest, WhatCanBeComputedAgain) {
  for (const char *name : {"tile.load", "arith.addf", "math.exp", "tile.expand_dims", "tile.broadcast", "tile.permute"})
    EXPECT_TRUE(lower::canBeVirtual(result(name).getDefiningOp())) << name;
  EXPECT_FALSE(lower::canBeVirtual(kernel.getBody().front().getTerminator()));
}
