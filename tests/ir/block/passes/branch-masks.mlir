// RUN: tilery-opt %S/../../codegen/attention.mlir -pass-pipeline='builtin.module(tile.kernel(parallel-to-tiles,promote-buffers,canonicalize,cse,loop-invariant-code-motion,lower-views,raise-accesses,contract-loops,dead-lanes,canonicalize,cse,loop-invariant-code-motion,choose-schedule,pipeline,branch-masks,canonicalize,cse))' | FileCheck %s
// RUN: env TILERY_SCHEDULE="branch=0" tilery-opt %S/../../codegen/attention.mlir -pass-pipeline='builtin.module(tile.kernel(parallel-to-tiles,promote-buffers,canonicalize,cse,loop-invariant-code-motion,lower-views,raise-accesses,contract-loops,dead-lanes,canonicalize,cse,loop-invariant-code-motion,choose-schedule,pipeline,branch-masks))' | FileCheck %s --check-prefix=LEFT
// A causal mask, of keys that exist: a step whose last key is before the first query, and exists, selects nothing.

// CHECK-LABEL: tile.kernel @attention
// CHECK: scf.for %[[I:.*]] = %c0
// CHECK: %[[SCORES:.*]] = arith.mulf
// CHECK: %[[MASK:.*]] = arith.andi {{.*}} : tensor<64x64xi1>
// CHECK: arith.addi {{.*}}, %c64_i64
// CHECK: %[[EXIST:.*]] = arith.cmpi sle, {{.*}} : i64
// CHECK: arith.addi {{.*}}, %c63_i64
// CHECK: arith.andi {{.*}} : i1
// CHECK: %[[SEEN:.*]] = scf.if %{{.*}} -> (tensor<64x64xf32>) {
// CHECK-NEXT: scf.yield %[[SCORES]]
// CHECK-NEXT: } else {
// CHECK-NEXT: %[[SOME:.*]] = arith.select %[[MASK]], %[[SCORES]]
// CHECK-NEXT: scf.yield %[[SOME]]
// CHECK: tile.reduce %[[SEEN]]

// LEFT-LABEL: tile.kernel @attention
// LEFT-NOT: scf.if
