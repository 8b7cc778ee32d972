// RUN: tilery-opt %s -pass-pipeline='builtin.module(tile.kernel(choose-schedule,pipeline,canonicalize,cse))' | FileCheck %s

// Products that go on in each other's sums: each one's slot is given back when the next has been started and it has been read.
// CHECK-LABEL: tile.kernel @three
// CHECK: scf.for {{.*}} -> (tensor<64x64xf32>
// CHECK: %[[K:.*]] = block.take
// CHECK: block.mma_wait
// CHECK: %[[X:.*]] = block.mma_start
// CHECK: %[[V:.*]] = block.take
// CHECK: %[[Y:.*]] = block.mma_start %[[X]]
// CHECK-NEXT: block.mma_settle %[[X]]
// CHECK-NEXT: block.release %[[K]]
// CHECK: %[[W:.*]] = block.take
// CHECK: %[[Z:.*]] = block.mma_start %[[Y]]
// CHECK-NEXT: block.mma_wait %[[Z]]
// CHECK-DAG: block.release %[[V]]
// CHECK-DAG: block.release %[[W]]
// CHECK: scf.yield
tile.kernel @three(%q: !tile.ptr<f16> {tile.divisibility = 16 : i64}, %k: !tile.ptr<f16> {tile.divisibility = 16 : i64},
                   %v: !tile.ptr<f16> {tile.divisibility = 16 : i64}, %w: !tile.ptr<f16> {tile.divisibility = 16 : i64},
                   %o: !tile.ptr<f16> {tile.divisibility = 16 : i64}, %n: i32) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c64 = arith.constant 64 : i64
  %i0 = arith.constant 0 : i32
  %i64 = arith.constant 64 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %aq = tile.access %q, %c0 steps(%c64, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
  %tq = tile.load %aq : !tile.access<64x64xf16> -> tensor<64x64xf16>
  %r = scf.for %i = %i0 to %n step %i64 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
    %at = arith.extsi %i : i32 to i64
    %first = arith.muli %at, %c64 overflow<nsw> : i64
    %ak = tile.access %k, %first steps(%c64, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
    %tk = tile.load %ak : !tile.access<64x64xf16> -> tensor<64x64xf16>
    %turned = tile.permute %tk [1, 0] : tensor<64x64xf16> -> tensor<64x64xf16>
    %s = tile.dot %tq, %turned, %zero : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    %p = arith.truncf %s : tensor<64x64xf32> to tensor<64x64xf16>
    %av = tile.access %v, %first steps(%c64, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
    %tv = tile.load %av : !tile.access<64x64xf16> -> tensor<64x64xf16>
    %aw = tile.access %w, %first steps(%c64, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
    %tw = tile.load %aw : !tile.access<64x64xf16> -> tensor<64x64xf16>
    %x = tile.dot %p, %tk, %acc : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    %y = tile.dot %p, %tv, %x : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    %z = tile.dot %p, %tw, %y : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    scf.yield %z : tensor<64x64xf32>
  }
  %ao = tile.access %o, %c0 steps(%c64, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
  %h = arith.truncf %r : tensor<64x64xf32> to tensor<64x64xf16>
  tile.store %ao, %h : !tile.access<64x64xf16>, tensor<64x64xf16>
  tile.return
}
