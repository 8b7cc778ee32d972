// RUN: tilery-opt %s | tilery-opt | FileCheck %s
// CHECK-LABEL: tile.kernel @atomics
tile.kernel @atomics(%p: !tile.ptr<f32>, %q: !tile.ptr<i32>, %f: f32, %i: i32) {
  %pa = tile.pointer_access %p : !tile.ptr<f32> -> !tile.access<f32>
  %qa = tile.pointer_access %q : !tile.ptr<i32> -> !tile.access<i32>
  // CHECK: tile.atomic_rmw fadd %{{.*}}, %{{.*}} : !tile.access<f32>, f32 -> f32
  %0 = tile.atomic_rmw fadd %pa, %f : !tile.access<f32>, f32 -> f32
  // CHECK: tile.atomic_rmw umax %{{.*}}, %{{.*}} {order = 0 : i32, scope = 2 : i32} : !tile.access<i32>, i32 -> i32
  %1 = tile.atomic_rmw umax %qa, %i {order = 0 : i32, scope = 2 : i32} : !tile.access<i32>, i32 -> i32
  // CHECK: tile.atomic_cas %{{.*}}, %{{.*}}, %{{.*}} : !tile.access<i32>, i32 -> i32
  %2 = tile.atomic_cas %qa, %i, %i : !tile.access<i32>, i32 -> i32
  %c0 = arith.constant 0 : i32
  %b = tile.alloc : !tile.buffer<8x4xf16, shared>
  %h = arith.constant 1.0 : f16
  // CHECK: tile.element_update fmax %{{.*}}[%{{.*}}, %{{.*}}], %{{.*}} : <8x4xf16, shared>, (i32, i32), f16
  %3 = tile.element_update fmax %b[%c0, %i], %h : !tile.buffer<8x4xf16, shared>, (i32, i32), f16
  tile.return
}
