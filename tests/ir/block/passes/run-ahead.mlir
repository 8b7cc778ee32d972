// RUN: tilery-opt %s -pass-pipeline='builtin.module(tile.kernel(choose-schedule,pipeline,order-programs,split-roles,run-ahead,canonicalize,cse,canonicalize))' | FileCheck %s
// Of a GPU before Hopper: one role copies what it multiplies. A loop in front starts the copies of as many steps as there are slots but one; each step
// then starts those of the step that is so far ahead, if there is one, before it takes its own.

// CHECK-LABEL: tile.kernel @product
// CHECK: %[[RING:.*]] = block.ring takers [[WARPS:[0-9]+]] : <[[SLOTS:[0-9]+]],
// CHECK: block.roles {
// CHECK-NEXT: block.role @math warps [[WARPS]] {
// CHECK: %[[END:.*]] = arith.minsi
// CHECK: %[[AHEAD:.*]] = scf.for %{{.*}} = %{{.*}} to %[[END]] step %{{.*}} iter_args(%[[AT:.*]] = %{{.*}}) -> (i32)
// CHECK: %[[S:.*]] = block.acquire %[[RING]][%[[AT]]]
// CHECK-COUNT-2: block.fetch
// CHECK: block.publish %[[S]]
// CHECK: scf.yield
// CHECK: scf.for %{{.*}} iter_args(%{{.*}}, %[[NOW:.*]] = %{{.*}}, %[[LATER:.*]] = %[[AHEAD]])
// CHECK: scf.if
// CHECK: %[[T:.*]] = block.acquire %[[RING]][%[[LATER]]]
// CHECK-COUNT-2: block.fetch
// CHECK: block.publish %[[T]]
// CHECK: } else {
// CHECK: scf.yield %[[LATER]]
// CHECK-NOT: block.acquire
// CHECK: %[[U:.*]] = block.take %[[RING]][%[[NOW]]]
// CHECK: block.mma_start
// CHECK: block.release %[[U]]
// CHECK-NOT: block.acquire
// CHECK: tile.return
tile.kernel @product(%a: !tile.ptr<f16> {tile.divisibility = 16 : i64}, %b: !tile.ptr<f16> {tile.divisibility = 16 : i64}, %c: !tile.ptr<f16>, %sa: i64 {tile.divisibility = 16 : i64}, %sb: i64 {tile.divisibility = 16 : i64}, %steps: i64) attributes {block.gpu = {operations = 2048 : i64, shared = 166912 : i64}, block.no_boxes} {
  %c1 = arith.constant 1 : i64
  %c64 = arith.constant 64 : i64
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %sum = tile.contract %steps, %zero {
  ^bb0(%i: i64):
    %at = arith.muli %i, %c64 overflow<nsw> : i64
    %row = arith.muli %at, %sb overflow<nsw> : i64
    %pa = tile.access %a, %at steps(%sa, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <128x64xf16>
    %pb = tile.access %b, %row steps(%sb, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x128xf16>
    %x = tile.load %pa : !tile.access<128x64xf16> -> tensor<128x64xf16>
    %y = tile.load %pb : !tile.access<64x128xf16> -> tensor<64x128xf16>
    tile.yield %x, %y : tensor<128x64xf16>, tensor<64x128xf16>
  } : tensor<128x128xf32>
  %half = arith.truncf %sum : tensor<128x128xf32> to tensor<128x128xf16>
  %c0 = arith.constant 0 : i64
  %c128 = arith.constant 128 : i64
  %pc = tile.access %c, %c0 steps(%c128, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <128x128xf16>
  tile.store %pc, %half : !tile.access<128x128xf16>, tensor<128x128xf16>
  tile.return
}
