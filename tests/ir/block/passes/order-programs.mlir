// RUN: tilery-opt %S/choose-schedule.mlir -pass-pipeline='builtin.module(tile.kernel(choose-schedule,pipeline,stage-stores,order-programs,canonicalize,cse))' | FileCheck %s
// RUN: env TILERY_SCHEDULE="group=1" tilery-opt %S/choose-schedule.mlir -pass-pipeline='builtin.module(tile.kernel(choose-schedule,pipeline,stage-stores,order-programs,canonicalize,cse))' | FileCheck %s --check-prefix=GRID
// RUN: tilery-opt %S/../../matmul/tileon.mlir -pass-pipeline='builtin.module(tile.kernel(parallel-to-tiles,promote-buffers,canonicalize,cse,loop-invariant-code-motion,lower-views,raise-accesses,contract-loops,dead-lanes,canonicalize,cse,choose-schedule,pipeline,stage-stores,order-programs,canonicalize,cse))' | FileCheck %s --check-prefix=FOUND

// The grid's first axis counts columns of tiles; all that programs do is inside, with the ring's position carried on.
// CHECK-LABEL: tile.kernel @wide
// CHECK: block.ring
// CHECK: %[[X:.*]] = tile.num_programs 0
// CHECK: %[[Y:.*]] = tile.num_programs 1
// CHECK: %[[PLANE:.*]] = arith.muli %[[X]], %[[Y]]
// CHECK: block.programs grouped by 8 order(%[[X]], %false, %[[PLANE]]) iter(%{{.*}} : i32) {
// CHECK: ^bb0(%[[PX:.*]]: i32, %[[PY:.*]]: i32, %{{.*}}: i32, %[[FIRST:.*]]: i32):
// CHECK-NOT: tile.program_id
// CHECK: arith.muli %[[PY]], %c128
// CHECK: arith.muli %[[PX]], %c256
// CHECK: %[[LOOP:.*]]:3 = scf.for {{.*}} = %[[FIRST]]
// CHECK: block.store_box
// CHECK: block.yield %[[LOOP]]#1 : i32
// CHECK-LABEL: tile.kernel @exact
// CHECK-NOT: block.programs

// GRID: block.programs grid iter(

// One axis over rows and columns of tiles: what program 1 and the programs at the end of a run do says how.
// FOUND: tile.num_programs 0
// FOUND: arith.select
// FOUND: block.programs grouped by 8 order(
