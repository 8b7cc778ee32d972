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

// -----

// Rows that are not written are read by nothing but a product that adds them to -inf, and one that multiplies them by zeros.
// CHECK-LABEL: tile.kernel @unread
// CHECK-NOT:     tile.alloc
// CHECK:         %[[X:.*]] = tile.load
// CHECK:         %[[V:.*]] = arith.select %{{.*}}, %[[X]]
// CHECK-NOT:     tile.buffer_store
// CHECK:         tile.permute %[[V]]
// CHECK:         tile.dot %{{.*}}, %[[V]]
tile.kernel @unread(%rows: !tile.access<4x8xf32>, %mask: !tile.access<4xi1>, %out: !tile.access<4x8xf32>, %q: tensor<4x8xf32>, %i: i32) {
  %zero = arith.constant 0 : i64
  %inf = arith.constant dense<0xFF800000> : tensor<1x4xf32>
  %none = arith.constant dense<0.0> : tensor<1x4xf32>
  %acc = arith.constant dense<0.0> : tensor<4x8xf32>
  %two = arith.constant dense<2.0> : tensor<4x4xf32>
  %c2 = arith.constant 2 : i32
  %a = tile.alloc : !tile.buffer<2x4x8xf32, shared>
  %stage = tile.rem floor %i, %c2 : i32
  %wide = arith.extsi %stage : i32 to i64
  %x = tile.load %rows : !tile.access<4x8xf32> -> tensor<4x8xf32>
  %valid = tile.load %mask : !tile.access<4xi1> -> tensor<4xi1>
  %down = tile.expand_dims %valid axis 1 : tensor<4xi1> -> tensor<4x1xi1>
  %all = tile.broadcast %down : tensor<4x1xi1> -> tensor<4x8xi1>
  %w = tile.subview %a[%wide, %zero, %zero] dims [1, 2] : !tile.buffer<2x4x8xf32, shared>, i64, i64, i64 -> !tile.buffer<4x8xf32, shared>
  tile.buffer_store %w, %x mask %all : tensor<4x8xi1> : !tile.buffer<4x8xf32, shared>, tensor<4x8xf32>
  %across = tile.expand_dims %valid axis 0 : tensor<4xi1> -> tensor<1x4xi1>
  %bias = arith.select %across, %none, %inf : tensor<1x4xi1>, tensor<1x4xf32>
  %start = tile.broadcast %bias : tensor<1x4xf32> -> tensor<4x4xf32>
  %k = tile.buffer_load %w : !tile.buffer<4x8xf32, shared> -> tensor<4x8xf32>
  %kt = tile.permute %k [1, 0] : tensor<4x8xf32> -> tensor<8x4xf32>
  %s = tile.dot %q, %kt, %start : tensor<4x8xf32>, tensor<8x4xf32> -> tensor<4x4xf32>
  %scaled = arith.mulf %s, %two : tensor<4x4xf32>
  %p = math.exp2 %scaled : tensor<4x4xf32>
  %v = tile.buffer_load %w : !tile.buffer<4x8xf32, shared> -> tensor<4x8xf32>
  %o = tile.dot %p, %v, %acc : tensor<4x4xf32>, tensor<4x8xf32> -> tensor<4x8xf32>
  tile.store %out, %o : !tile.access<4x8xf32>, tensor<4x8xf32>
  tile.return
}

// -----

// Added to 0 they are read.
// CHECK-LABEL: tile.kernel @read
// CHECK:         tile.buffer_store {{.*}} mask
// CHECK-COUNT-2: tile.buffer_load
tile.kernel @read(%rows: !tile.access<4x8xf32>, %mask: !tile.access<4xi1>, %out: !tile.access<4x8xf32>, %q: tensor<4x8xf32>, %i: i32) {
  %zero = arith.constant 0 : i64
  %start = arith.constant dense<0.0> : tensor<4x4xf32>
  %acc = arith.constant dense<0.0> : tensor<4x8xf32>
  %c2 = arith.constant 2 : i32
  %a = tile.alloc : !tile.buffer<2x4x8xf32, shared>
  %stage = tile.rem floor %i, %c2 : i32
  %wide = arith.extsi %stage : i32 to i64
  %x = tile.load %rows : !tile.access<4x8xf32> -> tensor<4x8xf32>
  %valid = tile.load %mask : !tile.access<4xi1> -> tensor<4xi1>
  %down = tile.expand_dims %valid axis 1 : tensor<4xi1> -> tensor<4x1xi1>
  %all = tile.broadcast %down : tensor<4x1xi1> -> tensor<4x8xi1>
  %w = tile.subview %a[%wide, %zero, %zero] dims [1, 2] : !tile.buffer<2x4x8xf32, shared>, i64, i64, i64 -> !tile.buffer<4x8xf32, shared>
  tile.buffer_store %w, %x mask %all : tensor<4x8xi1> : !tile.buffer<4x8xf32, shared>, tensor<4x8xf32>
  %k = tile.buffer_load %w : !tile.buffer<4x8xf32, shared> -> tensor<4x8xf32>
  %kt = tile.permute %k [1, 0] : tensor<4x8xf32> -> tensor<8x4xf32>
  %s = tile.dot %q, %kt, %start : tensor<4x8xf32>, tensor<8x4xf32> -> tensor<4x4xf32>
  %p = math.exp2 %s : tensor<4x4xf32>
  %v = tile.buffer_load %w : !tile.buffer<4x8xf32, shared> -> tensor<4x8xf32>
  %o = tile.dot %p, %v, %acc : tensor<4x4xf32>, tensor<4x8xf32> -> tensor<4x8xf32>
  tile.store %out, %o : !tile.access<4x8xf32>, tensor<4x8xf32>
  tile.return
}

// -----

// Windows of rows at computed places: the load is cut, with its addresses and its mask.
// CHECK-LABEL: tile.kernel @gathered
// CHECK-NOT:     tile.alloc
// CHECK-DAG:     tile.range 4 to 8
// CHECK-DAG:     tile.pointer_access {{.*}} mask {{.*}} -> <4x4xf32>
// CHECK:         tile.store
tile.kernel @gathered(%base: !tile.ptr<f32>, %mask: !tile.access<4xi1>, %at: tensor<4xi32>, %out: !tile.access<4x4xf32>, %i: i32) {
  %zero = arith.constant 0 : i64
  %four = arith.constant 4 : i64
  %c2 = arith.constant 2 : i32
  %a = tile.alloc : !tile.buffer<2x4x8xf32, shared>
  %stage = tile.rem floor %i, %c2 : i32
  %wide = arith.extsi %stage : i32 to i64
  %valid = tile.load %mask : !tile.access<4xi1> -> tensor<4xi1>
  %down = tile.expand_dims %valid axis 1 : tensor<4xi1> -> tensor<4x1xi1>
  %all = tile.broadcast %down : tensor<4x1xi1> -> tensor<4x8xi1>
  %row = tile.expand_dims %at axis 1 : tensor<4xi32> -> tensor<4x1xi32>
  %rows = tile.broadcast %row : tensor<4x1xi32> -> tensor<4x8xi32>
  %r = tile.range 0 to 8 : tensor<8xi32>
  %column = tile.expand_dims %r axis 0 : tensor<8xi32> -> tensor<1x8xi32>
  %columns = tile.broadcast %column : tensor<1x8xi32> -> tensor<4x8xi32>
  %place = arith.addi %rows, %columns : tensor<4x8xi32>
  %bases = tile.splat %base : !tile.ptr<f32> -> tensor<4x8x!tile.ptr<f32>>
  %pointers = tile.add_ptr %bases, %place : tensor<4x8x!tile.ptr<f32>>, tensor<4x8xi32>
  %access = tile.pointer_access %pointers mask %all : tensor<4x8xi1> : tensor<4x8x!tile.ptr<f32>> -> !tile.access<4x8xf32>
  %x = tile.load %access : !tile.access<4x8xf32> -> tensor<4x8xf32>
  %w = tile.subview %a[%wide, %zero, %zero] dims [1, 2] : !tile.buffer<2x4x8xf32, shared>, i64, i64, i64 -> !tile.buffer<4x8xf32, shared>
  tile.buffer_store %w, %x : !tile.buffer<4x8xf32, shared>, tensor<4x8xf32>
  %v = tile.subview %a[%wide, %zero, %four] dims [1, 2] : !tile.buffer<2x4x8xf32, shared>, i64, i64, i64 -> !tile.buffer<4x4xf32, shared>
  %y = tile.buffer_load %v : !tile.buffer<4x4xf32, shared> -> tensor<4x4xf32>
  tile.store %out, %y : !tile.access<4x4xf32>, tensor<4x4xf32>
  tile.return
}
