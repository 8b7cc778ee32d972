// RUN: tilery-opt --tile-pipeline %s | FileCheck %s
// Unused values disappear; what does not depend on the loop leaves it.
// CHECK-LABEL: tile.kernel @hoist
// CHECK-NOT:     program_id 1
// CHECK:         arith.addi
// CHECK:         scf.for
// CHECK-NOT:     arith.addi
// CHECK:           tile.store
tile.kernel @hoist(%out: !tile.ptr<i32>, %n: i32) {
  %unused = tile.program_id 1
  %id = tile.program_id 0
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    %sum = arith.addi %id, %n : i32
    %p = tile.add_ptr %out, %i : !tile.ptr<i32>, i32
    %access = tile.pointer_access %p : !tile.ptr<i32> -> !tile.access<i32>
    tile.store %access, %sum : !tile.access<i32>, i32
  }
  tile.return
}
