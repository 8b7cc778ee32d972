// What stays an expression, what is stored, and which sinks share a nest.
#include "tests/unit/lower/plan.h"

using namespace tilery;
using namespace tilery::test;

namespace {
const cpu::Options disjoint = planOptions("avx512", true);
std::string twiceReduced(const std::string &value) { return total("first", value) + total("second", value); }
} // namespace

TEST(Planner, AnElementwiseChainIsOneNest) {
  std::string text = overRows(load("a", "ax") + load("b", "ay") + apply("c", "arith.addf", "%a, %b") +
                              apply("d", "math.exp", "%c") + store("ao", "d"));
  EXPECT_EQ(stepsOf(text, disjoint), "nest 64: store");
  EXPECT_EQ(stepsOf(text), "nest 64: define #0, define #1\nnest 64: store"); // the result may lie over an operand, shifted
}

TEST(Planner, StoresShareANestWhereTheyTouchNoCommonMemory) {
  std::string text = overRows(load("a", "ax") + store("ao", "a") + store("aq", "a"));
  EXPECT_EQ(stepsOf(text, disjoint), "nest 64: store, store");
  EXPECT_EQ(stepsOf(text),
            "nest 64: define #0\nnest 64: store\nnest 64: store"); // the second one must not see what the first one wrote
  EXPECT_EQ(stepsOf(overRows(load("a", "ax") + store("ao", "a") + store("ao", "a")), disjoint), "nest 64: store\nnest 64: store")
      << "two stores to one argument stay in order";
}

TEST(Planner, AScanGoesStraightToMemoryWhereAStoreIsAllThatReadsIt) {
  auto scan = [](const std::string &result, const std::string &value) {
    return "  %" + result + " = tile.scan %" + value +
           " axis 0 {\n  ^bb0(%l: f32, %r: f32):\n    %s = arith.addf %l, %r : f32\n    tile.yield %s : f32\n  } : "
           "tensor<64xf32> "
           "-> tensor<64xf32>\n";
  };
  std::string begin = load("a", "ax") + scan("s", "a");
  EXPECT_EQ(stepsOf(overRows(begin + store("ao", "s")), disjoint), "tile.scan straight to memory");
  EXPECT_EQ(stepsOf(overRows(begin + store("ao", "s"))), "tile.scan\nnest 64: store") << "the result may lie over the operand";
  EXPECT_EQ(stepsOf(overRows(begin + store("ax", "s")), disjoint), "tile.scan\nnest 64: store");
  EXPECT_EQ(stepsOf(overRows(begin + store("ao", "s") + store("aq", "s")), disjoint), "tile.scan\nnest 64: store, store");
  EXPECT_EQ(stepsOf(overRows(begin + apply("t", "arith.addf", "%s, %s") + store("ao", "t")), disjoint),
            "tile.scan\nnest 64: store");
}

TEST(Planner, ScansOfSeveralRowsGoSideBySideAndNotStraight) {
  std::string text =
      "  %a = tile.access %x, %zero steps(%n, %one) bounds [0, 0] () : !tile.ptr<f32>, (i64, i64), () -> "
      "!tile.access<4x64xf32>\n  %b = tile.access %o, %zero steps(%n, %one) bounds [0, 0] () : !tile.ptr<f32>, (i64, "
      "i64), () -> !tile.access<4x64xf32>\n  %v = tile.load %a : !tile.access<4x64xf32> -> tensor<4x64xf32>\n  %s = "
      "tile.scan %v axis 1 {\n  ^bb0(%l: f32, %r: f32):\n    %t = arith.addf %l, %r : f32\n    tile.yield %t : f32\n "
      " } : tensor<4x64xf32> -> tensor<4x64xf32>\n  tile.store %b, %s : !tile.access<4x64xf32>, tensor<4x64xf32>\n";
  EXPECT_EQ(stepsOf(overRows(text), disjoint), "tile.scan\nnest 4 64: store");
}

TEST(Planner, UpdatesAreNestsOfTheirOwnWhereNobodyReadsTheOldValues) {
  auto update = [](const std::string &access) {
    return "  %u" + access + " = tile.atomic_rmw fadd %" + access +
           ", %a : !tile.access<64xf32>, tensor<64xf32> -> tensor<64xf32>\n";
  };
  EXPECT_EQ(stepsOf(overRows(load("a", "ax") + update("ao")), disjoint), "nest 64: update");
  EXPECT_EQ(stepsOf(overRows(load("a", "ax") + update("ao") + update("aq")), disjoint), "nest 64: update\nnest 64: update");
  EXPECT_EQ(stepsOf(overRows(load("a", "ax") + update("ao") + store("aq", "a")), disjoint), "nest 64: update\nnest 64: store");
  EXPECT_EQ(stepsOf(overRows(load("a", "ax") + update("ao") + store("aq", "uao")), disjoint), "tile.atomic_rmw\nnest 64: store");
  EXPECT_EQ(stepsOf(overRows(load("a", "ax") + update("ax") + store("aq", "a")), disjoint),
            "nest 64: define #0\nnest 64: update\nnest 64: store")
      << "what was loaded before is not loaded again behind the update";
}

TEST(Planner, ALoadIsKeptFromWhatOverwritesIt) {
  // t = sum(y); x = y; q = t times the x from before
  auto later = [](const std::string &overwrite) {
    return overRows(load("a", "ax") + load("b", "ay") + overwrite + total("t", "b") +
                    "  %s = tile.splat %t : f32 -> tensor<64xf32>\n" + apply("c", "arith.mulf", "%a, %s") + store("aq", "c"));
  };
  EXPECT_EQ(stepsOf(later(""), disjoint).find("define"), std::string::npos);
  EXPECT_NE(stepsOf(later(store("ax", "b")), disjoint).find("define"), std::string::npos);
  // In one nest every element is read before it is overwritten.
  EXPECT_EQ(stepsOf(overRows(load("a", "ax") + load("b", "ay") + store("ax", "b") + store("aq", "a")), disjoint),
            "nest 64: store, store");
  EXPECT_EQ(stepsOf(overRows(load("a", "ax") + apply("b", "arith.addf", "%a, %a") + store("ax", "b"))), "nest 64: store");
  // Shifted by one, an element is overwritten before it is read.
  std::string shifted =
      overRows("  %next = tile.access %x, %one steps(%one) bounds [1] (%zero, %n) : !tile.ptr<f32>, (i64), (i64, i64) -> "
               "!tile.access<64xf32>\n" +
               load("a", "ax") + store("next", "a"));
  EXPECT_EQ(stepsOf(shifted), "nest 64: define #0\nnest 64: store");
}

TEST(Planner, AnExpressionIsStoredWhereItCostsMoreThanToReadItBack) {
  auto readTwice = [](const std::string &expression) {
    return overRows(load("a", "ax") + expression + total("sum", "b") + "  %s = tile.splat %sum : f32 -> tensor<64xf32>\n" +
                    apply("c", "arith.mulf", "%b, %s") + store("ao", "c"));
  };
  EXPECT_EQ(stepsOf(readTwice(apply("b", "arith.addf", "%a, %a")), disjoint), "nest 64: reduce\nnest 64: store");
  EXPECT_EQ(stepsOf(readTwice(apply("b", "math.exp", "%a")), disjoint), "nest 64: define #0, reduce\nnest 64: store");
}

TEST(Planner, AnExpressionOutsideALoopIsStoredBeforeIt) {
  auto inLoop = [](const std::string &expression) {
    return overRows(load("a", "ax") + expression +
                    "  scf.for %i = %zero to %n step %one : i64 {\n"
                    "    %to = tile.access %o, %i steps(%one) bounds [1] (%zero, %n) : !tile.ptr<f32>, (i64), (i64, i64) -> "
                    "!tile.access<64xf32>\n  " +
                    store("to", "b") + "  }\n");
  };
  EXPECT_EQ(stepsOf(inLoop(apply("b", "arith.addf", "%a, %a")), disjoint), "nest 64: define #0\nscf.for\n  nest 64: store");
  EXPECT_EQ(stepsOf(inLoop("  %b = arith.constant dense<1.0> : tensor<64xf32>\n"), disjoint), "scf.for\n  nest 64: store");
}

TEST(Planner, AnExpressionThatIsBroadcastIsStored) {
  auto broadcast = [](const std::string &expression) {
    return overRows(
        load("a", "ax") + expression +
        "  %row = tile.expand_dims %b axis 0 : tensor<64xf32> -> tensor<1x64xf32>\n"
        "  %wide = tile.broadcast %row : tensor<1x64xf32> -> tensor<32x64xf32>\n"
        "  %to = tile.access %o, %zero steps(%n, %one) bounds [0, 1] (%zero, %n) : !tile.ptr<f32>, (i64, i64), (i64, i64) -> "
        "!tile.access<32x64xf32>\n"
        "  tile.store %to, %wide : !tile.access<32x64xf32>, tensor<32x64xf32>\n");
  };
  EXPECT_EQ(stepsOf(broadcast(apply("b", "math.exp", "%a")), disjoint), "nest 1 64: define #0\nnest 32 64: store");
  EXPECT_EQ(stepsOf(broadcast(apply("b", "arith.addf", "%a, %a")), disjoint), "nest 32 64: store");
}

TEST(Planner, WhatReadsAReductionsResultComesAfterIt) {
  std::string text = overRows(load("a", "ax") + total("sum", "a") + "  %s = tile.splat %sum : f32 -> tensor<64xf32>\n" +
                              apply("b", "arith.divf", "%a, %s") + store("ao", "b"));
  EXPECT_EQ(stepsOf(text, disjoint), "nest 64: reduce\nnest 64: store");
  EXPECT_EQ(stepsOf(overRows(load("a", "ax") + twiceReduced("a") +
                             "  %both = arith.addf %first, %second : f32\n"
                             "  %s = tile.splat %both : f32 -> tensor<64xf32>\n" +
                             store("ao", "s")),
                    disjoint),
            "nest 64: reduce, reduce\nnest 64: store");
}

TEST(Planner, FewRegistersKeepALongExpressionAndARowsReductionApart) {
  std::string text =
      overRows(load("a", "ax") + apply("b", "math.exp", "%a") + total("sum", "b") +
               "  %s = tile.splat %sum : f32 -> tensor<64xf32>\n" + apply("c", "arith.mulf", "%b, %s") + store("ao", "c"));
  EXPECT_EQ(stepsOf(text, planOptions("avx512", true)), "nest 64: define #0, reduce\nnest 64: store");
  EXPECT_EQ(stepsOf(text, planOptions("avx2", true)), "nest 64: define #0\nnest 64: reduce\nnest 64: store");
}

namespace {
std::string loopOf(const std::string &yields) {
  return overRows(
      load("a", "ax") + load("b", "ay") +
      "  %r:2 = scf.for %i = %zero to %n step %one iter_args(%u = %a, %v = %b) -> (tensor<64xf32>, tensor<64xf32>) : i64 {\n" +
      apply("w", "arith.addf", "%u, %v") + "    scf.yield " + yields +
      " : tensor<64xf32>, tensor<64xf32>\n  }\n  tile.store %ao, %r#0 : !tile.access<64xf32>, tensor<64xf32>\n"
      "  tile.store %aq, %r#1 : !tile.access<64xf32>, tensor<64xf32>\n");
}
} // namespace

TEST(Planner, CarriedTilesAreCopiedOnlyWhereTheyChange) {
  // The second tile stays: only the first one is written, at its own elements.
  EXPECT_EQ(stepsOf(loopOf("%w, %v"), disjoint), "scf.for for 8 vectors at a time\n  nest 64: copy #0\nnest 64: store, store");
}

TEST(Planner, CarriedTilesThatChangePlacesNeedNoTemporaryInOneNest) {
  EXPECT_EQ(stepsOf(loopOf("%v, %u"), disjoint),
            "scf.for for 8 vectors at a time\n  nest 64: copy #0, copy #1\nnest 64: store, store");
}

TEST(Planner, FactorsOfAProductInALoopAreReadWhereTheyLie) {
  std::string text = R"(
tile.kernel @k(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>, %o: !tile.ptr<f32>, %n: i64) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %k = arith.constant 64 : i64
  %nothing = arith.constant dense<0.0> : tensor<64x64xf32>
  %numbers = tile.range 0 to 64 : tensor<64xi32>
  %range = arith.extsi %numbers : tensor<64xi32> to tensor<64xi64>
  scf.for %tile = %zero to %n step %one : i64 {
    %number = tile.splat %tile : i64 -> tensor<64xi64>
    %rows = arith.xori %range, %number : tensor<64xi64>
    %sum = tile.contract %n, %nothing {
    ^bb0(%step: i64):
      %at = arith.muli %step, %k : i64
      %ax = tile.access %x, %at steps(%rows, %one) bounds [0, 1] (%zero, %n) : !tile.ptr<f32>, (tensor<64xi64>, i64), (i64, i64) -> !tile.access<64x64xf32>
      %a = tile.load %ax : !tile.access<64x64xf32> -> tensor<64x64xf32>
      %ay = tile.access %y, %at steps(%k, %rows) bounds [0, 1] (%zero, %n) : !tile.ptr<f32>, (i64, tensor<64xi64>), (i64, i64) -> !tile.access<64x64xf32>
      %b = tile.load %ay : !tile.access<64x64xf32> -> tensor<64x64xf32>
      tile.yield %a, %b : tensor<64x64xf32>, tensor<64x64xf32>
    } : tensor<64x64xf32>
    %ao = tile.access %o, %tile steps(%k, %one) bounds [0, 0] () : !tile.ptr<f32>, (i64, i64), () -> !tile.access<64x64xf32>
    tile.store %ao, %sum : !tile.access<64x64xf32>, tensor<64x64xf32>
  }
  tile.return
}
)";
  std::string steps = stepsOf(text, disjoint);
  EXPECT_NE(steps.find("tile.contract"), std::string::npos) << steps;
  EXPECT_EQ(steps.find("define"), std::string::npos) << "the loop repeats the product, and with it the loads: " << steps;
}

// Scales and zero points of quantized weights: one a column, of which a step has 64 rows.
TEST(Planner, WhatAFactorRepeatsIsStoredWhereItIsNotCheap) {
  auto text = [](const std::string &step) {
    return R"(
tile.kernel @k(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>, %s: !tile.ptr<f32>, %o: !tile.ptr<f32>, %n: i64) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %k = arith.constant 64 : i64
  %nothing = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = tile.contract %n, %nothing {
  ^bb0(%step: i64):
    %at = arith.muli %step, %k : i64
    %ax = tile.access %x, %at steps(%n, %one) bounds [0, 0] () : !tile.ptr<f32>, (i64, i64), () -> !tile.access<64x64xf32>
    %a = tile.load %ax : !tile.access<64x64xf32> -> tensor<64x64xf32>
    %ay = tile.access %y, %at steps(%n, %one) bounds [0, 0] () : !tile.ptr<f32>, (i64, i64), () -> !tile.access<64x64xf32>
    %b = tile.load %ay : !tile.access<64x64xf32> -> tensor<64x64xf32>
    %as = tile.access %s, %step steps()" +
           step + R"() bounds [0] () : !tile.ptr<f32>, (i64), () -> !tile.access<64xf32>
    %scales = tile.load %as : !tile.access<64xf32> -> tensor<64xf32>
    %row = tile.expand_dims %scales axis 0 : tensor<64xf32> -> tensor<1x64xf32>
    %all = tile.broadcast %row : tensor<1x64xf32> -> tensor<64x64xf32>
    %scaled = arith.mulf %b, %all : tensor<64x64xf32>
    tile.yield %a, %scaled : tensor<64x64xf32>, tensor<64x64xf32>
  } : tensor<64x64xf32>
  %ao = tile.access %o, %zero steps(%k, %one) bounds [0, 0] () : !tile.ptr<f32>, (i64, i64), () -> !tile.access<64x64xf32>
  tile.store %ao, %sum : !tile.access<64x64xf32>, tensor<64x64xf32>
  tile.return
}
)";
  };
  EXPECT_NE(stepsOf(text("%n"), disjoint).find("define"), std::string::npos) << "elements that lie apart";
  EXPECT_EQ(stepsOf(text("%one"), disjoint).find("define"), std::string::npos)
      << "a load of neighbours is as cheap as that of a copy";
}

TEST(Planner, WhatAJoinRepeatsIsStoredOnce) {
  auto joined = [](const std::string &op) {
    return overRows(
        load("a", "ax") + load("b", "ay") + apply("u", op, "%a") + apply("v", op, "%b") +
        "  %j = tile.join %u, %v : tensor<64xf32>, tensor<64xf32> -> tensor<64x2xf32>\n"
        "  %r = tile.reshape %j : tensor<64x2xf32> -> tensor<128xf32>\n"
        "  %p = tile.access %o, %zero steps(%one) bounds [0] () : !tile.ptr<f32>, (i64), () -> !tile.access<128xf32>\n"
        "  tile.store %p, %r : !tile.access<128xf32>, tensor<128xf32>\n");
  };
  EXPECT_EQ(stepsOf(joined("math.exp"), disjoint), "nest 64: define #0, define #1\nnest 128: store");
  EXPECT_EQ(stepsOf(joined("arith.negf"), disjoint), "nest 128: store") << "cheaper than a store and a load";
}
