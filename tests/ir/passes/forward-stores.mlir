// RUN: tilery-opt --forward-stores --split-input-file %s | FileCheck %s

// What a turn writes to its stage is what it reads there; the buffer goes.
// CHECK-LABEL: tile.kernel @stages
// CHECK-NOT:     tile.alloc
// CHECK:         %[[X:.*]] = tile.load
// CHECK-NOT:     tile.buffer_store
// CHECK:         tile.store %{{.*}}, %[[X]]
tile.kernel @stages(%in: !tile.access<4xf32>, %out: !tile.access<4xf32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %zero = arith.constant 0 : i64
  %a = tile.alloc : !tile.buffer<2x4xf32, shared>
  scf.for %k = %c0 to %n step %c1 : i32 {
    %x = tile.load %in : !tile.access<4xf32> -> tensor<4xf32>
    %stage = tile.rem floor %k, %c2 : i32
    %wide = arith.extsi %stage : i32 to i64
    %w = tile.subview %a[%wide, %zero] dims [1] : !tile.buffer<2x4xf32, shared>, i64, i64 -> !tile.buffer<4xf32, shared>
    tile.buffer_store %w, %x : !tile.buffer<4xf32, shared>, tensor<4xf32>
    %again = tile.rem floor %k, %c2 : i32
    %widened = arith.extsi %again : i32 to i64
    %r = tile.subview %a[%widened, %zero] dims [1] : !tile.buffer<2x4xf32, shared>, i64, i64 -> !tile.buffer<4xf32, shared>
    %y = tile.buffer_load %r : !tile.buffer<4xf32, shared> -> tensor<4xf32>
    tile.store %out, %y : !tile.access<4xf32>, tensor<4xf32>
  }
  tile.return
}

// -----

// Another stage, a stage that may not exist, and one that a loop between writes are read.
// CHECK-LABEL: tile.kernel @others
// CHECK-COUNT-3: tile.buffer_load
tile.kernel @others(%in: !tile.access<4xf32>, %out: !tile.access<4xf32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %x = tile.load %in : !tile.access<4xf32> -> tensor<4xf32>
  %a = tile.alloc : !tile.buffer<2x4xf32, shared>
  %a0 = tile.subview %a[%zero, %zero] dims [1] : !tile.buffer<2x4xf32, shared>, i64, i64 -> !tile.buffer<4xf32, shared>
  %a1 = tile.subview %a[%one, %zero] dims [1] : !tile.buffer<2x4xf32, shared>, i64, i64 -> !tile.buffer<4xf32, shared>
  tile.buffer_store %a0, %x : !tile.buffer<4xf32, shared>, tensor<4xf32>
  %p = tile.buffer_load %a1 : !tile.buffer<4xf32, shared> -> tensor<4xf32>
  tile.store %out, %p : !tile.access<4xf32>, tensor<4xf32>
  %b = tile.alloc : !tile.buffer<2x4xf32, shared>
  %wide = arith.extsi %n : i32 to i64
  %bn = tile.subview %b[%wide, %zero] dims [1] : !tile.buffer<2x4xf32, shared>, i64, i64 -> !tile.buffer<4xf32, shared>
  tile.buffer_store %bn, %x : !tile.buffer<4xf32, shared>, tensor<4xf32>
  %q = tile.buffer_load %bn : !tile.buffer<4xf32, shared> -> tensor<4xf32>
  tile.store %out, %q : !tile.access<4xf32>, tensor<4xf32>
  %c = tile.alloc : !tile.buffer<2x4xf32, shared>
  %c_0 = tile.subview %c[%zero, %zero] dims [1] : !tile.buffer<2x4xf32, shared>, i64, i64 -> !tile.buffer<4xf32, shared>
  tile.buffer_store %c_0, %x : !tile.buffer<4xf32, shared>, tensor<4xf32>
  scf.for %k = %c0 to %n step %c1 : i32 {
    tile.buffer_store %c_0, %p : !tile.buffer<4xf32, shared>, tensor<4xf32>
  }
  %r = tile.buffer_load %c_0 : !tile.buffer<4xf32, shared> -> tensor<4xf32>
  tile.store %out, %r : !tile.access<4xf32>, tensor<4xf32>
  tile.return
}
