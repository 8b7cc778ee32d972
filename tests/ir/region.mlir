// RUN: tilery-opt %s | tilery-opt | FileCheck %s
// CHECK-LABEL: tile.kernel @regions
tile.kernel @regions(%p: !tile.ptr<f32>, %n: i32, %m: i64) {
  %buffer = tile.alloc : !tile.buffer<16xf32, shared>
  // CHECK: tile.parallel(%{{.*}}, %{{.*}}) {
  tile.parallel(%n, %m) {
  ^bb0(%i: i32, %j: i64):
    %v = tile.element_load %buffer[%i] : !tile.buffer<16xf32, shared>, i32 -> f32
    tile.element_store %buffer[%j], %v : !tile.buffer<16xf32, shared>, (i64), f32
    tile.yield
  // CHECK: } : i32, i64
  } : i32, i64
  // CHECK: tile.threads 32 {
  tile.threads 32 {
  ^bb0(%t: i32):
    // CHECK: tile.sync
    tile.sync
    // CHECK: tile.sync {width = 32 : i64}
    tile.sync {width = 32 : i64}
    // CHECK: tile.shuffle xor %{{.*}}, %{{.*}} {width = 16 : i64} : i32 -> i32
    %s = tile.shuffle xor %t, %n {width = 16 : i64} : i32 -> i32
    %b = arith.cmpi slt, %t, %n : i32
    // CHECK: tile.vote any %{{.*}} -> i1
    %any = tile.vote any %b -> i1
    // CHECK: tile.vote ballot %{{.*}} -> i32
    %ballot = tile.vote ballot %b -> i32
    %h = arith.constant 1.0 : f64
    // CHECK: tile.warp_dot[%{{.*}}, %{{.*}}], [%{{.*}}], [%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}] : [f64, f64], [f64], [f64, f64, f64, f64] -> f64, f64, f64, f64
    %d:4 = tile.warp_dot [%h, %h], [%h], [%h, %h, %h, %h] : [f64, f64], [f64], [f64, f64, f64, f64] -> f64, f64, f64, f64
    // CHECK: tile.together {
    tile.together {
      tile.parallel(%n) {
      ^bb0(%i: i32):
        tile.yield
      } : i32
    }
    // CHECK: %{{.*}} = tile.together {
    // CHECK: tile.yield %{{.*}} : i32
    // CHECK: } -> i32
    %both = tile.together {
      %twice = arith.addi %n, %n : i32
      tile.yield %twice : i32
    } -> i32
    tile.yield
  }
  %c16 = arith.constant 16 : i64
  %root = tile.root %p[%m] strides [%m] : !tile.ptr<f32> -> !tile.root<1xf32>
  %view = tile.view %root[%m] dims [0] dilations [%m] limits [] : !tile.root<1xf32> -> !tile.view<16xf32>
  // CHECK: tile.barrier_alloc [1, 2] : <2>
  %ring = tile.barrier_alloc [1, 2] : !tile.barrier<2>
  // CHECK: tile.roles [32, 128] {
  tile.roles [32, 128] {
    // CHECK: tile.barrier_arrive %{{.*}}[%{{.*}}] {bytes = 64 : i64} : <2>, i32
    tile.barrier_arrive %ring[%n] {bytes = 64 : i64} : !tile.barrier<2>, i32
    // CHECK: tile.async_copy %{{.*}}, %{{.*}}, %{{.*}}[%{{.*}}] : <16xf32>, <16xf32, shared>, <2>, i32
    tile.async_copy %view, %buffer, %ring[%n] : !tile.view<16xf32>, !tile.buffer<16xf32, shared>, !tile.barrier<2>, i32
  // CHECK: }, {
  }, {
    // CHECK: tile.barrier_wait %{{.*}}[%{{.*}}], %{{.*}} : <2>, i32, i64
    tile.barrier_wait %ring[%n], %m : !tile.barrier<2>, i32, i64
  }
  tile.return
}
