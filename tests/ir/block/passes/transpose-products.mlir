// RUN: tilery-opt --transpose-products %s | FileCheck %s

module {
  // Sixteen rows are too few for the tensor cores, 64 columns are not; the product with 64 rows stays.
  // CHECK-LABEL: tile.kernel @few
  // CHECK: %[[WIDE:.*]] = tile.dot
  // CHECK-SAME: tensor<64x16xf16>, tensor<16x64xf16> -> tensor<64x64xf32>
  // CHECK: %[[B:.*]] = tile.permute %{{.*}} [1, 0] : tensor<64x64xf16> -> tensor<64x64xf16>
  // CHECK: %[[TURNED:.*]] = tile.dot %[[B]], %[[A:.*]], %{{.*}} : tensor<64x64xf16>, tensor<64x16xf16> -> tensor<64x16xf32>
  // CHECK: tile.permute %[[TURNED]] [1, 0] : tensor<64x16xf32> -> tensor<16x64xf32>
  tile.kernel @few(%arg0: !tile.ptr<f16>, %arg1: !tile.ptr<f32>, %arg2: !tile.ptr<f32>) {
    %c1 = arith.constant 1 : i64
    %c0 = arith.constant 0 : i64
    %zero = arith.constant 0.0 : f32
    %none = tile.splat %zero : f32 -> tensor<64x64xf32>
    %few = tile.splat %zero : f32 -> tensor<16x64xf32>
    %p = tile.access %arg0, %c0 steps(%c1, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <16x64xf16>
    %a = tile.load %p : !tile.access<16x64xf16> -> tensor<16x64xf16>
    %q = tile.access %arg0, %c0 steps(%c1, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
    %b = tile.load %q : !tile.access<64x64xf16> -> tensor<64x64xf16>
    %t = tile.permute %a [1, 0] : tensor<16x64xf16> -> tensor<64x16xf16>
    %x = tile.dot %t, %a, %none : tensor<64x16xf16>, tensor<16x64xf16> -> tensor<64x64xf32>
    %y = tile.dot %a, %b, %few : tensor<16x64xf16>, tensor<64x64xf16> -> tensor<16x64xf32>
    %r = tile.access %arg1, %c0 steps(%c1, %c1) bounds [0, 0]() : <f32>, (i64, i64), () -> <64x64xf32>
    tile.store %r, %x : !tile.access<64x64xf32>, tensor<64x64xf32>
    %s = tile.access %arg2, %c0 steps(%c1, %c1) bounds [0, 0]() : <f32>, (i64, i64), () -> <16x64xf32>
    tile.store %s, %y : !tile.access<16x64xf32>, tensor<16x64xf32>
    tile.return
  }
}
