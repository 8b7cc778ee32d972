// RUN: tilery-opt --own-buffers --split-input-file %s | FileCheck %s

// Kept from turn to turn: one for each iteration, which all begin with what is written outside of the loops.
// CHECK-LABEL: tile.kernel @kept
// CHECK:         %[[B:.*]] = tile.alloc : <8x2xf32, fragment>
// CHECK:         tile.buffer_store %[[B]], %{{.*}} : <8x2xf32, fragment>, tensor<8x2xf32>
// CHECK:         tile.parallel(%{{.*}}) {
// CHECK-NEXT:    ^bb0(%[[N:.*]]: i64):
// CHECK-NEXT:      tile.element_store %[[B]][%[[N]], %c1_i64]
// CHECK:         scf.for
// CHECK:           tile.parallel
// CHECK-NEXT:      ^bb0(%[[I:.*]]: i32):
// CHECK:             %[[J:.*]] = arith.extsi %[[I]] : i32 to i64
// CHECK:             tile.element_load %[[B]][%[[J]], %c0_i64]
// CHECK:             tile.element_store %[[B]]
tile.kernel @kept(%turns: i32, %x: f32) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %eight = arith.constant 8 : i32
  %a = tile.alloc : !tile.buffer<2xf32, local>
  %fill = tile.splat %x : f32 -> tensor<2xf32>
  tile.buffer_store %a, %fill : !tile.buffer<2xf32, local>, tensor<2xf32>
  tile.element_store %a[%c1], %x : !tile.buffer<2xf32, local>, (i64), f32
  scf.for %k = %zero to %turns step %one : i32 {
    tile.parallel(%eight) {
    ^bb0(%i: i32):
      %v = tile.element_load %a[%c0] : !tile.buffer<2xf32, local>, i64 -> f32
      %w = arith.addf %v, %x : f32
      tile.element_store %a[%c0], %w : !tile.buffer<2xf32, local>, (i64), f32
    } : i32
  }
  tile.return
}

// -----

// Written before it is read, in a place or all places: one will do.
// CHECK-LABEL: tile.kernel @written
// CHECK:         tile.alloc : <4xf32, local>
// CHECK-NOT:     fragment
tile.kernel @written(%turns: i64, %x: f32) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c4 = arith.constant 4 : i64
  %eight = arith.constant 8 : i32
  %a = tile.alloc : !tile.buffer<4xf32, local>
  scf.for %k = %c0 to %turns step %c1 : i64 {
    tile.parallel(%eight) {
    ^bb0(%i: i32):
      scf.for %j = %c0 to %c4 step %c1 : i64 {
        tile.element_store %a[%j], %x : !tile.buffer<4xf32, local>, (i64), f32
      }
      %v = tile.element_load %a[%k] : !tile.buffer<4xf32, local>, i64 -> f32
      tile.element_store %a[%c1], %v : !tile.buffer<4xf32, local>, (i64), f32
      %w = tile.element_load %a[%c1] : !tile.buffer<4xf32, local>, i64 -> f32
    } : i32
  }
  tile.return
}

// -----

// Another place is written than the one that is read.
// CHECK-LABEL: tile.kernel @another
// CHECK:         tile.alloc : <8x4xf32, fragment>
tile.kernel @another(%turns: i64, %x: f32) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %eight = arith.constant 8 : i32
  %a = tile.alloc : !tile.buffer<4xf32, local>
  scf.for %k = %c0 to %turns step %c1 : i64 {
    tile.parallel(%eight) {
    ^bb0(%i: i32):
      tile.element_store %a[%k], %x : !tile.buffer<4xf32, local>, (i64), f32
      %w = tile.element_load %a[%c1] : !tile.buffer<4xf32, local>, i64 -> f32
    } : i32
  }
  tile.return
}

// -----

// What the block alone writes, what it reads, and loops of different iterations.
// CHECK-LABEL: tile.kernel @left
// CHECK-COUNT-3: tile.alloc : <1xf32, local>
// CHECK-NOT:     fragment
tile.kernel @left(%turns: i32, %x: f32, %out: !tile.ptr<f32>) {
  %c0 = arith.constant 0 : i64
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %four = arith.constant 4 : i32
  %eight = arith.constant 8 : i32
  %a = tile.alloc : !tile.buffer<1xf32, local>
  %b = tile.alloc : !tile.buffer<1xf32, local>
  %c = tile.alloc : !tile.buffer<1xf32, local>
  scf.for %k = %zero to %turns step %one : i32 {
    tile.element_store %a[%c0], %x : !tile.buffer<1xf32, local>, (i64), f32
    tile.parallel(%eight) {
    ^bb0(%i: i32):
      %v = tile.element_load %a[%c0] : !tile.buffer<1xf32, local>, i64 -> f32
      %w = tile.element_load %b[%c0] : !tile.buffer<1xf32, local>, i64 -> f32
      %u = tile.element_load %c[%c0] : !tile.buffer<1xf32, local>, i64 -> f32
      tile.element_store %b[%c0], %v : !tile.buffer<1xf32, local>, (i64), f32
      tile.element_store %c[%c0], %u : !tile.buffer<1xf32, local>, (i64), f32
    } : i32
    tile.parallel(%four) {
    ^bb0(%i: i32):
      %u = tile.element_load %c[%c0] : !tile.buffer<1xf32, local>, i64 -> f32
    } : i32
  }
  %last = tile.element_load %b[%c0] : !tile.buffer<1xf32, local>, i64 -> f32
  tile.return
}
