// RUN: tilery-opt %S/../../codegen/attention.mlir -pass-pipeline='builtin.module(tile.kernel(parallel-to-tiles,promote-buffers,canonicalize,cse,loop-invariant-code-motion,lower-views,raise-accesses,contract-loops,dead-lanes,canonicalize,cse,loop-invariant-code-motion,choose-schedule,pipeline,canonicalize,cse))' | FileCheck %s
// Attention: K and V come with each step, Q once; the second product's first factor is computed, its sums are carried by the loop.

// CHECK-LABEL: tile.kernel @attention
// CHECK-SAME: block.schedule
// CHECK: %[[Q:.*]] = block.ring takers 1 : <1, [64x64xf16]>
// CHECK: block.acquire %[[Q]]
// CHECK: block.publish
// CHECK: %[[QS:.*]] = block.take %[[Q]]
// CHECK: %[[K:.*]] = block.ring takers 1 : <8, [64x64xf16]>
// CHECK: %[[V:.*]] = block.ring takers 1 : <8, [64x64xf16]>
// CHECK: scf.for {{.*}}, %[[AT:.*]] = %c0{{.*}}) -> (tensor<64xf32>, tensor<64x64xf32>, tensor<64xf32>, i32)
// CHECK: block.acquire %[[K]][%[[AT]]]
// CHECK: %[[KS:.*]] = block.take %[[K]][%[[AT]]]
// CHECK: %[[S:.*]] = block.mma_start %{{.*}}, %{{.*}}, %{{.*}} clear %true
// CHECK: block.mma_wait %[[S]]
// CHECK: block.release %[[KS]]
// CHECK: math.exp2
// CHECK: block.acquire %[[V]][%[[AT]]]
// CHECK: %[[P:.*]] = arith.truncf
// CHECK: %[[VS:.*]] = block.take %[[V]][%[[AT]]]
// CHECK: %[[O:.*]] = block.mma_start %{{.*}}, %[[P]], %{{.*}} : tensor<64x64xf32>, tensor<64x64xf16>
// CHECK: block.mma_wait %[[O]]
// CHECK: block.release %[[VS]]
// CHECK: arith.addi %[[AT]]
// CHECK: block.release %[[QS]]
// CHECK: tile.store
