// RUN: tilery-opt %s -pass-pipeline='builtin.module(tile.kernel(open-numbers))' | FileCheck %s

// A variable of one lane that each step gives a number is carried as that number.
// CHECK-LABEL: tile.kernel @least
// CHECK: scf.for {{.*}} iter_args(%[[LEAST:.*]] = %{{.*}}) -> (i32)
// CHECK: %[[NEXT:.*]] = arith.minsi %[[LEAST]], %{{.*}} : i32
// CHECK: scf.yield %[[NEXT]] : i32
// CHECK-NOT: tile.extract
tile.kernel @least(%p: !tile.ptr<i32>, %n: i64, %o: !tile.ptr<i32>) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %start = arith.constant dense<7> : tensor<1xi32>
  %all = scf.for %i = %c0 to %n step %c1 iter_args(%least = %start) -> (tensor<1xi32>) : i64 {
    %a = tile.access %p, %i steps() bounds []() : <i32>, (), () -> <i32>
    %x = tile.load %a : !tile.access<i32> -> i32
    %old = tile.extract %least[%c0] : tensor<1xi32>, i64 -> i32
    %new = arith.minsi %old, %x : i32
    %tile = tile.splat %new : i32 -> tensor<1xi32>
    scf.yield %tile : tensor<1xi32>
  }
  %q = tile.access %o, %c0 steps() bounds []() : <i32>, (), () -> <i32>
  %one = tile.extract %all[%c0] : tensor<1xi32>, i64 -> i32
  tile.store %q, %one : !tile.access<i32>, i32
  tile.return
}

// Two variables that a loop swaps.
// CHECK-LABEL: tile.kernel @swap
// CHECK: scf.for {{.*}} iter_args(%[[A:.*]] = %{{.*}}, %[[B:.*]] = %{{.*}}) -> (i32, i32)
// CHECK: %[[SUM:.*]] = arith.addi %[[A]], %[[B]] : i32
// CHECK: scf.yield %[[B]], %[[SUM]] : i32, i32
tile.kernel @swap(%p: !tile.ptr<i32>, %n: i64) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %one = arith.constant dense<1> : tensor<1xi32>
  %two = arith.constant dense<2> : tensor<1xi32>
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %one, %b = %two) -> (tensor<1xi32>, tensor<1xi32>) : i64 {
    %x = tile.extract %a[%c0] : tensor<1xi32>, i64 -> i32
    %y = tile.extract %b[%c0] : tensor<1xi32>, i64 -> i32
    %s = arith.addi %x, %y : i32
    %t = tile.splat %s : i32 -> tensor<1xi32>
    %u = tile.splat %y : i32 -> tensor<1xi32>
    scf.yield %u, %t : tensor<1xi32>, tensor<1xi32>
  }
  %q = tile.access %p, %c0 steps() bounds []() : <i32>, (), () -> <i32>
  %z = tile.extract %r#0[%c0] : tensor<1xi32>, i64 -> i32
  tile.store %q, %z : !tile.access<i32>, i32
  tile.return
}

// What is computed as a tile stays one.
// CHECK-LABEL: tile.kernel @tiles
// CHECK: iter_args(%{{.*}} = %{{.*}}) -> (tensor<1xf32>)
tile.kernel @tiles(%n: i64, %o: !tile.ptr<f32>) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %start = arith.constant dense<7.0> : tensor<1xf32>
  %all = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %start) -> (tensor<1xf32>) : i64 {
    %next = arith.addf %sum, %sum : tensor<1xf32>
    scf.yield %next : tensor<1xf32>
  }
  %q = tile.access %o, %c0 steps() bounds []() : <f32>, (), () -> <f32>
  %one = tile.extract %all[%c0] : tensor<1xf32>, i64 -> f32
  tile.store %q, %one : !tile.access<f32>, f32
  tile.return
}
