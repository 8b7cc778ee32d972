// RUN: tilery-opt --pass-pipeline='builtin.module(tile.kernel(parallel-to-tiles))' %s | FileCheck %s

// Several points compute one element from itself: each counts.
// CHECK-LABEL: @shared
// CHECK-COUNT-2: tile.reduce
// CHECK: tile.buffer_store
// CHECK-NOT: tile.element_store
tile.kernel @shared(%p: !tile.ptr<f32>) {
  %n = arith.constant 32 : i32
  %m = arith.constant 64 : i32
  %8 = arith.constant 8 : i32
  %from = tile.alloc : <32x64xf32, fragment>
  %to = tile.alloc : <64xf32, fragment>
  tile.parallel(%n, %m) {
  ^bb0(%i: i32, %j: i32):
    %a = tile.element_load %from[%i, %j] : <32x64xf32, fragment>, i32, i32 -> f32
    %at = tile.rem floor %j, %8 : i32
    %again = tile.rem floor %j, %8 : i32
    %old = tile.element_load %to[%again] : <64xf32, fragment>, i32 -> f32
    %new = arith.maxnumf %old, %a : f32
    tile.element_store %to[%at], %new : <64xf32, fragment>, (i32), f32
  } : i32, i32
  tile.return
}

// Where nothing tells which points those are, one after the other.
// CHECK-LABEL: @anywhere
// CHECK: tile.parallel
// CHECK: tile.element_update fmax
// CHECK-NOT: tile.element_store
tile.kernel @anywhere(%p: !tile.ptr<f32>) {
  %n = arith.constant 32 : i32
  %m = arith.constant 64 : i32
  %8 = arith.constant 8 : i32
  %from = tile.alloc : <32x64xf32, fragment>
  %to = tile.alloc : <64xf32, fragment>
  tile.parallel(%n, %m) {
  ^bb0(%i: i32, %j: i32):
    %a = tile.element_load %from[%i, %j] : <32x64xf32, fragment>, i32, i32 -> f32
    %product = arith.muli %i, %j : i32
    %at = tile.rem floor %product, %8 : i32
    %old = tile.element_load %to[%at] : <64xf32, fragment>, i32 -> f32
    %new = arith.maxnumf %old, %a : f32
    tile.element_store %to[%at], %new : <64xf32, fragment>, (i32), f32
  } : i32, i32
  tile.return
}

// Each point has an element of its own.
// CHECK-LABEL: @apart
// CHECK-NOT: tile.element_update
tile.kernel @apart(%p: !tile.ptr<f32>) {
  %n = arith.constant 4 : i32
  %m = arith.constant 8 : i32
  %8 = arith.constant 8 : i32
  %from = tile.alloc : <4x8xf32, fragment>
  %to = tile.alloc : <32xf32, fragment>
  tile.parallel(%n, %m) {
  ^bb0(%i: i32, %j: i32):
    %a = tile.element_load %from[%i, %j] : <4x8xf32, fragment>, i32, i32 -> f32
    %row = arith.muli %i, %8 : i32
    %at = arith.addi %row, %j : i32
    %old = tile.element_load %to[%at] : <32xf32, fragment>, i32 -> f32
    %new = arith.maxnumf %old, %a : f32
    tile.element_store %to[%at], %new : <32xf32, fragment>, (i32), f32
  } : i32, i32
  tile.return
}
