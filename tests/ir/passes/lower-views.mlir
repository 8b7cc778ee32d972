// RUN: tilery-opt --pass-pipeline='builtin.module(tile.kernel(lower-views,canonicalize,cse))' %s | FileCheck %s

// A window at (i, j): offset i * ld + j; lanes inside the root: [-i, rows - i) and [-j, cols - j).
// CHECK-LABEL: tile.kernel @window(
// CHECK-SAME: %[[X:.*]]: !tile.ptr<f32>, %[[ROWS:.*]]: i64, %[[COLS:.*]]: i64, %[[LD:.*]]: i64, %[[I:.*]]: i64, %[[J:.*]]: i64
// CHECK: %[[ROW:.*]] = arith.muli %[[I]], %[[LD]]
// CHECK: %[[OFFSET:.*]] = arith.addi %[[ROW]], %[[J]]
// CHECK-DAG: %[[LO0:.*]] = arith.subi %{{.*}}, %[[I]]
// CHECK-DAG: %[[HI0:.*]] = arith.subi %[[ROWS]], %[[I]]
// CHECK-DAG: %[[LO1:.*]] = arith.subi %{{.*}}, %[[J]]
// CHECK-DAG: %[[HI1:.*]] = arith.subi %[[COLS]], %[[J]]
// CHECK: tile.access %[[X]], %[[OFFSET]] steps(%[[LD]], %{{.*}}) bounds [1, 1](%[[LO0]], %[[HI0]], %[[LO1]], %[[HI1]])
tile.kernel @window(%x: !tile.ptr<f32>, %rows: i64, %cols: i64, %ld: i64, %i: i64, %j: i64) {
  %v = arith.constant dense<1.0> : tensor<4x8xf32>
  %c1 = arith.constant 1 : i64
  %r = tile.root %x [%rows, %cols] strides [%ld, %c1] : !tile.ptr<f32> -> !tile.root<2xf32>
  %w = tile.view %r [%i, %j] dims [0, 1] dilations [%c1, %c1] limits [] : !tile.root<2xf32> -> !tile.view<4x8xf32>
  tile.store %w, %v : !tile.view<4x8xf32>, tensor<4x8xf32>
  tile.return
}

// A fixed root dimension bounds all lanes; a repeated tile dimension has step 0; dilation 2 halves the bound, rounding up.
// CHECK-LABEL: tile.kernel @dropped(
// CHECK-DAG: %[[INSIDE:.*]] = arith.cmpi slt, %{{.*}}, %{{.*}} : i64
// CHECK: %[[HALF:.*]] = tile.div floor %{{.*}}, %{{.*}} : i64
// CHECK: %[[HI:.*]] = arith.select
// CHECK: tile.access %{{.*}}, %{{.*}} steps(%[[ZERO:.*]], %[[TWO:.*]]) bounds [1, 1]
tile.kernel @dropped(%x: !tile.ptr<f32>, %rows: i64, %cols: i64, %ld: i64, %i: i64, %j: i64) {
  %v = arith.constant dense<1.0> : tensor<4x8xf32>
  %c1 = arith.constant 1 : i64
  %c2 = arith.constant 2 : i64
  %r = tile.root %x [%rows, %cols] strides [%ld, %c1] : !tile.ptr<f32> -> !tile.root<2xf32>
  %w = tile.view %r [%i, %j] dims [-1, 1] dilations [%c1, %c2] limits [] : !tile.root<2xf32> -> !tile.view<4x8xf32>
  tile.store %w, %v : !tile.view<4x8xf32>, tensor<4x8xf32>
  tile.return
}

// The condition of a whole tile bounds a dimension that is a loop, not the single row.
// CHECK-LABEL: tile.kernel @row(
// CHECK: %[[INSIDE:.*]] = arith.cmpi slt, %arg4, %arg1 : i64
// CHECK: %[[HI:.*]] = arith.select
// CHECK: tile.access {{.*}} bounds [0, 1](%{{.*}}, %{{.*}})
tile.kernel @row(%x: !tile.ptr<f32>, %rows: i64, %cols: i64, %ld: i64, %i: i64) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %root = tile.root %x[%rows, %cols] strides[%ld, %one] : <f32> -> <2xf32>
  %view = tile.view %root[%i, %zero] dims [-1, 1] dilations[%zero, %one] limits[] : <2xf32> -> <1x8xf32>
  %value = tile.load %view : !tile.view<1x8xf32> -> tensor<1x8xf32>
  tile.store %view, %value : !tile.view<1x8xf32>, tensor<1x8xf32>
  tile.return
}
