// RUN: tilery-opt %S/pipeline.mlir -pass-pipeline='builtin.module(tile.kernel(choose-schedule,pipeline,order-programs,split-roles,canonicalize,cse,loop-invariant-code-motion,canonicalize))' | FileCheck %s
// The loop that pipeline leaves, in two roles: the first only copies, the second only multiplies. What is scalar stays in front of both.

// CHECK-LABEL: tile.kernel @batched
// CHECK: %[[MA:.*]] = block.map %arg0
// CHECK: %[[MB:.*]] = block.map %arg1
// CHECK: %[[RING:.*]] = block.ring takers 2 : <8,
// CHECK: block.roles {
// CHECK: block.role @load warps 4 {
// CHECK-NOT: block.mma
// CHECK-NOT: block.take
// CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%[[AT:.*]] = %{{.*}}) -> (i32)
// CHECK: %[[S:.*]] = block.acquire %[[RING]][%[[AT]]]
// CHECK: block.copy %[[MA]]
// CHECK: block.copy %[[MB]]
// CHECK: block.publish %[[S]]
// CHECK-NOT: block.release
// CHECK-NOT: tile.store
// CHECK: block.role @math warps 8 {
// CHECK-NOT: block.copy
// CHECK-NOT: block.acquire
// CHECK: scf.for
// CHECK: %[[T:.*]] = block.take %[[RING]]
// CHECK: block.mma_start
// CHECK: block.mma_settle
// CHECK: block.release
// CHECK: block.mma_wait
// CHECK: block.release
// CHECK: tile.store
// CHECK-NOT: block.publish
// CHECK: tile.return

// CHECK-LABEL: tile.kernel @left
// CHECK-NOT: block.roles
