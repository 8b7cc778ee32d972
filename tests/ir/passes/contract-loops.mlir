// RUN: tilery-opt --pass-pipeline='builtin.module(tile.kernel(contract-loops,canonicalize,cse))' %s | FileCheck %s

// acc = dot(a, b, acc): the induction variable is lower + s * step. The carried copy of b that nothing reads goes away.
// CHECK-LABEL: tile.kernel @accumulates
// CHECK: %[[INIT:.*]] = tile.load
// CHECK: tile.contract %{{.*}}, %[[INIT]] {
// CHECK: ^bb0(%[[S:.*]]: i64):
// CHECK: arith.muli %[[S]], %c2_i64
// CHECK: tile.yield
// CHECK: } : tensor<8x8xf32>
// CHECK-NOT: scf.for
tile.kernel @accumulates(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>, %n: i64) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c2 = arith.constant 2 : i64
  %c8 = arith.constant 8 : i64
  %place = tile.access %y, %c0 steps(%c8, %c1) bounds [0, 0]() : <f32>, (i64, i64), () -> <8x8xf32>
  %init = tile.load %place : !tile.access<8x8xf32> -> tensor<8x8xf32>
  %r:2 = scf.for %k = %c0 to %n step %c2 iter_args(%acc = %init, %last = %init) -> (tensor<8x8xf32>, tensor<8x8xf32>) : i64 {
    %at = tile.access %x, %k steps(%c8, %c1) bounds [0, 0]() : <f32>, (i64, i64), () -> <8x8xf32>
    %a = tile.load %at : !tile.access<8x8xf32> -> tensor<8x8xf32>
    %d = tile.dot %a, %a, %acc : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
    scf.yield %d, %a : tensor<8x8xf32>, tensor<8x8xf32>
  }
  tile.store %place, %r#0 : !tile.access<8x8xf32>, tensor<8x8xf32>
  tile.return
}

// A store in the loop, or an accumulator that is read for something else, keeps the loop.
// CHECK-LABEL: tile.kernel @stores
// CHECK-NOT: tile.contract
tile.kernel @stores(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>, %n: i64) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c8 = arith.constant 8 : i64
  %zero = arith.constant dense<0.0> : tensor<8x8xf32>
  %place = tile.access %y, %c0 steps(%c8, %c1) bounds [0, 0]() : <f32>, (i64, i64), () -> <8x8xf32>
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<8x8xf32>) : i64 {
    %at = tile.access %x, %k steps(%c8, %c1) bounds [0, 0]() : <f32>, (i64, i64), () -> <8x8xf32>
    %a = tile.load %at : !tile.access<8x8xf32> -> tensor<8x8xf32>
    tile.store %place, %a : !tile.access<8x8xf32>, tensor<8x8xf32>
    %d = tile.dot %a, %a, %acc : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
    scf.yield %d : tensor<8x8xf32>
  }
  tile.store %place, %r : !tile.access<8x8xf32>, tensor<8x8xf32>
  tile.return
}
// CHECK-LABEL: tile.kernel @reads_accumulator
// CHECK-NOT: tile.contract
tile.kernel @reads_accumulator(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>, %n: i64) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c8 = arith.constant 8 : i64
  %zero = arith.constant dense<0.0> : tensor<8x8xf32>
  %place = tile.access %y, %c0 steps(%c8, %c1) bounds [0, 0]() : <f32>, (i64, i64), () -> <8x8xf32>
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<8x8xf32>) : i64 {
    %at = tile.access %x, %k steps(%c8, %c1) bounds [0, 0]() : <f32>, (i64, i64), () -> <8x8xf32>
    %a = tile.load %at : !tile.access<8x8xf32> -> tensor<8x8xf32>
    %d = tile.dot %a, %acc, %acc : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
    scf.yield %d : tensor<8x8xf32>
  }
  tile.store %place, %r : !tile.access<8x8xf32>, tensor<8x8xf32>
  tile.return
}

// A factor that the loop computes from another product: one loop for all.
// CHECK-LABEL: tile.kernel @chain
// CHECK-NOT: tile.contract
// CHECK: scf.for
// CHECK-COUNT-2: tile.dot
tile.kernel @chain(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>, %n: i64) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c8 = arith.constant 8 : i64
  %zero = arith.constant dense<0.0> : tensor<8x8xf32>
  %place = tile.access %y, %c0 steps(%c8, %c1) bounds [0, 0]() : <f32>, (i64, i64), () -> <8x8xf32>
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<8x8xf32>) : i64 {
    %at = tile.access %x, %k steps(%c8, %c1) bounds [0, 0]() : <f32>, (i64, i64), () -> <8x8xf32>
    %a = tile.load %at : !tile.access<8x8xf32> -> tensor<8x8xf32>
    %s = tile.dot %a, %a, %zero : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
    %d = tile.dot %s, %a, %acc : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
    scf.yield %d : tensor<8x8xf32>
  }
  tile.store %place, %r : !tile.access<8x8xf32>, tensor<8x8xf32>
  tile.return
}

// Of 8-bit floats, sums that the program adds itself have all bits of their type; else the machine's will do, unless the dot says otherwise.
// CHECK-LABEL: tile.kernel @adds_apart
// CHECK: tile.contract
// CHECK: } {tile.partial_sums = 32 : i64} : tensor<8x8xf32>
// CHECK: tile.contract
// CHECK: } : tensor<8x8xf32>
// CHECK: tile.contract
// CHECK: } {tile.partial_sums = 16 : i64} : tensor<8x8xf32>
tile.kernel @adds_apart(%x: !tile.ptr<f8E4M3FN>, %y: !tile.ptr<f8E4M3FN>, %z: !tile.ptr<f32>, %n: i64) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c8 = arith.constant 8 : i64
  %c32 = arith.constant 32 : i64
  %zero = arith.constant dense<0.0> : tensor<8x8xf32>
  %r:3 = scf.for %k = %c0 to %n step %c32 iter_args(%s = %zero, %t = %zero, %u = %zero) -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) : i64 {
    %at = tile.access %x, %k steps(%c32, %c1) bounds [0, 0]() : <f8E4M3FN>, (i64, i64), () -> <8x32xf8E4M3FN>
    %a = tile.load %at : !tile.access<8x32xf8E4M3FN> -> tensor<8x32xf8E4M3FN>
    %bt = tile.access %y, %k steps(%c8, %c1) bounds [0, 0]() : <f8E4M3FN>, (i64, i64), () -> <32x8xf8E4M3FN>
    %b = tile.load %bt : !tile.access<32x8xf8E4M3FN> -> tensor<32x8xf8E4M3FN>
    %d = tile.dot %a, %b, %zero : tensor<8x32xf8E4M3FN>, tensor<32x8xf8E4M3FN> -> tensor<8x8xf32>
    %sum = arith.addf %s, %d : tensor<8x8xf32>
    %e = tile.dot %a, %b, %t : tensor<8x32xf8E4M3FN>, tensor<32x8xf8E4M3FN> -> tensor<8x8xf32>
    %f = tile.dot %a, %b, %u {tile.partial_sums = 16 : i64} : tensor<8x32xf8E4M3FN>, tensor<32x8xf8E4M3FN> -> tensor<8x8xf32>
    scf.yield %sum, %e, %f : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
  }
  %place = tile.access %z, %c0 steps(%c8, %c1) bounds [0, 0]() : <f32>, (i64, i64), () -> <8x8xf32>
  tile.store %place, %r#0 : !tile.access<8x8xf32>, tensor<8x8xf32>
  tile.store %place, %r#1 : !tile.access<8x8xf32>, tensor<8x8xf32>
  tile.store %place, %r#2 : !tile.access<8x8xf32>, tensor<8x8xf32>
  tile.return
}
