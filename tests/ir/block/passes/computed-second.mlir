// RUN: tilery-opt %s -pass-pipeline='builtin.module(tile.kernel(choose-schedule,pipeline))' | FileCheck %s
// RUN: tilery-opt %s --block-pipeline | FileCheck %s --check-prefix=ROLES

// A state that a loop carries is stored in each step, and a second factor is computed of what comes through a ring: threads show it to the
// tensor cores. Two products of one computed factor share it.
// CHECK-LABEL: tile.kernel @states
// CHECK-SAME: computed_slots = 1
// CHECK: scf.for
// CHECK: tile.store
// CHECK: block.read
// CHECK: arith.mulf
// CHECK: %[[OTHER:.*]] = block.acquire {{.*}} {block.consumer_filled}
// CHECK: %[[SHOWN:.*]] = block.take
// CHECK: %[[B1:.*]] = block.part %[[SHOWN]][0]
// CHECK: block.mma_start %{{.*}}, %{{.*}}, %[[B1]]
// CHECK-NOT: {block.consumer_filled}
// CHECK: %[[B2:.*]] = block.part %[[SHOWN]][0]
// CHECK: block.mma_start %{{.*}}, %{{.*}}, %[[B2]]
// CHECK: block.mma_wait
// CHECK: block.release %[[SHOWN]]
// CHECK: scf.yield
// The role that multiplies fills these slots itself.
// ROLES-LABEL: tile.kernel @states
// ROLES: block.role @load
// ROLES-NOT: block.write
// ROLES: block.role @math
// ROLES: block.acquire
// ROLES: block.write
// ROLES: block.fence
// ROLES-NEXT: block.publish
tile.kernel @states(%k: !tile.ptr<f16> {tile.divisibility = 16 : i64}, %v: !tile.ptr<f16> {tile.divisibility = 16 : i64}, %w: !tile.ptr<f16> {tile.divisibility = 16 : i64}, %h: !tile.ptr<f16> {tile.divisibility = 16 : i64}, %o: !tile.ptr<f32> {tile.divisibility = 16 : i64}, %n: i32) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c64 = arith.constant 64 : i64
  %c4096 = arith.constant 4096 : i64
  %low = arith.constant 0 : i32
  %step = arith.constant 1 : i32
  %zeros = arith.constant dense<0.0> : tensor<64x64xf32>
  %r:2 = scf.for %i = %low to %n step %step iter_args(%state = %zeros, %other = %zeros) -> (tensor<64x64xf32>, tensor<64x64xf32>) : i32 {
    %t = arith.extsi %i : i32 to i64
    %at = arith.muli %t, %c4096 overflow<nsw> : i64
    %rounded = arith.truncf %state : tensor<64x64xf32> to tensor<64x64xf16>
    %ah = tile.access %h, %at steps(%c64, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
    tile.store %ah, %rounded : !tile.access<64x64xf16>, tensor<64x64xf16>
    %aw = tile.access %w, %at steps(%c64, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
    %tw = tile.load %aw : !tile.access<64x64xf16> -> tensor<64x64xf16>
    %av = tile.access %v, %at steps(%c64, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
    %tv = tile.load %av : !tile.access<64x64xf16> -> tensor<64x64xf16>
    %wide = arith.extf %tv : tensor<64x64xf16> to tensor<64x64xf32>
    %new = arith.mulf %wide, %wide : tensor<64x64xf32>
    %factor = arith.truncf %new : tensor<64x64xf32> to tensor<64x64xf16>
    %ak = tile.access %k, %at steps(%c1, %c64) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
    %tk = tile.load %ak : !tile.access<64x64xf16> -> tensor<64x64xf16>
    %next = tile.dot %tk, %factor, %state : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    %next2 = tile.dot %tw, %factor, %other : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    scf.yield %next, %next2 : tensor<64x64xf32>, tensor<64x64xf32>
  }
  %sum = arith.addf %r#0, %r#1 : tensor<64x64xf32>
  %ao = tile.access %o, %c0 steps(%c64, %c1) bounds [0, 0]() : <f32>, (i64, i64), () -> <64x64xf32>
  tile.store %ao, %sum : !tile.access<64x64xf32>, tensor<64x64xf32>
  tile.return
}
