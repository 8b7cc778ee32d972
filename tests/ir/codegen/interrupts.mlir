// RUN: tilery-translate --target=avx2 --print=llvm %s | FileCheck %s
// RUN: tilery-translate --target=sm_80 --print=llvm %s | FileCheck %s --check-prefix=GPU
// A loop that nothing bounds looks at the launch's `poll` where it goes back, and is left where the runtime says so. Loops with a bound do not.

// CHECK-LABEL: define dso_local void @unbounded(
// CHECK-COUNT-1: load volatile i32
// CHECK: br i1 {{.*}}, label %[[STAY:.*]], label %ask, {{.*}}!prof
// CHECK: ask:
// CHECK: call i32 @tilery_rt_poll(ptr
// CHECK-NOT: load volatile
// CHECK-LABEL: define dso_local void @bounded(
// CHECK-NOT: load volatile
// GPU-NOT: tilery_rt_poll
tile.kernel @unbounded(%p: !tile.ptr<i32>) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %place = tile.pointer_access %p : !tile.ptr<i32> -> !tile.access<i32>
  %n = scf.while (%i = %zero) : (i32) -> i32 {
    %limit = tile.load %place : !tile.access<i32> -> i32
    %go = arith.cmpi slt, %i, %limit : i32
    scf.condition(%go) %i : i32
  } do {
  ^bb0(%i: i32):
    %next = arith.addi %i, %one : i32
    scf.yield %next : i32
  }
  tile.store %place, %n : !tile.access<i32>, i32
  tile.return
}

tile.kernel @bounded(%p: !tile.ptr<i32>, %n: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %place = tile.pointer_access %p : !tile.ptr<i32> -> !tile.access<i32>
  scf.for %i = %zero to %n step %one : i32 {
    tile.store %place, %i : !tile.access<i32>, i32
  }
  tile.return
}
