#include "compiler/targets/cuda/round_sums.h"
#include "tests/unit/analysis/kernel.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace tilery;

namespace {
/// The kernel's sums in the order of the program: true for those whose operands changed places.
std::vector<bool> changed(const std::string &body) {
  Kernel kernel("tile.kernel @k(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>, %s: f32, %n: i32, %flag: i1) {\n" + body +
                "\n  tile.return\n}");
  EXPECT_TRUE(kernel.module);
  std::vector<Value> before;
  std::vector<bool> result;
  kernel.module->walk([&](arith::AddFOp sum) { before.push_back(sum.getLhs()); });
  for (auto kernelOp : kernel.module->getOps<tile::KernelOp>())
    cuda::roundSums(kernelOp);
  unsigned number = 0;
  kernel.module->walk([&](arith::AddFOp sum) { result.push_back(sum.getLhs() != before[number++]); });
  return result;
}

/// %a and %b are read in this order, as tiles of 8.
const std::string loads = R"(
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %xs = tile.access %x, %c0 steps(%c1) bounds [0]() : !tile.ptr<f32>, (i64), () -> !tile.access<8xf32>
  %ys = tile.access %y, %c0 steps(%c1) bounds [0]() : !tile.ptr<f32>, (i64), () -> !tile.access<8xf32>
  %a = tile.load %xs : !tile.access<8xf32> -> tensor<8xf32>
  %b = tile.load %ys : !tile.access<8xf32> -> tensor<8xf32>
  %aa = arith.mulf %a, %a : tensor<8xf32>
  %bb = arith.mulf %b, %b : tensor<8xf32>
)";
} // namespace

TEST(OrderSums, WhatIsReadFirstStandsLeft) {
  EXPECT_EQ(changed(loads + "%0 = arith.addf %aa, %bb : tensor<8xf32>\n %1 = arith.addf %bb, %aa : tensor<8xf32>"),
            (std::vector<bool>{false, true}));
}

TEST(OrderSums, ProductsOnly) {
  EXPECT_EQ(changed(loads + "%0 = arith.addf %bb, %a : tensor<8xf32>\n %1 = arith.addf %b, %aa : tensor<8xf32>"),
            (std::vector<bool>{false, false}));
}

TEST(OrderSums, ProductsOfScalarsAndRowsAreFollowed) {
  EXPECT_EQ(changed(loads + R"(
  %ss = arith.mulf %s, %s : f32
  %everywhere = tile.splat %ss : f32 -> tensor<8xf32>
  %0 = arith.addf %bb, %everywhere : tensor<8xf32>)"),
            (std::vector<bool>{true}));
}

TEST(OrderSums, EachOpOnAValueCountsOne) {
  auto powers = [](unsigned count) {
    std::string body = loads + "%p0 = arith.mulf %a, %a : tensor<8xf32>\n";
    for (unsigned i = 1; i < count; ++i)
      body += "%p" + std::to_string(i) + " = arith.mulf %p" + std::to_string(i - 1) + ", %a : tensor<8xf32>\n";
    return changed(body + "%0 = arith.addf %p" + std::to_string(count - 1) + ", %bb : tensor<8xf32>");
  };
  EXPECT_EQ(powers(2), std::vector<bool>{false}); // as deep as the product of what is read next
  EXPECT_EQ(powers(3), std::vector<bool>{true});
}

TEST(OrderSums, DivisionsAndRootsHaveTheirPlace) {
  auto after = [](const std::string &op) {
    return changed(loads + op + "%p = arith.mulf %q, %a : tensor<8xf32>\n%0 = arith.addf %p, %bb : tensor<8xf32>");
  };
  EXPECT_EQ(after("%q = arith.divf %a, %a : tensor<8xf32>\n"), std::vector<bool>{false}); // 3 + 1, as 2 + 1 + 1
  EXPECT_EQ(after("%r = arith.divf %a, %a : tensor<8xf32>\n%q = arith.divf %a, %a : tensor<8xf32>\n"), std::vector<bool>{true});
  EXPECT_EQ(after("%q = math.rsqrt %a : tensor<8xf32>\n"), std::vector<bool>{true});
  EXPECT_EQ(after("%q = arith.negf %a : tensor<8xf32>\n"), std::vector<bool>{false});
}

TEST(OrderSums, LoopsComeBeforeWhatFollowsThem) {
  auto loop = [](const std::string &other) {
    return changed(loads + R"(
  %from = arith.constant 0 : i32
  %step = arith.constant 1 : i32
  %sum = scf.for %i = %from to %n step %step iter_args(%so = %b) -> (tensor<8xf32>) : i32 {
    %next = arith.mulf %so, %so : tensor<8xf32>
    scf.yield %next : tensor<8xf32>
  }
  %later = tile.load %ys : !tile.access<8xf32> -> tensor<8xf32>
  %square = arith.mulf %sum, %sum : tensor<8xf32>
  %product = arith.mulf %later, %later : tensor<8xf32>
  %0 = arith.addf )" +
                   other + ", %square : tensor<8xf32>");
  };
  EXPECT_EQ(loop("%product"), std::vector<bool>{true});
  EXPECT_EQ(loop("%aa"), std::vector<bool>{false});
}
