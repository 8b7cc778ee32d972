#include "compiler/block/recognise/find_boxes.h"
#include "tests/unit/block/access_kernel.h"
#include <gtest/gtest.h>

using namespace tilery::block;
using tilery::analysis::polynomialOf;

namespace {
/// The box as plans show it, or why there is none.
std::string shown(AccessKernel &kernel) {
  if (!kernel.module)
    return "no module";
  std::string text;
  std::optional<Box> box = findBox(kernel.access(), text);
  if (!box)
    return text;
  text.clear();
  llvm::raw_string_ostream stream(text);
  box->print(stream);
  for (const BoxCondition &condition : box->conditions) {
    stream << "; ";
    print(condition, stream);
  }
  return text;
}
std::string shown(const std::string &body) {
  AccessKernel kernel(body);
  return shown(kernel);
}
/// Of 128 rows of 64 elements: `place` makes %offset.
std::string rowsAt(const std::string &place, const std::string &bounds = "[1, 0](%c0, %rows)",
                   const std::string &types = "i64, i64") {
  return shown(place + "\n%a = tile.access %p, %offset steps(%s, %c1) bounds " + bounds + " : <bf16>, (i64, i64), (" + types +
               ") -> <128x64xbf16>");
}
} // namespace

TEST(FindBoxes, RowsAndColumns) {
  EXPECT_EQ(rowsAt("%offset = arith.addi %at, %c64 overflow<nsw> : i64"),
            "64 + p, rank 2: [128 * program 0, 0] of [m, ..], strides [s, 1]; 1 <= m; 1 <= s");
}

TEST(FindBoxes, OtherStridesAreCoordinates) {
  EXPECT_EQ(rowsAt(R"(%b = arith.muli %z, %t overflow<nsw> : i64
    %b2 = arith.muli %b, %c3 overflow<nsw> : i64
    %area = arith.muli %m, %s overflow<nsw> : i64
    %c = arith.muli %x, %area overflow<nsw> : i64
    %d = arith.addi %at, %b2 overflow<nsw> : i64
    %offset = arith.addi %d, %c overflow<nsw> : i64)"),
            "p, rank 4: [program 1, program 0, 128 * program 0, 0] of [.., .., m, ..], strides [3 * t, m * s, s, 1]; "
            "8 divides 3 * t; 1 <= m; 1 <= s; 0 <= m * s; 0 <= 3 * t");
}

TEST(FindBoxes, ConstantMultiplesAreOneCoordinate) {
  EXPECT_EQ(rowsAt(R"(%c6 = arith.constant 6 : i64
    %b = arith.muli %z, %s overflow<nsw> : i64
    %b6 = arith.muli %b, %c6 overflow<nsw> : i64
    %g = arith.muli %x, %s overflow<nsw> : i64
    %g3 = arith.muli %g, %c3 overflow<nsw> : i64
    %d = arith.addi %at, %b6 overflow<nsw> : i64
    %offset = arith.addi %d, %g3 overflow<nsw> : i64)"),
            "p, rank 3: [program 0 + 2 * program 1, 128 * program 0, 0] of [.., m, ..], strides [3 * s, s, 1]; "
            "1 <= m; 1 <= s; 0 <= 3 * s");
}

TEST(FindBoxes, RowsWithoutBoundsTakeWhatHasTheirStride) {
  EXPECT_EQ(rowsAt(R"(%c6 = arith.constant 6 : i64
    %b = arith.muli %z, %s overflow<nsw> : i64
    %b6 = arith.muli %b, %c6 overflow<nsw> : i64
    %offset = arith.addi %at, %b6 overflow<nsw> : i64)",
                   "[0, 0]()", ""),
            "p, rank 2: [128 * program 0 + 6 * program 1, 0] of [.., ..], strides [s, 1]; 1 <= s");
}

TEST(FindBoxes, WhatTheHostKnowsMovesTheBase) {
  EXPECT_EQ(rowsAt(R"(%r3 = arith.muli %s, %c3 overflow<nsw> : i64
    %offset = arith.addi %at, %r3 overflow<nsw> : i64)"),
            "p + 3 * s, rank 2: [128 * program 0, 0] of [m, ..], strides [s, 1]; 1 <= m; 1 <= s");
  // What may lie between multiples of 16 bytes moves the first lane.
  EXPECT_EQ(rowsAt("%offset = arith.addi %at, %t overflow<nsw> : i64"),
            "p, rank 2: [128 * program 0, t] of [m, ..], strides [s, 1]; 1 <= m; 1 <= s; 0 <= t");
}

TEST(FindBoxes, ConditionsOnAllLanesBoundCoordinates) {
  const char *place = R"(%b = arith.muli %z, %s overflow<nsw> : i64
    %b2 = arith.muli %b, %n overflow<nsw> : i64
    %offset = arith.addi %at, %b2 overflow<nsw> : i64
    %some = arith.cmpi slt, %z, %t : i64
    %high = arith.select %some, %rows, %c0 : i64)";
  EXPECT_EQ(rowsAt(place, "[1, 0](%c0, %high)"),
            "p, rank 3: [program 1, 128 * program 0, 0] of [t, m, ..], strides [n * s, s, 1]; 1 <= m; "
            "1 <= t; 1 <= s; 1 <= n * s");
}

TEST(FindBoxes, BlocksHaveACoordinateOfTheirOwn) {
  EXPECT_EQ(rowsAt(R"(%c32 = arith.constant 32 : i64
    %offset = arith.addi %at, %c0 overflow<nsw> : i64
    %high = arith.minsi %rows, %c32 : i64)",
                   "[1, 0](%c0, %high)"),
            "p, rank 3: [128 * program 0, 0, 0] of [m, 32, ..], strides [s, s, 1]; 32 divides m; 1 <= m; 1 <= s");
}

TEST(FindBoxes, ATensorMayBeginBehindTheFirstLane) {
  EXPECT_EQ(rowsAt(R"(%first = arith.subi %row, %t overflow<nsw> : i64
    %offset = arith.muli %first, %s overflow<nsw> : i64
    %low = arith.subi %t, %row overflow<nsw> : i64
    %high = arith.addi %rows, %t overflow<nsw> : i64)",
                   "[1, 0](%low, %high)"),
            "p, rank 2: [-t + 128 * program 0, 0] of [m, ..], strides [s, 1]; 1 <= m; 1 <= s");
}

/// Blocks of 128 rows, `last` less than there are before the first turn.
static std::string backwards(const std::string &last) {
  return shown(R"(%c127 = arith.constant 127 : i64
    %less = arith.constant )" +
               last + R"( : i64
    %whole = arith.addi %m, %c127 overflow<nsw> : i64
    %turns = tile.div trunc %whole, %c128 : i64
    %last = arith.subi %turns, %less overflow<nsw> : i64
    scf.for %turn = %c0 to %turns step %c1 : i64 {
      %block = arith.subi %last, %turn overflow<nsw> : i64
      %first = arith.muli %block, %c128 overflow<nsw> : i64
      %left = arith.subi %m, %first overflow<nsw> : i64
      %offset = arith.muli %first, %s overflow<nsw> : i64
      %a = tile.access %p, %offset steps(%s, %c1) bounds [1, 0](%c0, %left) : <bf16>, (i64, i64), (i64, i64) -> <128x64xbf16>
    })");
}

TEST(FindBoxes, LoopsRunBackwards) {
  EXPECT_EQ(backwards("1"),
            "p, rank 2: [-128 + 128 * ((127 + m) / 128) - 128 * step, 0] of [m, ..], strides [s, 1]; 1 <= m; 1 <= s");
  // A program that reads in front of its tensor does so as a box.
  EXPECT_EQ(backwards("2"), "p - 256 * s, rank 2: [128 * ((127 + m) / 128) - 128 * step, 0] of [256 + m, ..], strides [s, 1]; "
                            "0 <= 255 + m; 1 <= s");
}

/// Rows that begin where a number says that `load` loads.
static std::string atLoaded(const std::string &load) {
  return "%place = tile.access %q, %c0 steps() bounds []() : <bf16>, (), () -> <bf16>\n%loaded = " + load +
         R"( : !tile.access<bf16> -> bf16
    %number = arith.fptosi %loaded : bf16 to i64
    %most = arith.maxsi %number, %c0 : i64
    %b = arith.muli %most, %t overflow<nsw> : i64
    %offset = arith.addi %at, %b overflow<nsw> : i64)";
}

TEST(FindBoxes, RowsBeginWhereLoadedNumbersSay) {
  EXPECT_EQ(rowsAt(atLoaded("tile.load %place")),
            "p, rank 3: [max(arith.fptosi, 0), 128 * program 0, 0] of [.., m, ..], strides [t, s, 1]; "
            "8 divides t; 1 <= m; 1 <= s; 0 <= t");
}

TEST(FindBoxes, OffsetsThatMayWrapAreNone) {
  EXPECT_EQ(rowsAt("%large = arith.constant 1073741824 : i64\n%b = arith.muli %large, %t overflow<nsw> : i64\n"
                   "%offset = arith.addi %at, %b overflow<nsw> : i64"),
            "its offset may have more than 64 bits");
}

TEST(FindBoxes, SaysWhyThereIsNone) {
  const std::string bounded = "bounds [0, 0]() : <bf16>, (i64, i64), () -> <128x64xbf16>";
  EXPECT_EQ(shown("%a = tile.access %q, %at steps(%s, %c1) " + bounded), "its pointer is not known to be a multiple of 16 bytes");
  EXPECT_EQ(shown("%a = tile.access %p, %at steps(%s, %t) " + bounded), "no dimension's elements are neighbours in memory");
  EXPECT_EQ(shown("%a = tile.access %p, %at steps(%z, %c1) " + bounded), "a stride is not known at the launch");
  EXPECT_EQ(shown("%a = tile.access %p, %c0 steps(%c3, %c1) " + bounded), "a stride of 6 bytes is no multiple of 16");
  EXPECT_EQ(shown("%a = tile.access %p, %c0 steps(%c0, %c1) " + bounded), "its elements lie backwards, or in one place");
  EXPECT_EQ(rowsAt(R"(%back = arith.subi %c64, %z overflow<nsw> : i64
    %b = arith.muli %back, %t overflow<nsw> : i64
    %offset = arith.addi %at, %b overflow<nsw> : i64)"),
            "a coordinate may be negative");
  EXPECT_EQ(rowsAt(atLoaded("tile.load %place {is_volatile}")), "its place depends on what is loaded");
  EXPECT_EQ(rowsAt("%offset = arith.addi %at, %c0 overflow<nsw> : i64\n%end = arith.muli %z, %c64 overflow<nsw> : i64",
                   "[1, 1](%c0, %rows, %c0, %end)", "i64, i64, i64, i64"),
            "a coordinate may be negative"); // columns end where only the GPU knows: they would begin before the tensor
}

TEST(FindBoxes, RanksEndAtFive) {
  std::string place = "%p0 = arith.addi %at, %c0 overflow<nsw> : i64\n";
  const char *factors[] = {"%t", "%m", "%n", "%mt"};
  place += "%mt = arith.muli %m, %t overflow<nsw> : i64\n";
  for (int i = 0; i < 4; ++i)
    place += "%f" + std::to_string(i) + " = arith.muli %z, " + factors[i] + " overflow<nsw> : i64\n%p" + std::to_string(i + 1) +
             " = arith.addi %p" + std::to_string(i) + ", %f" + std::to_string(i) + " overflow<nsw> : i64\n";
  EXPECT_EQ(rowsAt(place + "%offset = arith.addi %p4, %c0 overflow<nsw> : i64"), "it moves along more than five strides");
  EXPECT_NE(rowsAt(place + "%offset = arith.addi %p3, %c0 overflow<nsw> : i64").find("rank 5"), std::string::npos);
}
