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

// A variable that some steps set, in branches in branches, and one that each step may set to another's value.
// CHECK-LABEL: tile.kernel @noted
// CHECK: scf.for {{.*}} iter_args(%[[SEEN:.*]] = %{{.*}}, %[[LAST:.*]] = %{{.*}}) -> (i8, i32)
// CHECK: %[[R:.*]]:2 = scf.if %{{.*}} -> (i8, i32)
// CHECK: %[[I:.*]] = scf.if %{{.*}} -> (i32)
// CHECK: scf.yield %{{.*}}, %[[I]] : i8, i32
// CHECK: scf.yield %[[SEEN]], %[[LAST]] : i8, i32
// CHECK: scf.yield %[[R]]#0, %[[R]]#1 : i8, i32
// CHECK-NOT: tensor
tile.kernel @noted(%p: !tile.ptr<i32>, %q: !tile.ptr<i8>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %first = arith.constant 0 : i64
  %one = arith.constant 1 : i8
  %no = arith.constant dense<0> : tensor<1xi8>
  %none = arith.constant dense<-1> : tensor<1xi32>
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%seen = %no, %last = %none) -> (tensor<1xi8>, tensor<1xi32>) : i32 {
    %a = tile.access %p, %first steps() bounds []() : <i32>, (), () -> <i32>
    %x = tile.load %a : !tile.access<i32> -> i32
    %is = arith.cmpi sge, %x, %c0 : i32
    %b:2 = scf.if %is -> (tensor<1xi8>, tensor<1xi32>) {
      %t = tile.splat %one : i8 -> tensor<1xi8>
      %odd = arith.cmpi sgt, %x, %i : i32
      %l = scf.if %odd -> (tensor<1xi32>) {
        %u = tile.splat %x : i32 -> tensor<1xi32>
        scf.yield %u : tensor<1xi32>
      } else {
        scf.yield %last : tensor<1xi32>
      }
      scf.yield %t, %l : tensor<1xi8>, tensor<1xi32>
    } else {
      scf.yield %seen, %last : tensor<1xi8>, tensor<1xi32>
    }
    scf.yield %b#0, %b#1 : tensor<1xi8>, tensor<1xi32>
  }
  %s = tile.extract %r#0[%first] : tensor<1xi8>, i64 -> i8
  %l = tile.extract %r#1[%first] : tensor<1xi32>, i64 -> i32
  %x = tile.access %q, %first steps() bounds []() : <i8>, (), () -> <i8>
  tile.store %x, %s : !tile.access<i8>, i8
  %y = tile.access %p, %first steps() bounds []() : <i32>, (), () -> <i32>
  tile.store %y, %l : !tile.access<i32>, i32
  tile.return
}

// A branch that computes one as a tile: all stay tiles.
// CHECK-LABEL: tile.kernel @computed
// CHECK: iter_args(%{{.*}} = %{{.*}}) -> (tensor<1xf32>)
// CHECK: scf.if %{{.*}} -> (tensor<1xf32>)
// CHECK: tile.extract
tile.kernel @computed(%n: i64, %o: !tile.ptr<f32>, %b: i1, %z: f32) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %start = arith.constant dense<7.0> : tensor<1xf32>
  %all = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %start) -> (tensor<1xf32>) : i64 {
    %next = scf.if %b -> (tensor<1xf32>) {
      %more = arith.addf %sum, %sum : tensor<1xf32>
      scf.yield %more : tensor<1xf32>
    } else {
      %other = tile.splat %z : f32 -> tensor<1xf32>
      scf.yield %other : tensor<1xf32>
    }
    scf.yield %next : tensor<1xf32>
  }
  %q = tile.access %o, %c0 steps() bounds []() : <f32>, (), () -> <f32>
  %one = tile.extract %all[%c0] : tensor<1xf32>, i64 -> f32
  tile.store %q, %one : !tile.access<f32>, f32
  tile.return
}

// An index that may lie outside the tile gives 0 there.
// CHECK-LABEL: tile.kernel @outside
// CHECK: tile.extract
tile.kernel @outside(%i: i64, %o: !tile.ptr<f32>) {
  %c0 = arith.constant 0 : i64
  %start = arith.constant dense<7.0> : tensor<1xf32>
  %q = tile.access %o, %c0 steps() bounds []() : <f32>, (), () -> <f32>
  %one = tile.extract %start[%i] : tensor<1xf32>, i64 -> f32
  tile.store %q, %one : !tile.access<f32>, f32
  tile.return
}
