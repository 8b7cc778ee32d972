// RUN: env TILERY_EXPLAIN=1 tilery-translate --target=sm_90a --print=plan %s 2>&1 | FileCheck %s
// What keeps a kernel with a product from the block level is said, before there is a schedule, too.
// CHECK: few ({{.*}}): no blocks, for the second operand is no box of a tensor in memory
// CHECK: nested ({{.*}}): no blocks, for the second operand is no box of a tensor in memory

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

  tile.kernel @nested(%arg0: !tile.ptr<f16>, %arg1: !tile.ptr<f32>, %n: i64) {
    %c1 = arith.constant 1 : i64
    %c0 = arith.constant 0 : i64
    %c64 = arith.constant 64 : i64
    %none = arith.constant dense<0.0> : tensor<64x64xf32>
    scf.for %i = %c0 to %n step %c1 : i64 {
      %at = arith.muli %i, %c64 : i64
      %x = tile.contract %n, %none {
      ^bb0(%s: i64):
        %p = tile.access %arg0, %s steps(%c64, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
        %a = tile.load %p : !tile.access<64x64xf16> -> tensor<64x64xf16>
        tile.yield %a, %a : tensor<64x64xf16>, tensor<64x64xf16>
      } : tensor<64x64xf32>
      %y = tile.contract %n, %x {
      ^bb0(%s: i64):
        %p = tile.access %arg0, %s steps(%c1, %c64) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
        %a = tile.load %p : !tile.access<64x64xf16> -> tensor<64x64xf16>
        tile.yield %a, %a : tensor<64x64xf16>, tensor<64x64xf16>
      } : tensor<64x64xf32>
      %q = tile.access %arg1, %at steps(%c64, %c1) bounds [0, 0]() : <f32>, (i64, i64), () -> <64x64xf32>
      tile.store %q, %y : !tile.access<64x64xf32>, tensor<64x64xf32>
    }
    tile.return
  }
}
