// RUN: tilery-opt %s --unroll-slots --split-input-file | FileCheck %s
// RUN: tilery-opt %s --unroll-slots --split-buffers --split-input-file | FileCheck %s --check-prefix=APART

// A loop fills slots by number that other code names: each slot is filled by name, and is a buffer of its own, of which parts are read.
// CHECK-LABEL: tile.kernel @named
// CHECK-NOT:     scf.for
// CHECK:         tile.buffer_store
// CHECK:         tile.buffer_store
// CHECK:         tile.return
// APART-LABEL: tile.kernel @named
// APART:         tile.alloc : <1x4x8xf32, shared>
// APART:         tile.alloc : <1x4x8xf32, shared>
// APART-NOT:     tile.alloc
// APART:         %[[FOUR:.*]] = arith.constant 4 : i64
// APART:         tile.subview %{{.*}}[%{{.*}}, %{{.*}}, %[[FOUR]]] dims [1, 2]
tile.kernel @named(%x: tensor<4x8xf32>, %out: !tile.access<4x4xf32>) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %two = arith.constant 2 : i32
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c4 = arith.constant 4 : i64
  %buffer = tile.alloc : !tile.buffer<2x4x8xf32, shared>
  scf.for %s = %zero to %two step %one : i32 {
    %slot = arith.extsi %s : i32 to i64
    %w = tile.subview %buffer[%slot, %c0, %c0] dims [1, 2] : !tile.buffer<2x4x8xf32, shared>, i64, i64, i64 -> !tile.buffer<4x8xf32, shared>
    tile.buffer_store %w, %x : !tile.buffer<4x8xf32, shared>, tensor<4x8xf32>
  }
  %a = tile.subview %buffer[%c0, %c0, %c4] dims [1, 2] : !tile.buffer<2x4x8xf32, shared>, i64, i64, i64 -> !tile.buffer<4x4xf32, shared>
  %b = tile.subview %buffer[%c1, %c0, %c0] dims [1, 2] : !tile.buffer<2x4x8xf32, shared>, i64, i64, i64 -> !tile.buffer<4x4xf32, shared>
  %ta = tile.buffer_load %a : !tile.buffer<4x4xf32, shared> -> tensor<4x4xf32>
  %tb = tile.buffer_load %b : !tile.buffer<4x4xf32, shared> -> tensor<4x4xf32>
  tile.store %out, %ta : !tile.access<4x4xf32>, tensor<4x4xf32>
  tile.store %out, %tb : !tile.access<4x4xf32>, tensor<4x4xf32>
  tile.return
}

// -----

// Other code counts, too.
// CHECK-LABEL: tile.kernel @counted
// CHECK:         scf.for
tile.kernel @counted(%x: tensor<4x8xf32>, %out: !tile.access<4x8xf32>, %n: i64) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %two = arith.constant 2 : i32
  %c0 = arith.constant 0 : i64
  %buffer = tile.alloc : !tile.buffer<2x4x8xf32, shared>
  scf.for %s = %zero to %two step %one : i32 {
    %slot = arith.extsi %s : i32 to i64
    %w = tile.subview %buffer[%slot, %c0, %c0] dims [1, 2] : !tile.buffer<2x4x8xf32, shared>, i64, i64, i64 -> !tile.buffer<4x8xf32, shared>
    tile.buffer_store %w, %x : !tile.buffer<4x8xf32, shared>, tensor<4x8xf32>
  }
  %a = tile.subview %buffer[%n, %c0, %c0] dims [1, 2] : !tile.buffer<2x4x8xf32, shared>, i64, i64, i64 -> !tile.buffer<4x8xf32, shared>
  %ta = tile.buffer_load %a : !tile.buffer<4x8xf32, shared> -> tensor<4x8xf32>
  tile.store %out, %ta : !tile.access<4x8xf32>, tensor<4x8xf32>
  tile.return
}
