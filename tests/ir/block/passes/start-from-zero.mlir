// RUN: tilery-opt %s -pass-pipeline='builtin.module(tile.kernel(start-from-zero))' | FileCheck %s

// A bias is added behind the product.
// CHECK-LABEL: tile.kernel @bias
// CHECK: %[[BIAS:.*]] = arith.extf
// CHECK: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : tensor<128x128xf32>
// CHECK: %[[SUMS:.*]] = tile.contract %{{.*}}, %[[ZERO]]
// CHECK: %[[ALL:.*]] = arith.addf %[[BIAS]], %[[SUMS]]
// CHECK: tile.store %{{.*}}, %[[ALL]]
tile.kernel @bias(%a: !tile.ptr<f16> {tile.divisibility = 16 : i64}, %b: !tile.ptr<f16> {tile.divisibility = 16 : i64}, %c: !tile.ptr<f32> {tile.divisibility = 16 : i64}, %d: !tile.ptr<f16> {tile.divisibility = 16 : i64}) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c4 = arith.constant 4 : i64
  %c64 = arith.constant 64 : i64
  %c128 = arith.constant 128 : i64
  %c256 = arith.constant 256 : i64
  %pd = tile.access %d, %c0 steps(%c128, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <128x128xf16>
  %td = tile.load %pd : !tile.access<128x128xf16> -> tensor<128x128xf16>
  %start = arith.extf %td : tensor<128x128xf16> to tensor<128x128xf32>
  %sums = tile.contract %c4, %start {
  ^bb0(%step: i64):
    %o = arith.muli %step, %c64 overflow<nsw> : i64
    %pa = tile.access %a, %o steps(%c256, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <128x64xf16>
    %ta = tile.load %pa : !tile.access<128x64xf16> -> tensor<128x64xf16>
    %pb = tile.access %b, %o steps(%c1, %c256) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x128xf16>
    %tb = tile.load %pb : !tile.access<64x128xf16> -> tensor<64x128xf16>
    tile.yield %ta, %tb : tensor<128x64xf16>, tensor<64x128xf16>
  } : tensor<128x128xf32>
  %pc = tile.access %c, %c0 steps(%c128, %c1) bounds [0, 0]() : <f32>, (i64, i64), () -> <128x128xf32>
  tile.store %pc, %sums : !tile.access<128x128xf32>, tensor<128x128xf32>
  tile.return
}

// Products that stay off the block level start where they did.
// CHECK-LABEL: tile.kernel @other
// CHECK: tile.contract %{{.*}}, %[[START:.*]] {
// CHECK-NOT: arith.addf
tile.kernel @other(%a: !tile.ptr<f64> {tile.divisibility = 16 : i64}, %c: !tile.ptr<f64> {tile.divisibility = 16 : i64}) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c4 = arith.constant 4 : i64
  %c64 = arith.constant 64 : i64
  %pd = tile.access %c, %c0 steps(%c64, %c1) bounds [0, 0]() : <f64>, (i64, i64), () -> <64x64xf64>
  %td = tile.load %pd : !tile.access<64x64xf64> -> tensor<64x64xf64>
  %sums = tile.contract %c4, %td {
  ^bb0(%step: i64):
    %pa = tile.access %a, %step steps(%c64, %c1) bounds [0, 0]() : <f64>, (i64, i64), () -> <64x64xf64>
    %ta = tile.load %pa : !tile.access<64x64xf64> -> tensor<64x64xf64>
    tile.yield %ta, %ta : tensor<64x64xf64>, tensor<64x64xf64>
  } : tensor<64x64xf64>
  tile.store %pd, %sums : !tile.access<64x64xf64>, tensor<64x64xf64>
  tile.return
}
