// RUN: tilery-opt %s | FileCheck %s
// RUN: tilery-opt --tile-pipeline %s | FileCheck %s --check-prefix=KEPT
// Two readings are two, and stay on their sides of a store.

// CHECK-LABEL: tile.kernel @k
// KEPT-LABEL: tile.kernel @k
tile.kernel @k(%t: !tile.ptr<i64>, %p: !tile.ptr<i32>) {
  %zero = arith.constant 0 : i32
  %at = tile.pointer_access %t : !tile.ptr<i64> -> <i64>
  %ap = tile.pointer_access %p : !tile.ptr<i32> -> <i32>
  // CHECK: tile.clock
  // KEPT: tile.clock
  %a = tile.clock
  // KEPT: tile.store
  tile.store %ap, %zero : !tile.access<i32>, i32
  // CHECK: tile.processor
  %where = tile.processor
  // KEPT: tile.clock
  %b = tile.clock
  %d = arith.subi %b, %a : i64
  tile.store %at, %d : !tile.access<i64>, i64
  tile.store %ap, %where : !tile.access<i32>, i32
  tile.return
}
