// RUN: tilery-opt --open-buffers --promote-buffers --split-input-file %s | FileCheck %s

// A column a step: lanes of the whole, which the loop carries.
// CHECK-LABEL: tile.kernel @columns
// CHECK-NOT:     tile.alloc
// CHECK:         scf.for %[[I:.*]] = {{.*}} iter_args(%[[OLD:.*]] = %{{.*}}) -> (tensor<8x4xf32>)
// CHECK:           %[[X:.*]] = tile.load
// CHECK:           %[[ONE:.*]] = tile.splat %[[I]] : i32 -> tensor<4xi32>
// CHECK:           %[[ALL:.*]] = tile.range 0 to 4 : tensor<4xi32>
// CHECK:           %[[SAME:.*]] = arith.cmpi eq, %[[ALL]], %[[ONE]]
// CHECK:           %[[LINE:.*]] = tile.expand_dims %[[SAME]] axis 0
// CHECK:           %[[MASK:.*]] = tile.broadcast %[[LINE]] : tensor<1x4xi1> -> tensor<8x4xi1>
// CHECK:           %[[HIGH:.*]] = tile.expand_dims %[[X]] axis 1
// CHECK:           %[[WIDE:.*]] = tile.broadcast %[[HIGH]] : tensor<8x1xf32> -> tensor<8x4xf32>
// CHECK:           %[[NEW:.*]] = arith.select %[[MASK]], %[[WIDE]], %[[OLD]]
// CHECK:           scf.yield %[[NEW]]
tile.kernel @columns(%in: !tile.access<8xf32>, %out: !tile.access<8x4xf32>, %n: i32) {
  %c0 = arith.constant 0 : i64
  %c0_i32 = arith.constant 0 : i32
  %c1_i32 = arith.constant 1 : i32
  %a = tile.alloc : !tile.buffer<8x4xf32, shared>
  scf.for %i = %c0_i32 to %n step %c1_i32 : i32 {
    %x = tile.load %in : !tile.access<8xf32> -> tensor<8xf32>
    %w = tile.subview %a[%c0, %i] dims [0] : !tile.buffer<8x4xf32, shared>, i64, i32 -> !tile.buffer<8xf32, shared>
    tile.buffer_store %w, %x : !tile.buffer<8xf32, shared>, tensor<8xf32>
  }
  %all = tile.buffer_load %a : !tile.buffer<8x4xf32, shared> -> tensor<8x4xf32>
  tile.store %out, %all : !tile.access<8x4xf32>, tensor<8x4xf32>
  tile.return
}

// -----
// A line of a buffer of three dimensions: lanes where both numbers are its own. One that 32 bits do not hold is no lane's.
// CHECK-LABEL: tile.kernel @of_three
// CHECK-NOT:     tile.alloc
// CHECK:         %[[IS:.*]] = arith.cmpi ult, %{{.*}}, %c2_i64 : i64
// CHECK:         %[[LOW:.*]] = arith.trunci %{{.*}} : i64 to i32
// CHECK:         arith.select %[[IS]], %[[LOW]], %c-1_i32 : i32
// CHECK:         %[[FIRST:.*]] = tile.broadcast %{{.*}} : tensor<2x1x1xi1> -> tensor<2x4x3xi1>
// CHECK:         %[[SECOND:.*]] = tile.broadcast %{{.*}} : tensor<1x1x3xi1> -> tensor<2x4x3xi1>
// CHECK:         arith.andi %[[FIRST]], %[[SECOND]]
// CHECK:         tile.broadcast %{{.*}} : tensor<1x4x1xf32> -> tensor<2x4x3xf32>
tile.kernel @of_three(%in: !tile.access<4xf32>, %out: !tile.access<2x4x3xf32>, %n: i64) {
  %c0 = arith.constant 0 : i64
  %a = tile.alloc : !tile.buffer<2x4x3xf32, shared>
  %x = tile.load %in : !tile.access<4xf32> -> tensor<4xf32>
  %w = tile.subview %a[%n, %c0, %n] dims [1] : !tile.buffer<2x4x3xf32, shared>, i64, i64, i64 -> !tile.buffer<4xf32, shared>
  tile.buffer_store %w, %x : !tile.buffer<4xf32, shared>, tensor<4xf32>
  %all = tile.buffer_load %a : !tile.buffer<2x4x3xf32, shared> -> tensor<2x4x3xf32>
  tile.store %out, %all : !tile.access<2x4x3xf32>, tensor<2x4x3xf32>
  tile.return
}

// -----
// A line that is read stays in memory, and so does a window of some rows.
// CHECK-LABEL: tile.kernel @read
// CHECK:         tile.alloc
// CHECK:         tile.subview
tile.kernel @read(%in: !tile.access<8xf32>, %out: !tile.access<8xf32>, %n: i64) {
  %c0 = arith.constant 0 : i64
  %a = tile.alloc : !tile.buffer<8x4xf32, shared>
  %x = tile.load %in : !tile.access<8xf32> -> tensor<8xf32>
  %w = tile.subview %a[%c0, %n] dims [0] : !tile.buffer<8x4xf32, shared>, i64, i64 -> !tile.buffer<8xf32, shared>
  tile.buffer_store %w, %x : !tile.buffer<8xf32, shared>, tensor<8xf32>
  %y = tile.buffer_load %w : !tile.buffer<8xf32, shared> -> tensor<8xf32>
  tile.store %out, %y : !tile.access<8xf32>, tensor<8xf32>
  tile.return
}

// CHECK-LABEL: tile.kernel @some_rows
// CHECK:         tile.alloc
// CHECK:         tile.subview
tile.kernel @some_rows(%in: !tile.access<4xf32>, %out: !tile.access<8x4xf32>, %n: i64) {
  %c0 = arith.constant 0 : i64
  %a = tile.alloc : !tile.buffer<8x4xf32, shared>
  %x = tile.load %in : !tile.access<4xf32> -> tensor<4xf32>
  %w = tile.subview %a[%c0, %n] dims [0] : !tile.buffer<8x4xf32, shared>, i64, i64 -> !tile.buffer<4xf32, shared>
  tile.buffer_store %w, %x : !tile.buffer<4xf32, shared>, tensor<4xf32>
  %all = tile.buffer_load %a : !tile.buffer<8x4xf32, shared> -> tensor<8x4xf32>
  tile.store %out, %all : !tile.access<8x4xf32>, tensor<8x4xf32>
  tile.return
}
