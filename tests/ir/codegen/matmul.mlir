// The matmuls of tests/ir/matmul, one main loop from each language (there), one plan and one code here.
// RUN: tilery-translate --disjoint --target=avx2 --print=plan %S/../matmul/tileon.mlir | FileCheck %s --check-prefixes=PLAN,AVX2
// RUN: tilery-translate --disjoint --target=avx512 --print=plan %S/../matmul/ninetoothed.mlir | FileCheck %s --check-prefixes=PLAN,AVX512
// RUN: tilery-translate --disjoint --target=avx512 --print=plan %S/../matmul/tilelang.mlir | FileCheck %s --check-prefixes=PLAN,AVX512
// RUN: tilery-translate --disjoint --target=sm_80 --print=plan %S/../matmul/tileon.mlir | FileCheck %s --check-prefix=SM80
// RUN: tilery-translate --disjoint --target=avx2 %S/../matmul/tileon.mlir | FileCheck %s --check-prefix=LLVM -DBLOCK=6x16 -DLANES=8
// RUN: tilery-translate --disjoint --target=avx512 %S/../matmul/tileon.mlir | FileCheck %s --check-prefix=LLVM -DBLOCK=13x32 -DLANES=16
// RUN: tilery-translate --disjoint --target=avx512 %S/../matmul/tileon.mlir | FileCheck %s --check-prefix=FAR
// RUN: tilery-translate --disjoint --target=sapphirerapids %S/../matmul/tileon.mlir | FileCheck %s --check-prefix=NEAR
// RUN: tilery-translate --disjoint --target=sm_80 --print=asm %S/../matmul/tileon.mlir | FileCheck %s --check-prefix=PTX80
// RUN: tilery-translate --disjoint --target=sm_90a --print=asm %S/../matmul/tileon.mlir | FileCheck %s --check-prefix=PTX90

// One contraction over all of K, then one walk that stores the result; operands are tiles in no buffer.
// PLAN: plan @
// PLAN-NOT: x f16 at
// PLAN-NOT: scf.for
// AVX2: tile.contract {{.*}}: 6x16, K 32 x
// AVX512: tile.contract {{.*}}: 13x32, K 32 x
// SM80: blocks consumers=1 k=32
// SM80-COUNT-2: copied by threads, 16 bytes at a time
// PLAN: nest 64 64
// PLAN-NEXT: store
// PLAN-NOT: nest

// Panels that all programs share, packed as f32; one kernel of registers for the inner loop.
// LLVM-LABEL: define {{.*}}@matmul_kernel
// LLVM: call {{.*}}@tilery_rt_panel(
// LLVM: call void @tilery.dot.float.[[BLOCK]]
// LLVM: define internal void @tilery.dot.float.[[BLOCK]]
// LLVM-COUNT-12: call <[[LANES]] x float> @llvm.fma.v[[LANES]]f32

// What is packed next is asked for: A along K; B, whose rows lie along slivers, where the target gains by it.
// FAR-COUNT-4: call void @llvm.prefetch.p0({{.*}}, i32 0, i32 2, i32 1)
// FAR-NOT: call void @llvm.prefetch
// FAR: define internal void @tilery.dot.float.13x32
// NEAR-COUNT-2: call void @llvm.prefetch.p0({{.*}}, i32 0, i32 3, i32 1)
// NEAR-NOT: call void @llvm.prefetch
// NEAR: define internal void @tilery.dot.float.13x32
// The kernel asks for the next lines of A's rows, 13 x 16 bytes in each iteration.
// FAR-COUNT-4: call void @llvm.prefetch.p0({{.*}}, i32 0, i32 3, i32 1)
// FAR-NOT: call void @llvm.prefetch
// FAR: call {{.*}}@llvm.fma

// PTX80: .entry matmul_kernel
// PTX80: cp.async.cg.shared.global
// PTX80: ldmatrix
// PTX80-COUNT-16: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
// PTX80-NOT: mma.sync

// PTX90: .entry matmul_kernel
// PTX90-DAG: cp.async.bulk.tensor.2d.shared::cluster.global
// PTX90-DAG: wgmma.mma_async.sync.aligned
// PTX90-NOT: mma.sync.aligned
