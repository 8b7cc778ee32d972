// RUN: env TILERY_SCHEDULE="joined=2" tilery-opt %S/fetch.mlir --block-pipeline | FileCheck %s
// RUN: env TILERY_SCHEDULE="joined=0" tilery-opt %S/fetch.mlir --block-pipeline | FileCheck %s --check-prefix=ONE
// Threads load the factors of two steps before they write those of the first; a last step is alone.

// ONE-NOT: block.early

// CHECK-LABEL: tile.kernel @windows
// CHECK: block.role @load
// CHECK: scf.for
// CHECK: %[[FIRST:.*]] = block.acquire %[[RING:[0-9]+]][%[[AT:[a-z0-9]+]]]
// CHECK: tile.load {{.*}} {block.early}
// CHECK: %[[NEXT:.*]] = arith.addi %[[AT]]
// CHECK: %[[SECOND:.*]] = block.acquire %[[RING]][%[[NEXT]]]
// CHECK: tile.load {{.*}} {block.early}
// CHECK: block.write
// CHECK-NEXT: block.fence
// CHECK-NEXT: block.publish %[[FIRST]]
// CHECK-NEXT: block.write
// CHECK-NEXT: block.fence
// CHECK-NEXT: block.publish %[[SECOND]]
// CHECK: scf.for
// CHECK: block.acquire
// CHECK-NOT: block.early
// CHECK: block.publish
// CHECK: block.role @math
