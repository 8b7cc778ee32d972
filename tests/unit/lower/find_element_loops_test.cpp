// Which loops run for a few vectors of elements at a time, so that what they carry stays in registers.
#include "tests/unit/lower/plan.h"

using namespace tilery;
using namespace tilery::test;

namespace {
const cpu::Options disjoint = planOptions("avx2", true);

/// The sum of a window's rounds: a tile of `elements` at %x + `place` in round %i, by the operation `combine` of %s and %v.
std::string sums(int64_t elements, const std::string &place, const std::string &combine, const std::string &rounds = "9") {
  std::string tile = "tensor<" + std::to_string(elements) + "xf32>";
  std::string access = "!tile.access<" + std::to_string(elements) + "xf32>";
  return overRows("  %c9 = arith.constant 9 : i64\n  %start = arith.constant dense<0.0> : " + tile +
                  "\n  %sum = scf.for %i = %zero to %" + (rounds == "9" ? std::string("c9") : rounds) +
                  " step %one iter_args(%s = %start) -> (" + tile + ") : i64 {\n" + place +
                  "    %a = tile.access %x, %p steps(%one) bounds [1] (%zero, %n) : !tile.ptr<f32>, (i64), (i64, i64) -> " +
                  access + "\n    %v = tile.load %a : " + access + " -> " + tile + "\n" + combine + "    scf.yield %t : " + tile +
                  "\n  }\n  %r = tile.access %o, %zero steps(%one) bounds [0] () : !tile.ptr<f32>, (i64), () -> " + access +
                  "\n  tile.store %r, %sum : " + access + ", " + tile + "\n");
}
std::string add(int64_t elements) { return "    %t = arith.addf %s, %v : tensor<" + std::to_string(elements) + "xf32>\n"; }
const std::string next = "    %p = arith.addi %i, %zero overflow<nsw> : i64\n";
const std::string nextPiece = "    %size = arith.constant 256 : i64\n    %p = arith.muli %i, %size overflow<nsw> : i64\n";
const std::string nextRow = "    %p = arith.muli %i, %n overflow<nsw> : i64\n";

bool inRegisters(const std::string &text) {
  std::string steps = stepsOf(text, disjoint);
  EXPECT_NE(steps.find("scf.for"), std::string::npos) << steps;
  return steps.find("scf.for for 8 vectors at a time") != std::string::npos;
}
} // namespace

TEST(FindElementLoops, WindowsThatOverlapAreWalkedInRegisters) {
  EXPECT_TRUE(inRegisters(sums(256, next, add(256))));
  EXPECT_TRUE(inRegisters(sums(256, next, add(256), "n"))) << "however many rounds there are";
}

TEST(FindElementLoops, LargeTilesThatFollowEachOtherAreReadWhole) {
  EXPECT_FALSE(inRegisters(sums(256, nextPiece, add(256))));
  EXPECT_FALSE(inRegisters(sums(256, nextRow, add(256))));
}

TEST(FindElementLoops, TilesThatFitAreWalkedWhateverTheyRead) {
  EXPECT_TRUE(inRegisters(sums(64, nextRow, add(64), "n")));
  EXPECT_FALSE(inRegisters(sums(128, nextRow, add(128), "n")));
}

TEST(FindElementLoops, TilesThatAreReadElsewhereStayInMemory) {
  std::string halves = "    %m = tile.reshape %s : tensor<64xf32> -> tensor<8x8xf32>\n    %w = tile.permute %m [1, 0] : "
                       "tensor<8x8xf32> -> tensor<8x8xf32>\n    %e = tile.reshape %w : tensor<8x8xf32> -> tensor<64xf32>\n"
                       "    %t = arith.addf %e, %v : tensor<64xf32>\n";
  EXPECT_FALSE(inRegisters(sums(64, next, halves)));
}

TEST(FindElementLoops, LoopsThatWriteMemoryAreNotReordered) {
  std::string written = add(64) + "    tile.store %aq, %t : !tile.access<64xf32>, tensor<64xf32>\n";
  EXPECT_FALSE(inRegisters(sums(64, next, written)));
}
