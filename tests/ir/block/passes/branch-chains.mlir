// RUN: tilery-opt %s -pass-pipeline='builtin.module(tile.kernel(choose-schedule,pipeline,branch-masks,canonicalize,cse))' | FileCheck %s

// Sums that start from a mask: the product starts from nothing, and where all lanes exist nothing is added to it.
// CHECK-LABEL: tile.kernel @onto
// CHECK: scf.for
// CHECK: %[[NONE:.*]] = block.none
// CHECK: %[[S:.*]] = block.mma_start %[[NONE]], {{.*}} clear %true
// CHECK: %[[SUMS:.*]] = block.mma_wait %[[S]]
// CHECK: %[[SEEN:.*]] = scf.if %{{.*}} -> (tensor<64x64xf32>) {
// CHECK-NEXT: scf.yield %[[SUMS]]
// CHECK-NEXT: } else {
// CHECK-NEXT: %[[MASK:.*]] = arith.select
// CHECK-NEXT: %[[SOME:.*]] = arith.addf %[[SUMS]], %[[MASK]]
// CHECK-NEXT: scf.yield %[[SOME]]
// CHECK: arith.truncf %[[SEEN]]
tile.kernel @onto(%q: !tile.ptr<f16> {tile.divisibility = 16 : i64}, %k: !tile.ptr<f16> {tile.divisibility = 16 : i64},
                  %v: !tile.ptr<f16> {tile.divisibility = 16 : i64}, %o: !tile.ptr<f32> {tile.divisibility = 16 : i64}, %n: i32) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c64 = arith.constant 64 : i64
  %i0 = arith.constant 0 : i32
  %i64 = arith.constant 64 : i32
  %zeros = arith.constant dense<0.0> : tensor<64x64xf32>
  %nothing = arith.constant dense<0xFF800000> : tensor<64x64xf32>
  %aq = tile.access %q, %c0 steps(%c64, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
  %tq = tile.load %aq : !tile.access<64x64xf16> -> tensor<64x64xf16>
  %offsets = tile.range 0 to 64 : tensor<64xi32>
  %ns = tile.splat %n : i32 -> tensor<64xi32>
  %sums = scf.for %i = %i0 to %n step %i64 iter_args(%acc = %zeros) -> (tensor<64x64xf32>) : i32 {
    %at = arith.extsi %i : i32 to i64
    %start = arith.muli %at, %c64 overflow<nsw> : i64
    %is = tile.splat %i : i32 -> tensor<64xi32>
    %numbers = arith.addi %is, %offsets : tensor<64xi32>
    %beyond = arith.cmpi sge, %numbers, %ns : tensor<64xi32>
    %line = tile.expand_dims %beyond axis 0 : tensor<64xi1> -> tensor<1x64xi1>
    %hidden = tile.broadcast %line : tensor<1x64xi1> -> tensor<64x64xi1>
    %from = arith.select %hidden, %nothing, %zeros : tensor<64x64xi1>, tensor<64x64xf32>
    %ak = tile.access %k, %start steps(%c1, %c64) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
    %tk = tile.load %ak : !tile.access<64x64xf16> -> tensor<64x64xf16>
    %s = tile.dot %tq, %tk, %from : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    %h = arith.truncf %s : tensor<64x64xf32> to tensor<64x64xf16>
    %av = tile.access %v, %start steps(%c64, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
    %tv = tile.load %av : !tile.access<64x64xf16> -> tensor<64x64xf16>
    %next = tile.dot %h, %tv, %acc : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  %ao = tile.access %o, %c0 steps(%c64, %c1) bounds [0, 0]() : <f32>, (i64, i64), () -> <64x64xf32>
  tile.store %ao, %sums : !tile.access<64x64xf32>, tensor<64x64xf32>
  tile.return
}

// A factor that is 1 for some numbers, and a mask in 64 bits behind it: one branch around both. A sum of scalars may wrap around there, so
// those that nobody knows are asked to be small.
// CHECK-LABEL: tile.kernel @scaled
// CHECK: scf.for
// CHECK: %[[SUMS:.*]] = block.mma_wait
// CHECK: arith.cmpi sle, %arg4, %c1152921504606846976_i64
// CHECK: %[[SEEN:.*]] = scf.if %{{.*}} -> (tensor<64x64xf32>) {
// CHECK-NEXT: scf.yield %[[SUMS]]
// CHECK-NEXT: } else {
// CHECK-NEXT: %[[TIMES:.*]] = arith.mulf %[[SUMS]], %{{.*}}
// CHECK-NEXT: %[[SOME:.*]] = arith.select %{{.*}}, %[[TIMES]], %{{.*}}
// CHECK-NEXT: scf.yield %[[SOME]]
// CHECK: arith.truncf %[[SEEN]]
// CHECK-NOT: scf.if
tile.kernel @scaled(%q: !tile.ptr<f16> {tile.divisibility = 16 : i64}, %k: !tile.ptr<f16> {tile.divisibility = 16 : i64},
                    %v: !tile.ptr<f16> {tile.divisibility = 16 : i64}, %o: !tile.ptr<f32> {tile.divisibility = 16 : i64}, %n: i64,
                    %scale: f32, %positive: i1) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c64 = arith.constant 64 : i64
  %one = arith.constant 1.0 : f32
  %zeros = arith.constant dense<0.0> : tensor<64x64xf32>
  %nothing = arith.constant dense<0xFF800000> : tensor<64x64xf32>
  %factor = arith.select %positive, %one, %scale : f32
  %factors = tile.splat %factor : f32 -> tensor<64x64xf32>
  %aq = tile.access %q, %c0 steps(%c64, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
  %tq = tile.load %aq : !tile.access<64x64xf16> -> tensor<64x64xf16>
  %range = tile.range 0 to 64 : tensor<64xi32>
  %offsets = arith.extsi %range : tensor<64xi32> to tensor<64xi64>
  %ns = tile.splat %n : i64 -> tensor<64xi64>
  %sums = scf.for %i = %c0 to %n step %c64 iter_args(%acc = %zeros) -> (tensor<64x64xf32>) : i64 {
    %start = arith.muli %i, %c64 overflow<nsw> : i64
    %is = tile.splat %i : i64 -> tensor<64xi64>
    %numbers = arith.addi %is, %offsets : tensor<64xi64>
    %there = arith.cmpi slt, %numbers, %ns : tensor<64xi64>
    %line = tile.expand_dims %there axis 0 : tensor<64xi1> -> tensor<1x64xi1>
    %exists = tile.broadcast %line : tensor<1x64xi1> -> tensor<64x64xi1>
    %ak = tile.access %k, %start steps(%c1, %c64) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
    %tk = tile.load %ak : !tile.access<64x64xf16> -> tensor<64x64xf16>
    %s = tile.dot %tq, %tk, %zeros : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    %x = arith.mulf %s, %factors : tensor<64x64xf32>
    %y = arith.select %exists, %x, %nothing : tensor<64x64xi1>, tensor<64x64xf32>
    %h = arith.truncf %y : tensor<64x64xf32> to tensor<64x64xf16>
    %av = tile.access %v, %start steps(%c64, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
    %tv = tile.load %av : !tile.access<64x64xf16> -> tensor<64x64xf16>
    %next = tile.dot %h, %tv, %acc : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  %ao = tile.access %o, %c0 steps(%c64, %c1) bounds [0, 0]() : <f32>, (i64, i64), () -> <64x64xf32>
  tile.store %ao, %sums : !tile.access<64x64xf32>, tensor<64x64xf32>
  tile.return
}
