// RUN: tilery-opt %s | tilery-opt | FileCheck %s
// CHECK-LABEL: tile.kernel @buffers
tile.kernel @buffers(%i: i32, %f: f16) {
  // CHECK: tile.alloc : <3x8x4xf16, shared>
  %b = tile.alloc : !tile.buffer<3x8x4xf16, shared>
  // CHECK: tile.subview %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] dims [1, 2]
  %w = tile.subview %b[%i, %i, %i] dims [1, 2] : !tile.buffer<3x8x4xf16, shared>, i32, i32, i32 -> !tile.buffer<8x4xf16, shared>
  // CHECK: tile.reinterpret %{{.*}} : <3x8x4xf16, shared> -> <48xi32, shared>
  %r = tile.reinterpret %b : !tile.buffer<3x8x4xf16, shared> -> !tile.buffer<48xi32, shared>
  // CHECK: tile.buffer_load %{{.*}} : <8x4xf16, shared> -> tensor<8x4xf16>
  %v = tile.buffer_load %w : !tile.buffer<8x4xf16, shared> -> tensor<8x4xf16>
  %mask = arith.constant dense<true> : tensor<8x4xi1>
  // CHECK: tile.buffer_store %{{.*}}, %{{.*}} mask %{{.*}} : tensor<8x4xi1>
  tile.buffer_store %w, %v mask %mask : tensor<8x4xi1> : !tile.buffer<8x4xf16, shared>, tensor<8x4xf16>
  // CHECK: tile.element_load %{{.*}}[%{{.*}}] : <48xi32, shared>, i32 -> i32
  %e = tile.element_load %r[%i] : !tile.buffer<48xi32, shared>, i32 -> i32
  // CHECK: tile.element_store %{{.*}}[%{{.*}}, %{{.*}}], %{{.*}} : <8x4xf16, shared>, (i32, i32), f16
  tile.element_store %w[%i, %i], %f : !tile.buffer<8x4xf16, shared>, (i32, i32), f16
  tile.return
}
