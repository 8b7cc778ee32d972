// RUN: env TILERY_SCHEDULE=cluster=2 tilery-opt %S/swap.mlir -pass-pipeline='builtin.module(tile.kernel(choose-schedule,pipeline,split-k,canonicalize,cse))' | FileCheck %s
// RUN: env TILERY_SCHEDULE=cluster=2 tilery-opt %S/swap.mlir --block-pipeline | FileCheck %s --check-prefix=LAID
// RUN: env TILERY_SCHEDULE=cluster=3 not tilery-opt %S/swap.mlir -pass-pipeline='builtin.module(tile.kernel(choose-schedule))' 2>&1 | FileCheck %s --check-prefix=WRONG
// RUN: tilery-opt %S/swap.mlir -pass-pipeline='builtin.module(tile.kernel(choose-schedule,pipeline,split-k))' | FileCheck %s --check-prefix=ALONE
// WRONG: error: a cluster has 2, 4 or 8 blocks, not 3
// ALONE-NOT: cluster_rank

// Each block runs its part of the steps; sums are shown where the slots were, in the shape in which rows are stored.
// CHECK-LABEL: tile.kernel @flat
// CHECK-SAME: block.cluster = 2 : i64
// CHECK: %[[RING:.*]] = block.ring takers 1 : <12,
// CHECK: %[[STEPS:.*]] = arith.trunci
// CHECK: %[[RANK:.*]] = block.cluster_rank
// CHECK: %[[NEXT:.*]] = arith.addi %[[RANK]], %c1_i32
// CHECK: %[[BEFORE:.*]] = arith.muli %[[STEPS]], %[[RANK]]
// CHECK: %[[FROM:.*]] = tile.div trunc %[[BEFORE]], %c2_i32
// CHECK: %[[MOST:.*]] = arith.muli %[[STEPS]], %[[NEXT]]
// CHECK: %[[TO:.*]] = tile.div trunc %[[MOST]], %c2_i32
// CHECK: scf.for %[[I:.*]] = %[[FROM]] to %[[TO]]
// CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[I]], %[[FROM]]
// CHECK: block.mma_start %{{.*}} clear %[[FIRST]]
// CHECK: %[[OWN:.*]] = tile.permute %{{.*}} [1, 0]
// CHECK: %[[SHOWN:.*]] = block.alloc over %[[RING]] : {{.*}} : <16x128xf32>
// CHECK: block.write %[[SHOWN]], %[[OWN]]
// CHECK: block.cluster_sync
// CHECK: %[[P0:.*]] = block.peer %[[SHOWN]][%c0_i32]
// CHECK: %[[V0:.*]] = block.read %[[P0]]
// CHECK: %[[P1:.*]] = block.peer %[[SHOWN]][%c1_i32]
// CHECK: %[[V1:.*]] = block.read %[[P1]]
// CHECK: %[[SUM:.*]] = arith.addf %[[V0]], %[[V1]]
// CHECK: tile.store %{{.*}}, %[[SUM]]
// CHECK: block.cluster_sync

// Half of the rows are read, and stored, by each block; all warps have multiplied before sums are written over the slots.
// LAID: #[[SHARE:.*]] = #block.layout<register: 4*(0,1); lane: 32*(0,4); warp: 8*(1,0); block: 2*(8,0) -> 16x128>
// LAID: block.sync
// LAID-NEXT: block.write
// LAID-NEXT: block.cluster_sync
// LAID: block.read %{{.*}} -> tensor<16x128xf32, #[[SHARE]]>
// LAID: tile.store %{{.*}} tensor<16x128xf32, #[[SHARE]]>
