// RUN: tilery-opt --widen-stores --promote-buffers --split-input-file %s | FileCheck %s

// The first rows of a tile are stored: the whole is, and its other rows do not exist.
// CHECK-LABEL: tile.kernel @first
// CHECK-NOT:     tile.alloc
// CHECK:         %[[X:.*]] = tile.load
// CHECK:         %[[LOW:.*]] = arith.truncf %[[X]] : tensor<8x4xf32> to tensor<8x4xf16>
// CHECK:         %[[AT:.*]] = tile.view %{{.*}}[%{{.*}}, %{{.*}}] dims [0, 1] dilations[%{{.*}}, %{{.*}}] limits[%{{.*}}, %{{.*}}] : <2xf16> -> <8x4xf16>
// CHECK:         tile.store %[[AT]], %[[LOW]]
tile.kernel @first(%in: !tile.access<8x4xf32>, %p: !tile.ptr<f16>, %n: i64) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %root = tile.root %p[%n, %n] strides[%n, %c1] : !tile.ptr<f16> -> !tile.root<2xf16>
  %x = tile.load %in : !tile.access<8x4xf32> -> tensor<8x4xf32>
  %a = tile.alloc : !tile.buffer<8x4xf32, fragment>
  tile.buffer_store %a, %x : !tile.buffer<8x4xf32, fragment>, tensor<8x4xf32>
  %w = tile.subview %a[%c0, %c0] dims [0, 1] : !tile.buffer<8x4xf32, fragment>, i64, i64 -> !tile.buffer<2x4xf32, fragment>
  %y = tile.buffer_load %w : !tile.buffer<2x4xf32, fragment> -> tensor<2x4xf32>
  %low = arith.truncf %y : tensor<2x4xf32> to tensor<2x4xf16>
  %view = tile.view %root[%c0, %n] dims [0, 1] dilations[%c1, %c1] limits[] : !tile.root<2xf16> -> !tile.view<2x4xf16>
  tile.store %view, %low : !tile.view<2x4xf16>, tensor<2x4xf16>
  tile.return
}

// -----
// Lanes before the window do not exist, either, and its first is where it was.
// CHECK-LABEL: tile.kernel @last
// CHECK-NOT:     tile.alloc
// CHECK:         arith.subi
// CHECK:         arith.cmpi sge
// CHECK:         tile.view {{.*}} residual %{{.*}} : tensor<8x4xi1> : <2xf32> -> <8x4xf32>
tile.kernel @last(%in: !tile.access<8x4xf32>, %p: !tile.ptr<f32>, %n: i64) {
  %c0 = arith.constant 0 : i64
  %c6 = arith.constant 6 : i64
  %c1 = arith.constant 1 : i64
  %root = tile.root %p[%n, %n] strides[%n, %c1] : !tile.ptr<f32> -> !tile.root<2xf32>
  %x = tile.load %in : !tile.access<8x4xf32> -> tensor<8x4xf32>
  %a = tile.alloc : !tile.buffer<8x4xf32, fragment>
  tile.buffer_store %a, %x : !tile.buffer<8x4xf32, fragment>, tensor<8x4xf32>
  %w = tile.subview %a[%c6, %c0] dims [0, 1] : !tile.buffer<8x4xf32, fragment>, i64, i64 -> !tile.buffer<2x4xf32, fragment>
  %y = tile.buffer_load %w : !tile.buffer<2x4xf32, fragment> -> tensor<2x4xf32>
  %view = tile.view %root[%n, %n] dims [0, 1] dilations[%c1, %c1] limits[%n, %n] : !tile.root<2xf32> -> !tile.view<2x4xf32>
  tile.store %view, %y : !tile.view<2x4xf32>, tensor<2x4xf32>
  tile.return
}

// -----
// A window that is computed with is read.
// CHECK-LABEL: tile.kernel @summed
// CHECK:         tile.alloc
// CHECK:         tile.subview
tile.kernel @summed(%in: !tile.access<8x4xf32>, %out: !tile.access<4xf32>) {
  %c0 = arith.constant 0 : i64
  %x = tile.load %in : !tile.access<8x4xf32> -> tensor<8x4xf32>
  %a = tile.alloc : !tile.buffer<8x4xf32, fragment>
  tile.buffer_store %a, %x : !tile.buffer<8x4xf32, fragment>, tensor<8x4xf32>
  %w = tile.subview %a[%c0, %c0] dims [0, 1] : !tile.buffer<8x4xf32, fragment>, i64, i64 -> !tile.buffer<2x4xf32, fragment>
  %y = tile.buffer_load %w : !tile.buffer<2x4xf32, fragment> -> tensor<2x4xf32>
  %s = tile.reduce %y axis 0 {
  ^bb0(%p: f32, %q: f32):
    %t = arith.addf %p, %q : f32
    tile.yield %t : f32
  } : tensor<2x4xf32> -> tensor<4xf32>
  tile.store %out, %s : !tile.access<4xf32>, tensor<4xf32>
  tile.return
}
