// Who can tell the sign of a NaN.
#include "compiler/analysis/nan_signs.h"
#include "tests/unit/analysis/kernel.h"
#include <gtest/gtest.h>

using tilery::analysis::tellsNaNSign;

TEST(NaNSigns, OfWhatFollows) {
  Kernel kernel(R"(
    tile.kernel @k(%x: tensor<4x8xf32>, %one: tensor<4x1xf32>, %p: !tile.ptr<f32>, %c: tensor<4x8xi1>) {
      %computed = arith.negf %x : tensor<4x8xf32>
      %sum = arith.addf %computed, %x : tensor<4x8xf32>
      %magnitude = math.absf %computed : tensor<4x8xf32>
      %moved = arith.negf %x : tensor<4x8xf32>
      %chosen = arith.select %c, %moved, %moved : tensor<4x8xi1>, tensor<4x8xf32>
      %turned = tile.permute %chosen [1, 0] : tensor<4x8xf32> -> tensor<8x4xf32>
      %twice = arith.addf %turned, %turned : tensor<8x4xf32>
      %told = arith.negf %x : tensor<4x8xf32>
      %bits = arith.bitcast %told : tensor<4x8xf32> to tensor<4x8xi32>
      %both = arith.negf %x : tensor<4x8xf32>
      %product = arith.mulf %both, %both : tensor<4x8xf32>
      %negative = arith.negf %both : tensor<4x8xf32>
      %added = arith.negf %x : tensor<4x8xf32>
      %total = tile.reduce %added axis 1 {
      ^bb0(%a: f32, %b: f32):
        %s = arith.addf %a, %b : f32
        tile.yield %s : f32
      } : tensor<4x8xf32> -> tensor<4xf32>
      %alone = arith.negf %one : tensor<4x1xf32>
      %same = tile.reduce %alone axis 1 {
      ^bb0(%a: f32, %b: f32):
        %s = arith.addf %a, %b : f32
        tile.yield %s : f32
      } : tensor<4x1xf32> -> tensor<4xf32>
      tile.return
    })");
  ASSERT_TRUE(kernel.module);
  EXPECT_FALSE(tellsNaNSign(kernel.result(0))) << "sums and magnitudes";
  EXPECT_FALSE(tellsNaNSign(kernel.result(3))) << "chosen and turned, then added";
  EXPECT_TRUE(tellsNaNSign(kernel.result(7))) << "read as bits";
  EXPECT_TRUE(tellsNaNSign(kernel.result(9))) << "multiplied, and negated";
  EXPECT_FALSE(tellsNaNSign(kernel.result(12))) << "summed";
  EXPECT_TRUE(tellsNaNSign(kernel.result(14))) << "the sum of one is that one";
}
