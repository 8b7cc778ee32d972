// What of index arithmetic changes at few places of a row: seen by the vectors that are read as they lie.
#include "tests/unit/lower/plan.h"

using namespace tilery;
using namespace tilery::test;

namespace {
/// o[i] = x[at of i] for 512 elements; `body` makes %at of %i, %number (100) and %zeros, all i64.
std::string readAt(const std::string &body) {
  auto all = [&](const std::string &name, int64_t number) {
    return "  %" + name + " = arith.constant dense<" + std::to_string(number) + "> : tensor<512xi64>\n";
  };
  return "tile.kernel @k(%x: !tile.ptr<f32>, %o: !tile.ptr<f32>) {\n  %zero = arith.constant 0 : i64\n"
         "  %one = arith.constant 1 : i64\n" +
         all("zeros", 0) + all("number", 100) + all("twice", 200) + "  %i32 = tile.range 0 to 512 : tensor<512xi32>\n" +
         "  %i = arith.extsi %i32 : tensor<512xi32> to tensor<512xi64>\n" + body +
         "  %ax = tile.access %x, %zero steps(%at) bounds [0] () : !tile.ptr<f32>, (tensor<512xi64>), () -> "
         "!tile.access<512xf32>\n"
         "  %ao = tile.access %o, %zero steps(%one) bounds [0] () : !tile.ptr<f32>, (i64), () -> !tile.access<512xf32>\n"
         "  %a = tile.load %ax : !tile.access<512xf32> -> tensor<512xf32>\n"
         "  tile.store %ao, %a : !tile.access<512xf32>, tensor<512xf32>\n  tile.return\n}\n";
}
std::string op(const std::string &result, const std::string &name, const std::string &operands) {
  return "  %" + result + " = " + name + " " + operands + " : tensor<512xi64>\n";
}
/// Whether whole vectors of neighbours are loaded somewhere.
bool readsVectors(const std::string &body) {
  return llvmOf(readAt(body), "avx2").find("= load <8 x float>") != std::string::npos;
}
const std::string rest = op("r", "tile.rem trunc", "%i, %number");
} // namespace

TEST(FindSteady, WhatIsClampedOrReflectedIsOneOfItsSides) {
  EXPECT_TRUE(readsVectors(rest + op("at", "arith.minsi", "%r, %number")));
  EXPECT_TRUE(readsVectors(rest + op("at", "arith.maxsi", "%r, %zeros")));
  std::string moved = op("m", "arith.subi", "%r, %number overflow<nsw>");
  EXPECT_TRUE(readsVectors(rest + moved + op("at", "math.absi", "%m")));
  std::string below = "  %c = arith.cmpi slt, %r, %number : tensor<512xi64>\n" +
                      op("back", "arith.subi", "%twice, %r overflow<nsw>") +
                      "  %at = arith.select %c, %r, %back : tensor<512xi1>, tensor<512xi64>\n";
  EXPECT_TRUE(readsVectors(rest + below));
}

// One side of a row that is reflected, without a quotient.
TEST(FindSteady, WhatTurnsAloneEndsSegments) {
  std::string below = "  %c = arith.cmpi slt, %i, %number : tensor<512xi64>\n" +
                      op("back", "arith.subi", "%twice, %i overflow<nsw>") +
                      "  %at = arith.select %c, %i, %back : tensor<512xi1>, tensor<512xi64>\n";
  EXPECT_TRUE(readsVectors(below));
}

// Halves of columns are computed lane by lane; rows are divided once a segment.
TEST(FindSteady, QuotientsByFewLeaveOthersTheirSegments) {
  std::string text =
      llvmOf(readAt(rest + op("q", "tile.div trunc", "%i, %number") + op("start", "arith.muli", "%q, %twice overflow<nsw>") +
                    "  %two = arith.constant dense<2> : tensor<512xi64>\n" + op("half", "tile.div trunc", "%r, %two") +
                    op("at", "arith.addi", "%start, %half overflow<nsw>")),
             "avx2");
  EXPECT_NE(text.find("sdiv i64"), std::string::npos) << text;
  EXPECT_EQ(text.find("splat (i64 100)"), std::string::npos) << text;
}

TEST(FindSteady, SidesThatBothJumpAreReadLaneByLane) {
  std::string jumps = op("r2", "arith.muli", "%r, %twice overflow<nsw>");
  EXPECT_FALSE(readsVectors(rest + jumps + op("at", "arith.minsi", "%r2, %number")));
}

TEST(FindSteady, NumbersThatMayWrapAreNotKnown) {
  EXPECT_FALSE(readsVectors(rest + op("m", "arith.addi", "%r, %r") + op("at", "arith.minsi", "%m, %number")));
}
