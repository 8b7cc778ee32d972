// Which values are known to be zero in all lanes.
#include "compiler/ir/zero.h"
#include "tests/unit/analysis/kernel.h"
#include <gtest/gtest.h>

using namespace tilery;

TEST(Zero, Shapes) {
  Kernel kernel(R"(
    tile.kernel @k(%x: tensor<1x8xf32>) {
      %zero = arith.constant dense<0.0> : tensor<8xf32>
      %row = tile.expand_dims %zero axis 0 : tensor<8xf32> -> tensor<1x8xf32>
      %all = tile.broadcast %row : tensor<1x8xf32> -> tensor<4x8xf32>
      %turned = tile.permute %all [1, 0] : tensor<4x8xf32> -> tensor<8x4xf32>
      %flat = tile.reshape %turned : tensor<8x4xf32> -> tensor<32xf32>
      %minus = arith.constant -0.0 : f32
      %below = tile.splat %minus : f32 -> tensor<1x8xf32>
      %rows = tile.broadcast %below : tensor<1x8xf32> -> tensor<4x8xf32>
      %one = arith.constant dense<1> : tensor<1xi8>
      %ones = tile.broadcast %one : tensor<1xi8> -> tensor<4xi8>
      %of = tile.broadcast %x : tensor<1x8xf32> -> tensor<4x8xf32>
      tile.return
    })");
  ASSERT_TRUE(kernel.module);
  for (unsigned number : {0, 1, 2, 3, 4}) {
    EXPECT_TRUE(tile::isPlusZero(kernel.result(number))) << number;
    EXPECT_TRUE(tile::isZero(kernel.result(number))) << number;
  }
  EXPECT_TRUE(tile::isZero(kernel.result(7)));
  EXPECT_FALSE(tile::isPlusZero(kernel.result(7)));
  for (unsigned number : {9, 10})
    EXPECT_FALSE(tile::isZero(kernel.result(number))) << number;
}
