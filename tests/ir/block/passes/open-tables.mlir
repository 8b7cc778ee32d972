// RUN: tilery-opt %s -pass-pipeline='builtin.module(tile.kernel(open-tables))' | FileCheck %s

// What a loop of its own copies from memory is read there; outside of what it copied there is 0.
// CHECK-LABEL: tile.kernel @copied
// CHECK-NOT: tile.alloc
// CHECK: scf.for %[[I:.*]] = %[[LOW:.*]] to %{{.*}} step
// CHECK: %[[LEAST:.*]] = arith.cmpi sge, %[[I]], %[[LOW]]
// CHECK: %[[MOST:.*]] = arith.cmpi slt, %[[I]], %[[COUNT:.*]] :
// CHECK: %[[THERE:.*]] = arith.andi %[[LEAST]], %[[MOST]]
// CHECK: %[[READ:.*]] = scf.if %[[THERE]] -> (i8)
// CHECK: tile.load
// CHECK: arith.constant 0 : i8
// CHECK: tile.store %{{.*}}, %[[READ]]
tile.kernel @copied(%mask: !tile.ptr<i8>, %count: i32, %n: i32, %o: !tile.ptr<i8>) {
  %low = arith.constant 0 : i32
  %step = arith.constant 1 : i32
  %table = tile.alloc : <8xi8, local>
  scf.for %j = %low to %count step %step : i32 {
    %k = arith.extsi %j : i32 to i64
    %am = tile.access %mask, %k steps() bounds []() : <i8>, (), () -> <i8>
    %each = tile.load %am : !tile.access<i8> -> i8
    tile.element_store %table[%k], %each : <8xi8, local>, (i64), i8
  }
  scf.for %i = %low to %n step %step : i32 {
    %k = arith.extsi %i : i32 to i64
    %each = tile.element_load %table[%k] : <8xi8, local>, i64 -> i8
    %ao = tile.access %o, %k steps() bounds []() : <i8>, (), () -> <i8>
    tile.store %ao, %each : !tile.access<i8>, i8
  }
  tile.return
}

// A table that is written again, or in another order, stays.
// CHECK-LABEL: tile.kernel @changed
// CHECK: tile.alloc
// CHECK: tile.element_load
tile.kernel @changed(%mask: !tile.ptr<i8>, %count: i32, %o: !tile.ptr<i8>) {
  %low = arith.constant 0 : i32
  %step = arith.constant 1 : i32
  %c0 = arith.constant 0 : i64
  %c3 = arith.constant 3 : i64
  %table = tile.alloc : <8xi8, local>
  scf.for %j = %low to %count step %step : i32 {
    %k = arith.extsi %j : i32 to i64
    %am = tile.access %mask, %k steps() bounds []() : <i8>, (), () -> <i8>
    %each = tile.load %am : !tile.access<i8> -> i8
    %other = arith.subi %c3, %k : i64
    tile.element_store %table[%other], %each : <8xi8, local>, (i64), i8
  }
  %each = tile.element_load %table[%c0] : <8xi8, local>, i64 -> i8
  %ao = tile.access %o, %c0 steps() bounds []() : <i8>, (), () -> <i8>
  tile.store %ao, %each : !tile.access<i8>, i8
  tile.return
}
