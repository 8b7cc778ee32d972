// RUN: tilery-opt %S/pipeline.mlir -pass-pipeline='builtin.module(tile.kernel(choose-schedule,pipeline,stage-stores,canonicalize,cse))' | FileCheck %s
// RUN: tilery-opt %S/pipeline.mlir -pass-pipeline='builtin.module(tile.kernel(stage-stores))' | FileCheck %s --check-prefix=ALONE
// What a pipelined kernel stores to a box goes through shared memory; other kernels' stores stay.

// CHECK-LABEL: tile.kernel @batched
// CHECK: %[[R:.*]] = arith.truncf
// CHECK: %[[MAP:.*]] = block.map %arg2, [%{{.*}}, %arg3, %arg4], [%{{.*}}, %arg4] : <f16> -> <1x64x64xf16, 128>
// CHECK: %[[OUT:.*]] = block.alloc : <128x64xf16>
// CHECK: block.write %[[OUT]], %[[R]] : <128x64xf16>, tensor<128x64xf16>
// CHECK: block.store_box %[[OUT]] -> %[[MAP]][%{{.*}}, %{{.*}}, %{{.*}}] : <128x64xf16>, <1x64x64xf16, 128>
// CHECK-NOT: tile.store
// CHECK: tile.return
// CHECK-LABEL: tile.kernel @left
// CHECK-COUNT-2: tile.store

// ALONE-NOT: block.
