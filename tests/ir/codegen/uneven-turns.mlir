// RUN: tilery-translate --target=sm_90a --print=llvm %s | FileCheck %s
// Elements that 96 threads do not share evenly: all lanes of a warp run as many turns, the last one under a condition.

// CHECK-LABEL: define ptx_kernel void @uneven
// CHECK: loop:
// CHECK-NEXT: [[TURN:%.*]] = phi i64 [ 0,
// CHECK: icmp samesign ult i64 {{.*}}, 30001
// CHECK: [[MORE:%.*]] = icmp samesign ult i64 [[TURN]], 29905
// CHECK-NEXT: br i1 [[MORE]], label %loop.1
tile.kernel @uneven(%from: !tile.ptr<i64>, %to: !tile.ptr<i64>, %s: i64) {
  %buffer = tile.alloc : !tile.buffer<96xi32, shared>
  tile.threads 96 {
  ^bb0(%t: i32):
    tile.element_store %buffer[%t], %t : !tile.buffer<96xi32, shared>, (i32), i32
  }
  %c0 = arith.constant 0 : i64
  %a = tile.access %from, %c0 steps(%s) bounds [0]() : <i64>, (i64), () -> <30001xi64>
  %x = tile.load %a : !tile.access<30001xi64> -> tensor<30001xi64>
  %b = tile.access %to, %c0 steps(%s) bounds [0]() : <i64>, (i64), () -> <30001xi64>
  tile.store %b, %x : !tile.access<30001xi64>, tensor<30001xi64>
  tile.return
}
