// How many elements of a tile one element of a nest takes, and that butterflies store what both halves are taken of.
#include "tests/unit/lower/plan.h"

using namespace tilery;
using namespace tilery::test;

namespace {
const cpu::Options disjoint = planOptions("avx512", true);

/// %result: the pairs of %value replaced by their sums and differences.
std::string butterfly(const std::string &result, const std::string &value) {
  const std::string r = "%" + result;
  return "  " + r + "p = tile.reshape %" + value + " : tensor<64xf32> -> tensor<32x2xf32>\n  " + r + "l, " + r +
         "r = tile.split " + r + "p : tensor<32x2xf32> -> tensor<32xf32>, tensor<32xf32>\n  " + r + "s = arith.addf " + r +
         "l, " + r + "r : tensor<32xf32>\n  " + r + "d = arith.subf " + r + "l, " + r + "r : tensor<32xf32>\n  " + r +
         "j = tile.join " + r + "s, " + r + "d : tensor<32xf32>, tensor<32xf32> -> tensor<32x2xf32>\n  " + r +
         " = tile.reshape " + r + "j : tensor<32x2xf32> -> tensor<64xf32>\n";
}

unsigned definesOf(const std::string &body) {
  std::string steps = stepsOf(overRows(body), disjoint);
  unsigned count = 0;
  for (size_t at = steps.find("define"); at != std::string::npos; at = steps.find("define", at + 1))
    ++count;
  EXPECT_NE(steps.find("store"), std::string::npos) << steps;
  return count;
}
} // namespace

TEST(TakenElements, WhatIsCheapIsComputedForBothHalves) {
  EXPECT_EQ(definesOf(load("a", "ax") + butterfly("b", "a") + store("ao", "b")), 0u);
}

TEST(TakenElements, WhatIsCostlyIsStoredBeforeItIsSplit) {
  std::string costly = load("a", "ax") + apply("e", "math.exp", "%a");
  EXPECT_EQ(definesOf(costly + store("ao", "e")), 0u);
  EXPECT_EQ(definesOf(costly + butterfly("b", "e") + store("ao", "b")), 1u);
}

TEST(TakenElements, OneResultOfASplitIsOneElement) {
  std::string half = load("a", "ax") + apply("e", "math.exp", "%a") + butterfly("b", "e");
  half.resize(half.find("  %bs"));
  half += "  %p = tile.access %o, %zero steps(%one) bounds [0] () : !tile.ptr<f32>, (i64), () -> !tile.access<32xf32>\n"
          "  tile.store %p, %bl : !tile.access<32xf32>, tensor<32xf32>\n";
  EXPECT_EQ(definesOf(half), 0u);
}

/// A store to places that are found by a chain of divisions, which also say where an element exists.
TEST(TakenElements, AnElementsPlaceAndItsBoundAreOneElement) {
  std::string chain = load("a", "ax") + "  %r = tile.range 0 to 64 : tensor<64xi32>\n"
                                        "  %i = arith.extsi %r : tensor<64xi32> to tensor<64xi64>\n"
                                        "  %w = tile.splat %n : i64 -> tensor<64xi64>\n";
  std::string last = "i";
  for (std::string step : {"0", "1", "2"}) {
    std::string q = "%q" + step, left = "%l" + step;
    chain += "  " + q + " = tile.div trunc %" + last + ", %w : tensor<64xi64>\n  " + left + "m = arith.muli " + q +
             ", %w : tensor<64xi64>\n  " + left + " = arith.subi %" + last + ", " + left + "m : tensor<64xi64>\n";
    last = "l" + step;
  }
  chain += "  %exists = arith.cmpi slt, %q2, %w : tensor<64xi64>\n"
           "  %p = tile.access %o, %zero steps(%q2) bounds [2] (%exists) : !tile.ptr<f32>, (tensor<64xi64>), (tensor<64xi1>) -> "
           "!tile.access<64xf32>\n  tile.store %p, %a : !tile.access<64xf32>, tensor<64xf32>\n";
  EXPECT_EQ(definesOf(chain), 0u);
}

TEST(TakenElements, ManyButterfliesStoreEveryFewOfThem) {
  std::string body = load("b0", "ax");
  constexpr unsigned steps = 12;
  for (unsigned i = 0; i < steps; ++i)
    body += butterfly("b" + std::to_string(i + 1), "b" + std::to_string(i));
  unsigned stored = definesOf(body + store("ao", "b" + std::to_string(steps)));
  EXPECT_GE(stored, steps / 3); // each that is not stored doubles the work and the code of the next
  EXPECT_LE(stored, steps);
}
