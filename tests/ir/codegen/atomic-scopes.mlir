// RUN: tilery-translate --target=sm_80 --print=asm %s | FileCheck %s
// Atomic updates order what is around them, for the threads of their scope: those of the GPU, where nothing is said.

// CHECK: fence.acq_rel.gpu
// CHECK: atom.global.add
// CHECK: fence.acq_rel.gpu
// CHECK: fence.acq_rel.cta
// CHECK: atom.global.add
// CHECK: fence.acq_rel.sys
// CHECK: atom.global.add
// CHECK-NOT: fence
// CHECK: atom.global.add
// CHECK-NOT: fence
// CHECK: atom.acq_rel.gpu.global.cas
tile.kernel @scopes(%p: !tile.ptr<i32>, %i: i32) {
  %a = tile.pointer_access %p : !tile.ptr<i32> -> !tile.access<i32>
  %0 = tile.atomic_rmw add %a, %i : !tile.access<i32>, i32 -> i32
  %1 = tile.atomic_rmw add %a, %0 {order = 2 : i32, scope = 0 : i32} : !tile.access<i32>, i32 -> i32
  %2 = tile.atomic_rmw add %a, %1 {order = 2 : i32, scope = 2 : i32} : !tile.access<i32>, i32 -> i32
  %3 = tile.atomic_rmw add %a, %2 {order = 0 : i32} : !tile.access<i32>, i32 -> i32
  %4 = tile.atomic_cas %a, %3, %1 : !tile.access<i32>, i32 -> i32
  tile.return
}
