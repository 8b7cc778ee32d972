// RUN: tilery-opt --split-buffers --split-input-file %s | FileCheck %s

// Windows side by side are buffers; a fill of the whole fills both.
// CHECK-LABEL: tile.kernel @apart
// CHECK-DAG:     %[[B:.*]] = tile.alloc : <4x8xf32, shared>
// CHECK-DAG:     %[[A:.*]] = tile.alloc : <4x4xf32, shared>
// CHECK-DAG:     tile.buffer_store %[[B]], %{{.*}} : <4x8xf32, shared>
// CHECK-DAG:     tile.buffer_store %[[A]], %{{.*}} : <4x4xf32, shared>
// CHECK-NOT:     tile.subview
// CHECK:         tile.buffer_store %[[A]]
// CHECK:         tile.buffer_load %[[B]]
// CHECK:         tile.buffer_load %[[A]]
tile.kernel @apart(%in: !tile.access<4x4xf32>, %out: !tile.access<4x4xf32>, %wide: !tile.access<4x8xf32>) {
  %c0 = arith.constant 0 : i64
  %c4 = arith.constant 4 : i64
  %zero = arith.constant 0.0 : f32
  %fill = tile.splat %zero : f32 -> tensor<4x12xf32>
  %a = tile.alloc : !tile.buffer<4x12xf32, shared>
  tile.buffer_store %a, %fill : !tile.buffer<4x12xf32, shared>, tensor<4x12xf32>
  %x = tile.load %in : !tile.access<4x4xf32> -> tensor<4x4xf32>
  %first = tile.subview %a[%c0, %c0] dims [0, 1] : !tile.buffer<4x12xf32, shared>, i64, i64 -> !tile.buffer<4x4xf32, shared>
  tile.buffer_store %first, %x : !tile.buffer<4x4xf32, shared>, tensor<4x4xf32>
  %rest = tile.subview %a[%c0, %c4] dims [0, 1] : !tile.buffer<4x12xf32, shared>, i64, i64 -> !tile.buffer<4x8xf32, shared>
  %y = tile.buffer_load %rest : !tile.buffer<4x8xf32, shared> -> tensor<4x8xf32>
  tile.store %wide, %y : !tile.access<4x8xf32>, tensor<4x8xf32>
  %again = tile.subview %a[%c0, %c0] dims [0, 1] : !tile.buffer<4x12xf32, shared>, i64, i64 -> !tile.buffer<4x4xf32, shared>
  %z = tile.buffer_load %again : !tile.buffer<4x4xf32, shared> -> tensor<4x4xf32>
  tile.store %out, %z : !tile.access<4x4xf32>, tensor<4x4xf32>
  tile.return
}

// -----
// A load into the whole loads each window, with its own starts and limits.
// CHECK-LABEL: tile.kernel @loaded
// CHECK-DAG:     tile.view %{{.*}}[%{{.*}}, %[[START:.*]]] dims [0, 1] dilations[%{{.*}}] limits[%{{.*}}, %[[LIMIT:.*]]] : <2xf32> -> <4x8xf32>
// CHECK-DAG:     tile.view %{{.*}}[%{{.*}}, %{{.*}}] dims [0, 1] dilations[%{{.*}}] limits[%{{.*}}, %{{.*}}] : <2xf32> -> <4x4xf32>
// CHECK:         tile.alloc : <4x8xf32, shared>
// CHECK-NOT:     tile.subview
tile.kernel @loaded(%p: !tile.ptr<f32>, %n: i64, %wide: !tile.access<4x8xf32>, %out: !tile.access<4x4xf32>) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c4 = arith.constant 4 : i64
  %root = tile.root %p[%n, %n] strides[%n, %c1] : !tile.ptr<f32> -> !tile.root<2xf32>
  %view = tile.view %root[%n, %n] dims [0, 1] dilations[%c1, %c1] limits[%n, %n] : !tile.root<2xf32> -> !tile.view<4x12xf32>
  %x = tile.load %view : !tile.view<4x12xf32> -> tensor<4x12xf32>
  %a = tile.alloc : !tile.buffer<4x12xf32, shared>
  tile.buffer_store %a, %x : !tile.buffer<4x12xf32, shared>, tensor<4x12xf32>
  %rest = tile.subview %a[%c0, %c4] dims [0, 1] : !tile.buffer<4x12xf32, shared>, i64, i64 -> !tile.buffer<4x8xf32, shared>
  %y = tile.buffer_load %rest : !tile.buffer<4x8xf32, shared> -> tensor<4x8xf32>
  tile.store %wide, %y : !tile.access<4x8xf32>, tensor<4x8xf32>
  %first = tile.subview %a[%c0, %c0] dims [0, 1] : !tile.buffer<4x12xf32, shared>, i64, i64 -> !tile.buffer<4x4xf32, shared>
  %z = tile.buffer_load %first : !tile.buffer<4x4xf32, shared> -> tensor<4x4xf32>
  tile.store %out, %z : !tile.access<4x4xf32>, tensor<4x4xf32>
  tile.return
}

// -----
// Windows that meet, and a whole that is read, stay what they are.
// CHECK-LABEL: tile.kernel @meeting
// CHECK:         tile.alloc : <4x12xf32, shared>
// CHECK-COUNT-2: tile.subview
// CHECK:         tile.alloc : <8xf32, shared>
// CHECK:         tile.subview
tile.kernel @meeting(%in: !tile.access<4x8xf32>, %out: !tile.access<4x8xf32>, %row: !tile.access<4xf32>, %rows: !tile.access<8xf32>) {
  %c0 = arith.constant 0 : i64
  %c4 = arith.constant 4 : i64
  %a = tile.alloc : !tile.buffer<4x12xf32, shared>
  %x = tile.load %in : !tile.access<4x8xf32> -> tensor<4x8xf32>
  %first = tile.subview %a[%c0, %c0] dims [0, 1] : !tile.buffer<4x12xf32, shared>, i64, i64 -> !tile.buffer<4x8xf32, shared>
  tile.buffer_store %first, %x : !tile.buffer<4x8xf32, shared>, tensor<4x8xf32>
  %second = tile.subview %a[%c0, %c4] dims [0, 1] : !tile.buffer<4x12xf32, shared>, i64, i64 -> !tile.buffer<4x8xf32, shared>
  %y = tile.buffer_load %second : !tile.buffer<4x8xf32, shared> -> tensor<4x8xf32>
  tile.store %out, %y : !tile.access<4x8xf32>, tensor<4x8xf32>
  %b = tile.alloc : !tile.buffer<8xf32, shared>
  %half = tile.subview %b[%c4] dims [0] : !tile.buffer<8xf32, shared>, i64 -> !tile.buffer<4xf32, shared>
  %r = tile.load %row : !tile.access<4xf32> -> tensor<4xf32>
  tile.buffer_store %half, %r : !tile.buffer<4xf32, shared>, tensor<4xf32>
  %all = tile.buffer_load %b : !tile.buffer<8xf32, shared> -> tensor<8xf32>
  tile.store %rows, %all : !tile.access<8xf32>, tensor<8xf32>
  tile.return
}
