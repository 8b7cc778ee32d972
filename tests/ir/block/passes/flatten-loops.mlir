// RUN: tilery-opt %s -split-input-file -pass-pipeline='builtin.module(tile.kernel(flatten-loops))' | FileCheck %s

// Rounds of a ring and its slots, of which only the number of the step is used: places of 64 elements, from a begin on.
// CHECK-LABEL: tile.kernel @steps
// CHECK:         %[[END:.*]] = arith.constant 12 : i32
// CHECK:         %[[SUM:.*]] = scf.for %[[K:.*]] = %{{.*}} to %[[END]] step %{{.*}} iter_args(%[[X:.*]] = %{{.*}})
// CHECK-NOT:       tile.div
// CHECK-NOT:       scf.for
// CHECK:           %[[WIDE:.*]] = arith.extsi %[[K]] : i32 to i64
// CHECK:           %[[AT:.*]] = arith.muli %[[WIDE]], %c64_i64
// CHECK:           arith.addi %[[AT]]
// CHECK:           %[[NEXT:.*]] = arith.addf %[[X]]
// CHECK:           scf.yield %[[NEXT]]
// CHECK:         tile.store %{{.*}}, %[[SUM]]
tile.kernel @steps(%p: !tile.ptr<f32>, %out: !tile.access<f32>, %begin: i64) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %slots = arith.constant 3 : i32
  %rounds = arith.constant 4 : i32
  %width = arith.constant 64 : i64
  %round_width = arith.constant 192 : i64
  %none = arith.constant 0.0 : f32
  %sum = scf.for %i = %zero to %rounds step %one iter_args(%x = %none) -> (f32) : i32 {
    %wide = arith.extsi %i : i32 to i64
    %from = arith.muli %wide, %round_width overflow<nsw> : i64
    %inner = scf.for %slot = %zero to %slots step %one iter_args(%y = %x) -> (f32) : i32 {
      %s = arith.extsi %slot : i32 to i64
      %step = arith.muli %s, %width overflow<nsw> : i64
      %place = arith.addi %step, %from overflow<nsw> : i64
      %at = arith.addi %place, %begin overflow<nsw> : i64
      %a = tile.access %p, %at steps() bounds []() : !tile.ptr<f32>, (), () -> !tile.access<f32>
      %v = tile.load %a : !tile.access<f32> -> f32
      %z = arith.addf %y, %v : f32
      scf.yield %z : f32
    }
    scf.yield %inner : f32
  }
  tile.store %out, %sum : !tile.access<f32>, f32
  tile.return
}

// -----

// Two numbers: rows and columns lie apart otherwise.
// CHECK-LABEL: tile.kernel @two_numbers
// CHECK-COUNT-2: scf.for
// CHECK-NOT:   tile.div
tile.kernel @two_numbers(%p: !tile.ptr<f32>, %out: !tile.access<f32>) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %three = arith.constant 3 : i32
  %width = arith.constant 64 : i32
  %none = arith.constant 0.0 : f32
  %sum = scf.for %i = %zero to %three step %one iter_args(%x = %none) -> (f32) : i32 {
    %from = arith.muli %i, %width overflow<nsw> : i32
    %inner = scf.for %j = %zero to %three step %one iter_args(%y = %x) -> (f32) : i32 {
      %place = arith.addi %j, %from overflow<nsw> : i32
      %at = arith.extsi %place : i32 to i64
      %a = tile.access %p, %at steps() bounds []() : !tile.ptr<f32>, (), () -> !tile.access<f32>
      %v = tile.load %a : !tile.access<f32> -> f32
      %z = arith.addf %y, %v : f32
      scf.yield %z : f32
    }
    scf.yield %inner : f32
  }
  tile.store %out, %sum : !tile.access<f32>, f32
  tile.return
}

// -----

// Something is done between two rounds, and each round begins anew.
// CHECK-LABEL: tile.kernel @rounds
// CHECK-COUNT-4: scf.for
tile.kernel @rounds(%out: !tile.access<f32>) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %three = arith.constant 3 : i32
  %none = arith.constant 0.0 : f32
  %f = arith.constant 2.0 : f32
  %sum = scf.for %i = %zero to %three step %one iter_args(%x = %none) -> (f32) : i32 {
    %inner = scf.for %j = %zero to %three step %one iter_args(%y = %x) -> (f32) : i32 {
      %z = arith.addf %y, %f : f32
      scf.yield %z : f32
    }
    %twice = arith.mulf %inner, %f : f32
    scf.yield %twice : f32
  }
  tile.store %out, %sum : !tile.access<f32>, f32
  %other = scf.for %i = %zero to %three step %one iter_args(%x = %none) -> (f32) : i32 {
    %inner = scf.for %j = %zero to %three step %one iter_args(%y = %none) -> (f32) : i32 {
      %z = arith.addf %y, %f : f32
      scf.yield %z : f32
    }
    scf.yield %inner : f32
  }
  tile.store %out, %other : !tile.access<f32>, f32
  tile.return
}
