// RUN: tilery-opt %s -pass-pipeline='builtin.module(tile.kernel(choose-schedule,pipeline,order-programs,split-roles,canonicalize,cse))' | FileCheck %s
// The role that fills rings has no business with sums of what is loaded beside the product, nor with that load, also where it is kept in order.

// CHECK-LABEL: tile.kernel @sums
// CHECK: block.role @load
// CHECK: block.copy
// CHECK-NOT: tile.load
// CHECK-NOT: tile.reduce
// CHECK: block.role @math
// CHECK: tile.load %{{.*}} {is_volatile}
// CHECK: tile.reduce
// CHECK: tile.atomic_rmw
// CHECK: tile.store
tile.kernel @sums(%a: !tile.ptr<f16> {tile.divisibility = 16 : i64}, %b: !tile.ptr<f16> {tile.divisibility = 16 : i64},
                  %c: !tile.ptr<f32> {tile.divisibility = 16 : i64}, %d: !tile.ptr<f32> {tile.divisibility = 16 : i64},
                  %steps: i64, %K: i64 {tile.divisibility = 16 : i64}) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c64 = arith.constant 64 : i64
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = scf.for %step = %c0 to %steps step %c1 iter_args(%before = %zero) -> (tensor<64x64xf32>) : i64 {
    %k = arith.muli %step, %c64 overflow<nsw> : i64
    %a_place = tile.access %a, %k steps(%K, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
    %x = tile.load %a_place : !tile.access<64x64xf16> -> tensor<64x64xf16>
    %b_at = arith.muli %k, %c64 overflow<nsw> : i64
    %b_place = tile.access %b, %b_at steps(%c64, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
    %y = tile.load %b_place : !tile.access<64x64xf16> -> tensor<64x64xf16>
    %next = tile.dot %x, %y, %before : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  %place = tile.access %c, %c0 steps(%c64, %c1) bounds [0, 0]() : <f32>, (i64, i64), () -> <64x64xf32>
  %old = tile.load %place : !tile.access<64x64xf32> -> tensor<64x64xf32>
  %new = arith.addf %sum, %old : tensor<64x64xf32>
  %rows = tile.reduce %old axis 1 {
  ^bb0(%p: f32, %q: f32):
    %r = arith.addf %p, %q : f32
    tile.yield %r : f32
  } : tensor<64x64xf32> -> tensor<64xf32>
  %line = tile.access %d, %c0 steps(%c1) bounds [0]() : <f32>, (i64), () -> <64xf32>
  %added = tile.atomic_rmw fadd %line, %rows : !tile.access<64xf32>, tensor<64xf32> -> tensor<64xf32>
  tile.store %place, %new : !tile.access<64x64xf32>, tensor<64x64xf32>
  tile.return
}
