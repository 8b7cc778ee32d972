// RUN: env TILERY_EXPLAIN=1 tilery-translate --target=sm_90a --print=plan %s 2>&1 | FileCheck %s
// What keeps a kernel with a product from the block level is said, before there is a schedule, too.
// CHECK: few ({{.*}}): no blocks, for the second operand is no box of a tensor in memory

module {
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
