// RUN: tilery-translate --target=sm_80 --print=asm %s | FileCheck %s
// RUN: tilery-translate --target=sm_90a --print=asm %s | FileCheck %s --check-prefix=HOPPER
// Atomic updates order what is around them, for the threads of their scope: those of the GPU, where nothing is said. All lanes of a tile
// are behind one fence.

// CHECK-LABEL: scopes(
// CHECK-NOT: fence
// CHECK: atom.global.gpu.acq_rel.add.u32
// CHECK: atom.global.cta.release.add.u32
// CHECK: atom.global.sys.release.add.u32
// CHECK: atom.global.gpu.relaxed.max.s32
// CHECK: atom.global.acq_rel.gpu.cas.b32
// CHECK-NOT: fence
tile.kernel @scopes(%p: !tile.ptr<i32>, %i: i32) {
  %a = tile.pointer_access %p : !tile.ptr<i32> -> !tile.access<i32>
  %0 = tile.atomic_rmw add %a, %i : !tile.access<i32>, i32 -> i32
  %1 = tile.atomic_rmw add %a, %0 {order = 2 : i32, scope = 0 : i32} : !tile.access<i32>, i32 -> i32
  %2 = tile.atomic_rmw add %a, %1 {order = 2 : i32, scope = 2 : i32} : !tile.access<i32>, i32 -> i32
  %3 = tile.atomic_rmw max %a, %2 {order = 0 : i32} : !tile.access<i32>, i32 -> i32
  %4 = tile.atomic_cas %a, %3, %1 : !tile.access<i32>, i32 -> i32
  tile.return
}

// bf16 is added by one instruction where there is one.
// CHECK-LABEL: halves(
// CHECK: atom.global.gpu.acq_rel.add.noftz.f16
// CHECK: atom.global.acq_rel.gpu.cas.b16
// HOPPER-LABEL: halves(
// HOPPER: atom.global.gpu.acq_rel.add.noftz.f16
// HOPPER: atom.global.gpu.acq_rel.add.noftz.bf16
tile.kernel @halves(%p: !tile.ptr<f16>, %x: f16, %q: !tile.ptr<bf16>, %y: bf16) {
  %a = tile.pointer_access %p : !tile.ptr<f16> -> !tile.access<f16>
  %b = tile.pointer_access %q : !tile.ptr<bf16> -> !tile.access<bf16>
  %0 = tile.atomic_rmw fadd %a, %x : !tile.access<f16>, f16 -> f16
  %1 = tile.atomic_rmw fadd %b, %y : !tile.access<bf16>, bf16 -> bf16
  tile.return
}

// CHECK-LABEL: lanes(
// CHECK: fence.acq_rel.gpu
// CHECK: atom.global.gpu.relaxed.add.f32
// CHECK: fence.acq_rel.gpu
tile.kernel @lanes(%p: !tile.ptr<f32>, %x: f32) {
  %i = tile.range 0 to 256 : tensor<256xi32>
  %t = tile.splat %p : !tile.ptr<f32> -> tensor<256x!tile.ptr<f32>>
  %q = tile.add_ptr %t, %i : tensor<256x!tile.ptr<f32>>, tensor<256xi32>
  %a = tile.pointer_access %q : tensor<256x!tile.ptr<f32>> -> !tile.access<256xf32>
  %v = tile.splat %x : f32 -> tensor<256xf32>
  %0 = tile.atomic_rmw fadd %a, %v : !tile.access<256xf32>, tensor<256xf32> -> tensor<256xf32>
  tile.return
}

// Floats in the order of integers, signed or (negative ones) in reverse; what is left is NaN, which a number replaces.
// CHECK-LABEL: extremes(
// CHECK: atom.global.gpu.acq_rel.min.u32
// CHECK: atom.global.gpu.acq_rel.max.s32
// CHECK: atom.global.acq_rel.gpu.cas.b32
// CHECK: atom.global.cta.relaxed.max.u64
// CHECK: atom.global.cta.relaxed.min.s64
// CHECK: atom.global.relaxed.cta.cas.b64
tile.kernel @extremes(%p: !tile.ptr<f32>, %x: f32, %q: !tile.ptr<f64>, %y: f64) {
  %a = tile.pointer_access %p : !tile.ptr<f32> -> !tile.access<f32>
  %b = tile.pointer_access %q : !tile.ptr<f64> -> !tile.access<f64>
  %0 = tile.atomic_rmw fmax %a, %x : !tile.access<f32>, f32 -> f32
  %1 = tile.atomic_rmw fmin %b, %y {order = 0 : i32, scope = 0 : i32} : !tile.access<f64>, f64 -> f64
  tile.return
}
