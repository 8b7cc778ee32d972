// RUN: tilery-opt --pass-pipeline='builtin.module(tile.kernel(dead-lanes,canonicalize,cse))' %s | FileCheck %s

// The store's bounds, computed after the dot, are known before it. A bound of columns alone leaves all rows.
// CHECK-LABEL: tile.kernel @stored
// CHECK: %[[LEFT:.*]] = arith.subi %{{.*}}, %{{.*}} : i64
// CHECK: tile.dot %{{.*}}, %{{.*}}, %{{.*}} live[%[[LEFT]], %{{.*}}] : tensor<8x4xf32>
// CHECK: tile.dot %{{.*}}, %{{.*}}, %{{.*}} live[%c8_i64, %{{.*}}] : tensor<8x4xf32>
tile.kernel @stored(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>, %m: i64, %n: i64) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c8 = arith.constant 8 : i64
  %c = arith.constant dense<0.0> : tensor<8x6xf32>
  %half = arith.constant dense<0.5> : tensor<8x6xf32>
  %pa = tile.access %x, %c0 steps(%c8, %c1) bounds [0, 0]() : <f32>, (i64, i64), () -> <8x4xf32>
  %a = tile.load %pa : !tile.access<8x4xf32> -> tensor<8x4xf32>
  %pb = tile.access %x, %c0 steps(%c8, %c1) bounds [0, 0]() : <f32>, (i64, i64), () -> <4x6xf32>
  %b = tile.load %pb : !tile.access<4x6xf32> -> tensor<4x6xf32>
  %d = tile.dot %a, %b, %c : tensor<8x4xf32>, tensor<4x6xf32> -> tensor<8x6xf32>
  %s = arith.mulf %d, %half : tensor<8x6xf32>
  %left = arith.subi %m, %c8 : i64
  %place = tile.access %y, %c0 steps(%c8, %c1) bounds [1, 1](%c0, %left, %c0, %n) : <f32>, (i64, i64), (i64, i64, i64, i64) -> <8x6xf32>
  tile.store %place, %s : !tile.access<8x6xf32>, tensor<8x6xf32>
  %e = tile.dot %a, %b, %c : tensor<8x4xf32>, tensor<4x6xf32> -> tensor<8x6xf32>
  %columns = tile.access %y, %c0 steps(%c8, %c1) bounds [0, 1](%c0, %n) : <f32>, (i64, i64), (i64, i64) -> <8x6xf32>
  tile.store %columns, %e : !tile.access<8x6xf32>, tensor<8x6xf32>
  tile.return
}

// Two stores: the larger bound. Rows of a sum over columns; columns are summed, all of them.
// CHECK-LABEL: tile.kernel @several_uses
// CHECK: %[[MAX:.*]] = arith.maxsi
// CHECK: tile.dot {{.*}} live[%[[MAX]], %c6_i64]
tile.kernel @several_uses(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>, %m: i64, %n: i64) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c8 = arith.constant 8 : i64
  %c = arith.constant dense<0.0> : tensor<8x6xf32>
  %pa = tile.access %x, %c0 steps(%c8, %c1) bounds [0, 0]() : <f32>, (i64, i64), () -> <8x4xf32>
  %a = tile.load %pa : !tile.access<8x4xf32> -> tensor<8x4xf32>
  %pb = tile.access %x, %c0 steps(%c8, %c1) bounds [0, 0]() : <f32>, (i64, i64), () -> <4x6xf32>
  %b = tile.load %pb : !tile.access<4x6xf32> -> tensor<4x6xf32>
  %d = tile.dot %a, %b, %c : tensor<8x4xf32>, tensor<4x6xf32> -> tensor<8x6xf32>
  %sum = tile.reduce %d axis 1 {
  ^bb0(%l: f32, %r: f32):
    %0 = arith.addf %l, %r : f32
    tile.yield %0 : f32
  } : tensor<8x6xf32> -> tensor<8xf32>
  %rows = tile.access %y, %c0 steps(%c1) bounds [1](%c0, %m) : <f32>, (i64), (i64, i64) -> <8xf32>
  tile.store %rows, %sum : !tile.access<8xf32>, tensor<8xf32>
  %place = tile.access %y, %c0 steps(%c8, %c1) bounds [1, 1](%c0, %n, %c0, %n) : <f32>, (i64, i64), (i64, i64, i64, i64) -> <8x6xf32>
  tile.store %place, %d : !tile.access<8x6xf32>, tensor<8x6xf32>
  tile.return
}

// Through a loop and another dot, whose dead rows need no rows of its left factor.
// CHECK-LABEL: tile.kernel @carried
// CHECK: tile.dot {{.*}} live[%{{.*}}, %c8_i64]
// CHECK: tile.dot {{.*}} live[%{{.*}}, %c8_i64]
tile.kernel @carried(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>, %m: i64, %n: i64) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c8 = arith.constant 8 : i64
  %c = arith.constant dense<0.0> : tensor<8x8xf32>
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %c) -> (tensor<8x8xf32>) : i64 {
    %at = tile.access %x, %k steps(%c8, %c1) bounds [0, 0]() : <f32>, (i64, i64), () -> <8x8xf32>
    %a = tile.load %at : !tile.access<8x8xf32> -> tensor<8x8xf32>
    %p = tile.dot %a, %a, %c : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
    %d = tile.dot %p, %a, %acc : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
    scf.yield %d : tensor<8x8xf32>
  }
  %place = tile.access %y, %c0 steps(%c8, %c1) bounds [1, 0](%c0, %m) : <f32>, (i64, i64), (i64, i64) -> <8x8xf32>
  tile.store %place, %r : !tile.access<8x8xf32>, tensor<8x8xf32>
  tile.return
}

// Not where a lane may be used that no bound tells of: a store of all lanes, or of single lanes, a mask of its own for each lane, an atomic,
// a sum, lanes that move, a value that decides; nor where the bound is that of another iteration, or not known before the dot.
// CHECK-LABEL: tile.kernel @all_used
// CHECK-NOT: live
tile.kernel @all_used(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>, %q: !tile.ptr<i64>, %m: i64, %n: i64) {
  %bits = arith.constant dense<[1, 0, 1, 0, 1, 0, 1, 0]> : tensor<8xi1>
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c8 = arith.constant 8 : i64
  %c = arith.constant dense<0.0> : tensor<8x8xf32>
  %pa = tile.access %x, %c0 steps(%c8, %c1) bounds [0, 0]() : <f32>, (i64, i64), () -> <8x8xf32>
  %a = tile.load %pa : !tile.access<8x8xf32> -> tensor<8x8xf32>
  %bounded = tile.access %y, %c0 steps(%c8, %c1) bounds [1, 1](%c0, %m, %c0, %n) : <f32>, (i64, i64), (i64, i64, i64, i64) -> <8x8xf32>
  %whole = tile.access %y, %c0 steps(%c8, %c1) bounds [0, 0]() : <f32>, (i64, i64), () -> <8x8xf32>
  %d0 = tile.dot %a, %a, %c : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
  tile.store %bounded, %d0 : !tile.access<8x8xf32>, tensor<8x8xf32>
  tile.store %whole, %d0 : !tile.access<8x8xf32>, tensor<8x8xf32>
  %d1 = tile.dot %a, %a, %d0 : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
  %lanes = tile.access %y, %c0 steps(%c8, %c1) bounds [2, 0](%bits) : <f32>, (i64, i64), (tensor<8xi1>) -> <8x8xf32>
  tile.store %lanes, %d1 : !tile.access<8x8xf32>, tensor<8x8xf32>
  %d2 = tile.dot %a, %a, %d1 : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
  tile.store %bounded, %d2 : !tile.access<8x8xf32>, tensor<8x8xf32>
  %old = tile.atomic_rmw fadd %bounded, %d2 : !tile.access<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
  %d3 = tile.dot %a, %a, %d2 : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
  %flat = tile.reshape %d3 : tensor<8x8xf32> -> tensor<64xf32>
  %line = tile.access %y, %c0 steps(%c1) bounds [1](%c0, %m) : <f32>, (i64), (i64, i64) -> <64xf32>
  tile.store %line, %flat : !tile.access<64xf32>, tensor<64xf32>
  %d4 = tile.dot %a, %a, %d3 : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
  tile.store %bounded, %d4 : !tile.access<8x8xf32>, tensor<8x8xf32>
  %first = tile.extract %d4[%c0, %c0] : tensor<8x8xf32>, i64, i64 -> f32
  tile.print "first", %first : f32 {is_signed = array<i1: true>}
  %d5 = tile.dot %a, %a, %d4 : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
  %pq = tile.access %q, %c0 steps() bounds []() : <i64>, (), () -> <i64>
  %late = tile.load %pq : !tile.access<i64> -> i64
  %by_memory = tile.access %y, %c0 steps(%c8, %c1) bounds [1, 1](%c0, %late, %c0, %late) : <f32>, (i64, i64), (i64, i64, i64, i64) -> <8x8xf32>
  tile.store %by_memory, %d5 : !tile.access<8x8xf32>, tensor<8x8xf32>
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%last = %c) -> (tensor<8x8xf32>) : i64 {
    %step = tile.access %y, %c0 steps(%c8, %c1) bounds [1, 1](%c0, %k, %c0, %k) : <f32>, (i64, i64), (i64, i64, i64, i64) -> <8x8xf32>
    tile.store %step, %last : !tile.access<8x8xf32>, tensor<8x8xf32>
    %d6 = tile.dot %a, %a, %last : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
    scf.yield %d6 : tensor<8x8xf32>
  }
  tile.return
}
