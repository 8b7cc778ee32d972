// RUN: tilery-opt --collect-copies --split-input-file %s | FileCheck %s

// Rows count by loop and lane, columns by lane and element.
// CHECK-LABEL: tile.kernel @box
// CHECK-NOT:     scf.for
// CHECK-NOT:     tile.parallel
// CHECK:         %[[AT:.*]] = tile.view %{{.*}} dims [0, 1] dilations[%{{.*}}, %{{.*}}] limits[] : <2xf16> -> <8x8xf16>
// CHECK:         %[[TILE:.*]] = tile.load %[[AT]]
// CHECK:         tile.buffer_store %{{.*}}, %[[TILE]] : <8x8xf16, shared>, tensor<8x8xf16>
tile.kernel @box(%p: !tile.ptr<f16>, %n: i64, %out: !tile.access<8x8xf16>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c4 = arith.constant 4 : i32
  %one = arith.constant 1 : i64
  %two = arith.constant 2 : i64
  %root = tile.root %p[%n, %n] strides[%n, %one] : !tile.ptr<f16> -> !tile.root<2xf16>
  %a = tile.alloc : !tile.buffer<8x8xf16, shared>
  scf.for %r = %c0 to %c2 step %c1 : i32 {
    %first = arith.muli %r, %c4 overflow<nsw> : i32
    %row = arith.extsi %first : i32 to i64
    %at = arith.addi %n, %row overflow<nsw> : i64
    %even = tile.view %root[%at, %n] dims [0, 1] dilations[%one, %two] limits[] : !tile.root<2xf16> -> !tile.view<4x4xf16>
    %x = tile.load %even : !tile.view<4x4xf16> -> tensor<4x4xf16>
    %next = arith.addi %n, %one overflow<nsw> : i64
    %odd = tile.view %root[%at, %next] dims [0, 1] dilations[%one, %two] limits[] : !tile.root<2xf16> -> !tile.view<4x4xf16>
    %y = tile.load %odd : !tile.view<4x4xf16> -> tensor<4x4xf16>
    tile.parallel(%c4, %c4) {
    ^bb0(%i: i32, %j: i32):
      %to = arith.addi %first, %i overflow<nsw> : i32
      %column = arith.muli %j, %c2 overflow<nsw> : i32
      %v = tile.extract %x[%i, %j] : tensor<4x4xf16>, i32, i32 -> f16
      tile.element_store %a[%to, %column], %v : !tile.buffer<8x8xf16, shared>, (i32, i32), f16
    } : i32, i32
    tile.parallel(%c4, %c4) {
    ^bb0(%i: i32, %j: i32):
      %to = arith.addi %first, %i overflow<nsw> : i32
      %twice = arith.muli %j, %c2 overflow<nsw> : i32
      %column = arith.addi %twice, %c1 overflow<nsw> : i32
      %v = tile.extract %y[%i, %j] : tensor<4x4xf16>, i32, i32 -> f16
      tile.element_store %a[%to, %column], %v : !tile.buffer<8x8xf16, shared>, (i32, i32), f16
    } : i32, i32
  }
  %all = tile.buffer_load %a : !tile.buffer<8x8xf16, shared> -> tensor<8x8xf16>
  tile.store %out, %all : !tile.access<8x8xf16>, tensor<8x8xf16>
  tile.return
}

// -----
// A loop that leaves rows out, and one whose columns come from elsewhere, stay.
// CHECK-LABEL: tile.kernel @gaps
// CHECK:         scf.for
// CHECK:         tile.element_store
tile.kernel @gaps(%p: !tile.ptr<f16>, %n: i64, %out: !tile.access<16x4xf16>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c4 = arith.constant 4 : i32
  %c8 = arith.constant 8 : i32
  %one = arith.constant 1 : i64
  %root = tile.root %p[%n, %n] strides[%n, %one] : !tile.ptr<f16> -> !tile.root<2xf16>
  %a = tile.alloc : !tile.buffer<16x4xf16, shared>
  scf.for %r = %c0 to %c2 step %c1 : i32 {
    %first = arith.muli %r, %c8 overflow<nsw> : i32
    %row = arith.extsi %first : i32 to i64
    %at = tile.view %root[%row, %n] dims [0, 1] dilations[%one, %one] limits[] : !tile.root<2xf16> -> !tile.view<4x4xf16>
    %x = tile.load %at : !tile.view<4x4xf16> -> tensor<4x4xf16>
    tile.parallel(%c4, %c4) {
    ^bb0(%i: i32, %j: i32):
      %to = arith.addi %first, %i overflow<nsw> : i32
      %v = tile.extract %x[%i, %j] : tensor<4x4xf16>, i32, i32 -> f16
      tile.element_store %a[%to, %j], %v : !tile.buffer<16x4xf16, shared>, (i32, i32), f16
    } : i32, i32
  }
  %all = tile.buffer_load %a : !tile.buffer<16x4xf16, shared> -> tensor<16x4xf16>
  tile.store %out, %all : !tile.access<16x4xf16>, tensor<16x4xf16>
  tile.return
}

// -----
// The second elements are of fewer lanes than the first.
// CHECK-LABEL: tile.kernel @fewer
// CHECK:         scf.for
// CHECK:         tile.element_store
tile.kernel @fewer(%p: !tile.ptr<f16>, %n: i64, %m: i32, %out: !tile.access<8x8xf16>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c4 = arith.constant 4 : i32
  %one = arith.constant 1 : i64
  %two = arith.constant 2 : i64
  %root = tile.root %p[%n, %n] strides[%n, %one] : !tile.ptr<f16> -> !tile.root<2xf16>
  %a = tile.alloc : !tile.buffer<8x8xf16, shared>
  scf.for %r = %c0 to %c2 step %c1 : i32 {
    %first = arith.muli %r, %c4 overflow<nsw> : i32
    %row = arith.extsi %first : i32 to i64
    %even = tile.view %root[%row, %n] dims [0, 1] dilations[%one, %two] limits[] : !tile.root<2xf16> -> !tile.view<4x4xf16>
    %x = tile.load %even : !tile.view<4x4xf16> -> tensor<4x4xf16>
    %next = arith.addi %n, %one overflow<nsw> : i64
    %odd = tile.view %root[%row, %next] dims [0, 1] dilations[%one, %two] limits[] : !tile.root<2xf16> -> !tile.view<4x4xf16>
    %y = tile.load %odd : !tile.view<4x4xf16> -> tensor<4x4xf16>
    tile.parallel(%c4, %c4) {
    ^bb0(%i: i32, %j: i32):
      %to = arith.addi %first, %i overflow<nsw> : i32
      %column = arith.muli %j, %c2 overflow<nsw> : i32
      %v = tile.extract %x[%i, %j] : tensor<4x4xf16>, i32, i32 -> f16
      tile.element_store %a[%to, %column], %v : !tile.buffer<8x8xf16, shared>, (i32, i32), f16
    } : i32, i32
    tile.parallel(%c4, %c2) {
    ^bb0(%i: i32, %j: i32):
      %to = arith.addi %first, %i overflow<nsw> : i32
      %twice = arith.muli %j, %c2 overflow<nsw> : i32
      %column = arith.addi %twice, %c1 overflow<nsw> : i32
      %v = tile.extract %y[%i, %j] : tensor<4x4xf16>, i32, i32 -> f16
      tile.element_store %a[%to, %column], %v : !tile.buffer<8x8xf16, shared>, (i32, i32), f16
    } : i32, i32
  }
  %all = tile.buffer_load %a : !tile.buffer<8x8xf16, shared> -> tensor<8x8xf16>
  tile.store %out, %all : !tile.access<8x8xf16>, tensor<8x8xf16>
  tile.return
}

// -----
// How many lanes there are is known at run time.
// CHECK-LABEL: tile.kernel @unknown
// CHECK:         scf.for
// CHECK:         tile.element_store
tile.kernel @unknown(%p: !tile.ptr<f16>, %n: i64, %m: i32, %out: !tile.access<8x8xf16>) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c4 = arith.constant 4 : i32
  %one = arith.constant 1 : i64
  %two = arith.constant 2 : i64
  %root = tile.root %p[%n, %n] strides[%n, %one] : !tile.ptr<f16> -> !tile.root<2xf16>
  %a = tile.alloc : !tile.buffer<8x8xf16, shared>
  scf.for %r = %c0 to %c2 step %c1 : i32 {
    %first = arith.muli %r, %c4 overflow<nsw> : i32
    %row = arith.extsi %first : i32 to i64
    %even = tile.view %root[%row, %n] dims [0, 1] dilations[%one, %two] limits[] : !tile.root<2xf16> -> !tile.view<4x4xf16>
    %x = tile.load %even : !tile.view<4x4xf16> -> tensor<4x4xf16>
    %next = arith.addi %n, %one overflow<nsw> : i64
    %odd = tile.view %root[%row, %next] dims [0, 1] dilations[%one, %two] limits[] : !tile.root<2xf16> -> !tile.view<4x4xf16>
    %y = tile.load %odd : !tile.view<4x4xf16> -> tensor<4x4xf16>
    tile.parallel(%c4, %c4) {
    ^bb0(%i: i32, %j: i32):
      %to = arith.addi %first, %i overflow<nsw> : i32
      %column = arith.muli %j, %c2 overflow<nsw> : i32
      %v = tile.extract %x[%i, %j] : tensor<4x4xf16>, i32, i32 -> f16
      tile.element_store %a[%to, %column], %v : !tile.buffer<8x8xf16, shared>, (i32, i32), f16
    } : i32, i32
    tile.parallel(%c4, %m) {
    ^bb0(%i: i32, %j: i32):
      %to = arith.addi %first, %i overflow<nsw> : i32
      %twice = arith.muli %j, %c2 overflow<nsw> : i32
      %column = arith.addi %twice, %c1 overflow<nsw> : i32
      %v = tile.extract %y[%i, %j] : tensor<4x4xf16>, i32, i32 -> f16
      tile.element_store %a[%to, %column], %v : !tile.buffer<8x8xf16, shared>, (i32, i32), f16
    } : i32, i32
  }
  %all = tile.buffer_load %a : !tile.buffer<8x8xf16, shared> -> tensor<8x8xf16>
  tile.store %out, %all : !tile.access<8x8xf16>, tensor<8x8xf16>
  tile.return
}
