// Which combinations give the same bits however they are bracketed.
#include "compiler/ir/associates.h"
#include "tests/unit/analysis/kernel.h"
#include <gtest/gtest.h>

using namespace tilery;
using tile::Bracketing;

/// Of one scan, whose region on pairs (f32, i32) `body` is.
static Bracketing ofPairs(const std::string &body) {
  Kernel kernel(R"(
    tile.kernel @k(%x: tensor<8xf32>, %at: tensor<8xi32>) {
      %true = arith.constant true
      %zero = arith.constant 0.0 : f32
      %s:2 = tile.scan %x, %at axis 0 {
      ^bb0(%a: f32, %i: i32, %b: f32, %j: i32):)" +
                body + R"(
        tile.yield %v, %p : f32, i32
      } : tensor<8xf32>, tensor<8xi32> -> tensor<8xf32>, tensor<8xi32>
      tile.return
    })");
  EXPECT_TRUE(kernel.module);
  return tile::bracketingOf((*kernel.body().getOps<tile::ScanOp>().begin()).getCombine());
}

static Bracketing ofNumbers(const std::string &type, const std::string &body) {
  Kernel kernel("tile.kernel @k(%x: tensor<8x" + type + ">) {\n %s = tile.scan %x axis 0 {\n ^bb0(%a: " + type + ", %b: " + type +
                "):\n" + body + "\n tile.yield %v : " + type + "\n } : tensor<8x" + type + "> -> tensor<8x" + type +
                ">\n tile.return\n }");
  EXPECT_TRUE(kernel.module);
  return tile::bracketingOf((*kernel.body().getOps<tile::ScanOp>().begin()).getCombine());
}

TEST(Associates, Numbers) {
  EXPECT_EQ(ofNumbers("i32", "%v = arith.addi %b, %a : i32"), Bracketing::exact);
  EXPECT_EQ(ofNumbers("i64", "%v = arith.maxsi %a, %b : i64"), Bracketing::choice);
  EXPECT_EQ(ofNumbers("i32", "%v = arith.addi %a, %a : i32"), Bracketing::any);
  EXPECT_EQ(ofNumbers("i32", "%v = arith.subi %a, %b : i32"), Bracketing::any);
  EXPECT_EQ(ofNumbers("f32", "%v = arith.addf %a, %b : f32"), Bracketing::any);
  EXPECT_EQ(ofNumbers("i32", "%c = arith.cmpi ult, %a, %b : i32\n %v = arith.select %c, %a, %b : i32"), Bracketing::choice);
  EXPECT_EQ(ofNumbers("f32", "%c = arith.cmpf uno, %b, %b : f32\n %v = arith.select %c, %a, %b : f32"), Bracketing::choice)
      << "the last one that is a number, or the first of all NaNs";
  EXPECT_EQ(ofNumbers("f32", "%c = arith.cmpf ogt, %a, %b : f32\n %v = arith.select %c, %a, %b : f32"), Bracketing::any)
      << "1, NaN, 0: the NaN hides what is before it";
}

TEST(Associates, Pairs) {
  const std::string choice = R"(
        %v = arith.select %m, %a, %b : f32
        %p = arith.select %m, %i, %j : i32)";
  const std::string withNaNs = R"(
        %g = arith.cmpf ogt, %a, %b : f32
        %e = arith.cmpf oeq, %a, %b : f32
        %na = arith.cmpf une, %a, %a : f32
        %nb = arith.cmpf une, %b, %b : f32
        %no = arith.xori %nb, %true : i1
        %n1 = arith.andi %na, %no : i1
        %g1 = arith.ori %g, %n1 : i1
        %n2 = arith.andi %na, %nb : i1
        %e1 = arith.ori %e, %n2 : i1)";
  const std::string laterOfEqual =
      "%l = arith.cmpi sgt, %i, %j : i32\n %t = arith.andi %e1, %l : i1\n %m = arith.ori %g1, %t : i1";
  EXPECT_EQ(ofPairs(withNaNs + laterOfEqual + choice), Bracketing::choice);
  EXPECT_EQ(ofPairs(withNaNs + "%m = arith.ori %g1, %e1 : i1" + choice), Bracketing::choice) << "the first of equal ones";
  EXPECT_EQ(ofPairs("%g = arith.cmpf ogt, %a, %b : f32\n %e1 = arith.cmpf oeq, %a, %b : f32\n" +
                    std::string("%l = arith.cmpi sgt, %i, %j : i32\n %t = arith.andi %e1, %l : i1\n %m = arith.ori %g, %t : i1") +
                    choice),
            Bracketing::any)
      << "NaNs are in no order";
  EXPECT_EQ(ofPairs(withNaNs + "%l = arith.cmpi sgt, %i, %j : i32\n %u = arith.cmpi ult, %i, %j : i32\n" +
                    "%l1 = arith.xori %l, %u : i1\n %t = arith.andi %e1, %l1 : i1\n %m = arith.ori %g1, %t : i1" + choice),
            Bracketing::any)
      << "two orders of one value";
  EXPECT_EQ(ofPairs("%m = arith.cmpf ogt, %a, %zero : f32" + choice), Bracketing::any) << "a number of the program's";
  EXPECT_EQ(ofPairs("%m = arith.cmpi sge, %i, %j : i32\n %v = arith.addf %a, %b : f32\n %p = arith.select %m, %i, %j : i32"),
            Bracketing::any);
}
