// Carried values that only feed themselves go, with what computes them; all others stay.
#include "compiler/passes/dead_carried.h"
#include "tests/unit/targets/cpu/run_kernel.h"

using namespace mlir;
using namespace tilery;
using namespace tilery::test;

namespace {
struct DeadCarried : testing::Test {
  OwningOpRef<ModuleOp> module;
  SmallVector<scf::ForOp> loops; // outer ones last
  /// A kernel whose loops have been cleaned.
  void clean(const std::string &body) {
    module = parseSourceString<ModuleOp>("tile.kernel @k(%x: !tile.ptr<f32>, %n: i32) {\n  %zero = arith.constant 0 : i32\n"
                                         "  %one = arith.constant 1 : i32\n" +
                                             body + "  tile.return\n}\n",
                                         &context());
    ASSERT_TRUE(module);
    removeDeadCarried(*module);
    ASSERT_TRUE(succeeded(verify(*module)));
    loops.clear();
    module->walk([&](scf::ForOp loop) { loops.push_back(loop); });
  }
  unsigned count(StringRef name) {
    unsigned found = 0;
    module->walk([&](Operation *op) { found += op->getName().getStringRef() == name; });
    return found;
  }
};
const char *store =
    "  %p = tile.add_ptr %x, %r#0 : !tile.ptr<f32>, i32\n  %a = tile.pointer_access %p : !tile.ptr<f32> -> <f32>\n"
    "  %v = arith.constant 1.0 : f32\n  tile.store %a, %v : !tile.access<f32>, f32\n";
} // namespace

TEST_F(DeadCarried, WhatOnlyFeedsItselfGoes) {
  clean(
      std::string("  %r:2 = scf.for %i = %zero to %n step %one iter_args(%u = %zero, %d = %one) -> (i32, i32) : i32 {\n"
                  "    %s = arith.addi %u, %i : i32\n    %t = arith.muli %d, %n : i32\n    scf.yield %s, %t : i32, i32\n  }\n") +
      store);
  ASSERT_EQ(loops.size(), 1u);
  EXPECT_EQ(loops[0].getNumResults(), 1u);
  EXPECT_EQ(loops[0].getInitArgs()[0], loops[0]->getParentOfType<tile::KernelOp>().getBody().front().front().getResult(0));
  EXPECT_EQ(count("arith.muli"), 0u);
  EXPECT_EQ(count("arith.addi"), 1u);
}

TEST_F(DeadCarried, WhatALiveValueReadsStays) {
  clean(
      std::string("  %r:2 = scf.for %i = %zero to %n step %one iter_args(%u = %zero, %d = %one) -> (i32, i32) : i32 {\n"
                  "    %s = arith.addi %u, %d : i32\n    %t = arith.muli %d, %n : i32\n    scf.yield %s, %t : i32, i32\n  }\n") +
      store);
  EXPECT_EQ(loops[0].getNumResults(), 2u);
  EXPECT_EQ(count("arith.muli"), 1u);
}

TEST_F(DeadCarried, AValueThatTakesALaterOneStays) {
  clean(std::string(
            "  %r:3 = scf.for %i = %zero to %n step %one iter_args(%u = %zero, %d = %one, %v = %one) -> (i32, i32, i32) : i32 {\n"
            "    %s = arith.addi %u, %v : i32\n    scf.yield %v, %d, %s : i32, i32, i32\n  }\n") +
        store);
  ASSERT_EQ(loops[0].getNumResults(), 2u);
  EXPECT_EQ(loops[0].getYieldedValues()[0], loops[0].getRegionIterArg(1));
}

TEST_F(DeadCarried, WhatAnEffectReadsStays) {
  clean("  %r:2 = scf.for %i = %zero to %n step %one iter_args(%u = %zero, %d = %one) -> (i32, i32) : i32 {\n"
        "    %p = tile.add_ptr %x, %u : !tile.ptr<f32>, i32\n    %a = tile.pointer_access %p : !tile.ptr<f32> -> <f32>\n"
        "    %v = arith.constant 1.0 : f32\n    tile.store %a, %v : !tile.access<f32>, f32\n"
        "    %s = arith.addi %u, %i : i32\n    %t = arith.muli %d, %n : i32\n    scf.yield %s, %t : i32, i32\n  }\n");
  EXPECT_EQ(loops[0].getNumResults(), 1u);
  EXPECT_EQ(count("arith.addi"), 1u);
  EXPECT_EQ(count("arith.muli"), 0u);
  EXPECT_EQ(count("tile.store"), 1u);
}

TEST_F(DeadCarried, InnerLoopsLoseTheirsToo) {
  clean(std::string("  %r:1 = scf.for %i = %zero to %n step %one iter_args(%u = %zero) -> (i32) : i32 {\n"
                    "    %in:2 = scf.for %j = %zero to %n step %one iter_args(%w = %u, %d = %one) -> (i32, i32) : i32 {\n"
                    "      %s = arith.addi %w, %j : i32\n      %t = arith.muli %d, %n : i32\n      scf.yield %s, %t : i32, i32\n"
                    "    }\n    scf.yield %in#0 : i32\n  }\n") +
        store);
  ASSERT_EQ(loops.size(), 2u);
  for (scf::ForOp loop : loops)
    EXPECT_EQ(loop.getNumResults(), 1u);
  EXPECT_EQ(count("arith.muli"), 0u);
}
