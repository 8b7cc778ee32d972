// RUN: tilery-opt --promote-buffers --canonicalize --split-input-file %s | FileCheck %s

// The accumulator is carried; the operand tile, filled in every iteration before it is read, is not.
// CHECK-LABEL: tile.kernel @matmul
// CHECK:         %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : tensor<8x8xf32>
// CHECK-NOT:     tile.alloc
// CHECK:         %[[SUM:.*]] = scf.for {{.*}} iter_args(%[[ACC:.*]] = %[[ZERO]]) -> (tensor<8x8xf32>)
// CHECK:           %[[A:.*]] = tile.load
// CHECK:           %[[NEXT:.*]] = tile.dot %[[A]], %[[A]], %[[ACC]]
// CHECK:           scf.yield %[[NEXT]] : tensor<8x8xf32>
// CHECK:         tile.store %{{.*}}, %[[SUM]]
tile.kernel @matmul(%in: !tile.access<8x8xf32>, %out: !tile.access<8x8xf32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<8x8xf32>
  %a = tile.alloc : !tile.buffer<8x8xf32, shared>
  %c = tile.alloc : !tile.buffer<8x8xf32, fragment>
  tile.buffer_store %c, %zero : !tile.buffer<8x8xf32, fragment>, tensor<8x8xf32>
  scf.for %k = %c0 to %n step %c1 : i32 {
    %tile = tile.load %in : !tile.access<8x8xf32> -> tensor<8x8xf32>
    tile.buffer_store %a, %tile : !tile.buffer<8x8xf32, shared>, tensor<8x8xf32>
    %x = tile.buffer_load %a : !tile.buffer<8x8xf32, shared> -> tensor<8x8xf32>
    %acc = tile.buffer_load %c : !tile.buffer<8x8xf32, fragment> -> tensor<8x8xf32>
    %next = tile.dot %x, %x, %acc : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
    tile.buffer_store %c, %next : !tile.buffer<8x8xf32, fragment>, tensor<8x8xf32>
  }
  %sum = tile.buffer_load %c : !tile.buffer<8x8xf32, fragment> -> tensor<8x8xf32>
  tile.store %out, %sum : !tile.access<8x8xf32>, tensor<8x8xf32>
  tile.return
}

// -----

// Branches and while loops carry it too; a masked store keeps the other lanes.
// CHECK-LABEL: tile.kernel @flow
// CHECK-SAME:    %[[OUT:[a-z0-9]+]]: !tile.access<4xf32>, %[[M:[a-z0-9]+]]: tensor<4xi1>, %[[X:[a-z0-9]+]]: tensor<4xf32>, %[[Y:[a-z0-9]+]]: tensor<4xf32>
// CHECK-NOT:     tile.alloc
// CHECK:         %[[IF:.*]] = scf.if %{{.*}} -> (tensor<4xf32>) {
// CHECK:           %[[S:.*]] = arith.select %[[M]], %[[Y]], %[[X]]
// CHECK:           scf.yield %[[S]]
// CHECK:         } else {
// CHECK:           scf.yield %[[X]]
// CHECK:         %[[W:.*]] = scf.while (%[[A:.*]] = %[[IF]]) : (tensor<4xf32>) -> tensor<4xf32>
// CHECK:           scf.condition(%{{.*}}) %[[A]]
// CHECK:         ^bb0(%[[B:.*]]: tensor<4xf32>):
// CHECK:           %[[ADD:.*]] = arith.addf %[[B]], %[[X]]
// CHECK:           scf.yield %[[ADD]]
// CHECK:         tile.store %[[OUT]], %[[W]]
tile.kernel @flow(%out: !tile.access<4xf32>, %m: tensor<4xi1>, %x: tensor<4xf32>, %y: tensor<4xf32>, %p: !tile.access<i1>) {
  %b = tile.alloc : !tile.buffer<4xf32, local>
  tile.buffer_store %b, %x : !tile.buffer<4xf32, local>, tensor<4xf32>
  %c = tile.load %p : !tile.access<i1> -> i1
  scf.if %c {
    tile.buffer_store %b, %y mask %m : tensor<4xi1> : !tile.buffer<4xf32, local>, tensor<4xf32>
  }
  scf.while : () -> () {
    %again = tile.load %p : !tile.access<i1> -> i1
    scf.condition(%again)
  } do {
    %v = tile.buffer_load %b : !tile.buffer<4xf32, local> -> tensor<4xf32>
    %w = arith.addf %v, %x : tensor<4xf32>
    tile.buffer_store %b, %w : !tile.buffer<4xf32, local>, tensor<4xf32>
    scf.yield
  }
  %r = tile.buffer_load %b : !tile.buffer<4xf32, local> -> tensor<4xf32>
  tile.store %out, %r : !tile.access<4xf32>, tensor<4xf32>
  tile.return
}

// -----

// One element is a scalar in a tile's clothes; an element read of a promoted tile is an extract, also in scalar code.
// CHECK-LABEL: tile.kernel @elements
// CHECK-NOT:     tile.alloc
// CHECK:         tile.parallel
// CHECK:           tile.extract %{{.*}}[%{{.*}}]
tile.kernel @elements(%out: !tile.ptr<f32>, %x: tensor<4xf32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %b = tile.alloc : !tile.buffer<4xf32, local>
  %one = tile.alloc : !tile.buffer<1xf32, local>
  %f = arith.constant 1.0 : f32
  tile.element_store %one[%c0], %f : !tile.buffer<1xf32, local>, (i32), f32
  tile.buffer_store %b, %x : !tile.buffer<4xf32, local>, tensor<4xf32>
  tile.parallel(%n) {
  ^bb0(%i: i32):
    %v = tile.element_load %b[%i] : !tile.buffer<4xf32, local>, i32 -> f32
    %w = tile.element_load %one[%c0] : !tile.buffer<1xf32, local>, i32 -> f32
    %s = arith.addf %v, %w : f32
    %p = tile.add_ptr %out, %i : !tile.ptr<f32>, i32
    %a = tile.pointer_access %p : !tile.ptr<f32> -> <f32>
    tile.store %a, %s : !tile.access<f32>, f32
  } : i32
  tile.return
}

// -----

// Windows and element writes need the memory.
// CHECK-LABEL: tile.kernel @stays
// CHECK-COUNT-2: tile.alloc
tile.kernel @stays(%x: tensor<4xf32>, %n: i32, %f: f32) {
  %b = tile.alloc : !tile.buffer<8xf32, local>
  %w = tile.subview %b[%n] dims [0] : !tile.buffer<8xf32, local>, i32 -> !tile.buffer<4xf32, local>
  tile.buffer_store %w, %x : !tile.buffer<4xf32, local>, tensor<4xf32>
  %e = tile.alloc : !tile.buffer<8xf32, local>
  tile.element_store %e[%n], %f : !tile.buffer<8xf32, local>, (i32), f32
  tile.return
}

// -----

// A point's own number stays a number, also where a loop carries it: there are no tiles in a scalar body.
// CHECK-LABEL: tile.kernel @number_of_a_point
// CHECK:         tile.parallel
// CHECK:           scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}) -> (f32)
// CHECK-NOT:       tensor<1xf32>
tile.kernel @number_of_a_point(%out: !tile.ptr<f32>, %n: i32, %f: f32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  tile.parallel(%n) {
  ^bb0(%i: i32):
    %one = tile.alloc : !tile.buffer<1xf32, local>
    tile.element_store %one[%c0], %f : !tile.buffer<1xf32, local>, (i32), f32
    scf.for %j = %c0 to %n step %c1 : i32 {
      %x = tile.element_load %one[%c0] : !tile.buffer<1xf32, local>, i32 -> f32
      %y = arith.addf %x, %x : f32
      tile.element_store %one[%c0], %y : !tile.buffer<1xf32, local>, (i32), f32
      %p = tile.add_ptr %out, %j : !tile.ptr<f32>, i32
      %a = tile.pointer_access %p : !tile.ptr<f32> -> <f32>
      tile.store %a, %y : !tile.access<f32>, f32
    }
  } : i32
  tile.return
}
