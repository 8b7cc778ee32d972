// RUN: tilery-opt %s -pass-pipeline='builtin.module(tile.kernel(skip-steps))' | FileCheck %s

// The steps that a mask takes are counted, and the loop goes over those: each looks for the next one.
// CHECK-LABEL: tile.kernel @masked
// CHECK: %[[COUNT:.*]] = scf.for %{{.*}} = %[[LOW:.*]] to %[[HIGH:.*]] step %[[STEP:.*]] iter_args(%[[N:.*]] = %{{.*}}) -> (i32)
// CHECK: %[[KIND:.*]] = tile.load
// CHECK: %[[HOLDS:.*]] = arith.cmpi ne, %[[KIND]]
// CHECK: %[[ONE:.*]] = arith.extui %[[HOLDS]]
// CHECK: arith.addi %[[N]], %[[ONE]]
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[COUNT]] step %{{.*}} iter_args(%[[SUM:.*]] = %{{.*}}, %[[FROM:.*]] = %{{.*}}) -> (tensor<64x64xf32>, i32)
// The step that comes next is looked at first, then four at a time, so that they wait for memory together.
// CHECK: tile.load
// CHECK: %[[FOUND:.*]]:3 = scf.if
// CHECK: scf.yield %{{.*}}, %[[FROM]], %{{.*}}
// CHECK: scf.while (%{{.*}} = %{{.*}})
// CHECK-COUNT-4: tile.load
// CHECK-NOT: tile.load
// CHECK: scf.condition
// CHECK: %[[STEPS:.*]] = arith.maxsi %[[FOUND]]#1
// CHECK: %[[WAY:.*]] = arith.muli %[[STEPS]], %[[STEP]]
// CHECK: %[[PLACE:.*]] = arith.addi %[[LOW]], %[[WAY]]
// CHECK-NOT: scf.if
// CHECK: %[[B:.*]] = tile.load
// CHECK: %[[NEXT:.*]] = tile.dot %{{.*}}, %[[B]], %[[SUM]]
// CHECK: scf.yield %[[NEXT]], %[[FOUND]]#0
tile.kernel @masked(%a: !tile.ptr<f16>, %b: !tile.ptr<f16>, %mask: !tile.ptr<i32>, %n: i32, %o: !tile.ptr<f32>) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c64 = arith.constant 64 : i64
  %low = arith.constant 0 : i32
  %step = arith.constant 64 : i32
  %none = arith.constant 0 : i32
  %zeros = arith.constant dense<0.0> : tensor<64x64xf32>
  %aa = tile.access %a, %c0 steps(%c64, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
  %ta = tile.load %aa : !tile.access<64x64xf16> -> tensor<64x64xf16>
  %r = scf.for %i = %low to %n step %step iter_args(%sum = %zeros) -> (tensor<64x64xf32>) : i32 {
    %k = arith.extsi %i : i32 to i64
    %am = tile.access %mask, %k steps() bounds []() : <i32>, (), () -> <i32>
    %kind = tile.load %am : !tile.access<i32> -> i32
    %holds = arith.cmpi ne, %kind, %none : i32
    %next = scf.if %holds -> (tensor<64x64xf32>) {
      %at = arith.muli %k, %c64 : i64
      %ab = tile.access %b, %at steps(%c64, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
      %tb = tile.load %ab : !tile.access<64x64xf16> -> tensor<64x64xf16>
      %d = tile.dot %ta, %tb, %sum : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
      scf.yield %d : tensor<64x64xf32>
    } else {
      scf.yield %sum : tensor<64x64xf32>
    }
    scf.yield %next : tensor<64x64xf32>
  }
  %ao = tile.access %o, %c0 steps(%c64, %c1) bounds [0, 0]() : <f32>, (i64, i64), () -> <64x64xf32>
  tile.store %ao, %r : !tile.access<64x64xf32>, tensor<64x64xf32>
  tile.return
}

// Numbers that each step makes anew go on in steps that are left out, and behind the loop they are those of all steps.
// CHECK-LABEL: tile.kernel @advanced
// CHECK: %[[COUNT:.*]]:2 = scf.for
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[COUNT]]#0
// CHECK: scf.while
// CHECK: tile.dot
// CHECK: tile.access %{{.*}}, %[[COUNT]]#1
// CHECK: tile.store
tile.kernel @advanced(%a: !tile.ptr<f16>, %mask: !tile.ptr<i1>, %n: i32, %o: !tile.ptr<f32>) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c64 = arith.constant 64 : i64
  %low = arith.constant 0 : i32
  %step = arith.constant 1 : i32
  %zeros = arith.constant dense<0.0> : tensor<64x64xf32>
  %r:2 = scf.for %i = %low to %n step %step iter_args(%sum = %zeros, %at = %c0) -> (tensor<64x64xf32>, i64) : i32 {
    %am = tile.access %mask, %at steps() bounds []() : <i1>, (), () -> <i1>
    %skipped = tile.load %am : !tile.access<i1> -> i1
    %next = scf.if %skipped -> (tensor<64x64xf32>) {
      scf.yield %sum : tensor<64x64xf32>
    } else {
      %aa = tile.access %a, %at steps(%c64, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
      %ta = tile.load %aa : !tile.access<64x64xf16> -> tensor<64x64xf16>
      %d = tile.dot %ta, %ta, %sum : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
      scf.yield %d : tensor<64x64xf32>
    }
    %on = arith.addi %at, %c64 : i64
    scf.yield %next, %on : tensor<64x64xf32>, i64
  }
  %ao = tile.access %o, %r#1 steps(%c64, %c1) bounds [0, 0]() : <f32>, (i64, i64), () -> <64x64xf32>
  tile.store %ao, %r#0 : !tile.access<64x64xf32>, tensor<64x64xf32>
  tile.return
}

// A step that changes something in any case, and a mask that the kernel writes, stay.
// CHECK-LABEL: tile.kernel @always
// CHECK-NOT: scf.while
// CHECK: scf.if
// CHECK-LABEL: tile.kernel @written
// CHECK-NOT: scf.while
// CHECK: scf.if
tile.kernel @always(%a: !tile.ptr<f16>, %mask: !tile.ptr<i1>, %n: i32, %o: !tile.ptr<f32>) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c64 = arith.constant 64 : i64
  %low = arith.constant 0 : i32
  %step = arith.constant 1 : i32
  %zeros = arith.constant dense<0.0> : tensor<64x64xf32>
  %aa = tile.access %a, %c0 steps(%c64, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
  %ta = tile.load %aa : !tile.access<64x64xf16> -> tensor<64x64xf16>
  %r = scf.for %i = %low to %n step %step iter_args(%sum = %zeros) -> (tensor<64x64xf32>) : i32 {
    %k = arith.extsi %i : i32 to i64
    %am = tile.access %mask, %k steps() bounds []() : <i1>, (), () -> <i1>
    %holds = tile.load %am : !tile.access<i1> -> i1
    %next = scf.if %holds -> (tensor<64x64xf32>) {
      %d = tile.dot %ta, %ta, %sum : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
      scf.yield %d : tensor<64x64xf32>
    } else {
      scf.yield %sum : tensor<64x64xf32>
    }
    %twice = arith.addf %next, %next : tensor<64x64xf32>
    scf.yield %twice : tensor<64x64xf32>
  }
  %ao = tile.access %o, %c0 steps(%c64, %c1) bounds [0, 0]() : <f32>, (i64, i64), () -> <64x64xf32>
  tile.store %ao, %r : !tile.access<64x64xf32>, tensor<64x64xf32>
  tile.return
}
tile.kernel @written(%a: !tile.ptr<f16>, %mask: !tile.ptr<f32>, %n: i32) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c64 = arith.constant 64 : i64
  %low = arith.constant 0 : i32
  %step = arith.constant 1 : i32
  %least = arith.constant 0.0 : f32
  %zeros = arith.constant dense<0.0> : tensor<64x64xf32>
  %aa = tile.access %a, %c0 steps(%c64, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
  %ta = tile.load %aa : !tile.access<64x64xf16> -> tensor<64x64xf16>
  %r = scf.for %i = %low to %n step %step iter_args(%sum = %zeros) -> (tensor<64x64xf32>) : i32 {
    %k = arith.extsi %i : i32 to i64
    %am = tile.access %mask, %k steps() bounds []() : <f32>, (), () -> <f32>
    %weight = tile.load %am : !tile.access<f32> -> f32
    %holds = arith.cmpf ogt, %weight, %least : f32
    %next = scf.if %holds -> (tensor<64x64xf32>) {
      %d = tile.dot %ta, %ta, %sum : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
      scf.yield %d : tensor<64x64xf32>
    } else {
      scf.yield %sum : tensor<64x64xf32>
    }
    scf.yield %next : tensor<64x64xf32>
  }
  %ao = tile.access %mask, %c0 steps(%c64, %c1) bounds [0, 0]() : <f32>, (i64, i64), () -> <64x64xf32>
  tile.store %ao, %r : !tile.access<64x64xf32>, tensor<64x64xf32>
  tile.return
}
