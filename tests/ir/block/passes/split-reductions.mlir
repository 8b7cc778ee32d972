// RUN: tilery-opt %s -pass-pipeline='builtin.module(tile.kernel(split-reductions))' | FileCheck %s

// Lanes that lie flat are reduced row by row.
// CHECK-LABEL: tile.kernel @flat
// CHECK: %[[X:.*]] = tile.load
// CHECK: %[[ROWS:.*]] = tile.reduce %[[X]] axis 1
// CHECK: : tensor<8x32xf32> -> tensor<8xf32>
// CHECK: %[[ALL:.*]] = tile.reduce %[[ROWS]] axis 0
// CHECK: : tensor<8xf32> -> f32
// CHECK: tile.store %{{.*}}, %[[ALL]]
tile.kernel @flat(%p: !tile.ptr<f32>, %q: !tile.ptr<f32>) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c32 = arith.constant 32 : i64
  %place = tile.access %p, %c0 steps(%c32, %c1) bounds [0, 0]() : <f32>, (i64, i64), () -> <8x32xf32>
  %x = tile.load %place : !tile.access<8x32xf32> -> tensor<8x32xf32>
  %line = tile.reshape %x : tensor<8x32xf32> -> tensor<256xf32>
  %sum = tile.reduce %line axis 0 {
  ^bb0(%a: f32, %b: f32):
    %both = arith.addf %a, %b : f32
    tile.yield %both : f32
  } : tensor<256xf32> -> f32
  %to = tile.access %q, %c0 steps() bounds []() : <f32>, (), () -> <f32>
  tile.store %to, %sum : !tile.access<f32>, f32
  tile.return
}

// A group of dimensions in the middle; and dimensions that are no group.
// CHECK-LABEL: tile.kernel @middle
// CHECK: tile.reduce %{{.*}} axis 2
// CHECK: : tensor<2x4x8x16xf32> -> tensor<2x4x16xf32>
// CHECK: tile.reduce %{{.*}} axis 1
// CHECK: : tensor<2x4x16xf32> -> tensor<2x16xf32>
// CHECK: tile.reduce %{{.*}} axis 0
// CHECK: : tensor<16x64xf32> -> tensor<64xf32>
tile.kernel @middle(%p: !tile.ptr<f32>, %q: !tile.ptr<f32>, %x: tensor<2x4x8x16xf32>) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c16 = arith.constant 16 : i64
  %flat = tile.reshape %x : tensor<2x4x8x16xf32> -> tensor<2x32x16xf32>
  %sums = tile.reduce %flat axis 1 {
  ^bb0(%a: f32, %b: f32):
    %both = arith.addf %a, %b : f32
    tile.yield %both : f32
  } : tensor<2x32x16xf32> -> tensor<2x16xf32>
  %other = tile.reshape %x : tensor<2x4x8x16xf32> -> tensor<16x64xf32>
  %columns = tile.reduce %other axis 0 {
  ^bb0(%a: f32, %b: f32):
    %both = arith.maxnumf %a, %b : f32
    tile.yield %both : f32
  } : tensor<16x64xf32> -> tensor<64xf32>
  %to = tile.access %p, %c0 steps(%c16, %c1) bounds [0, 0]() : <f32>, (i64, i64), () -> <2x16xf32>
  tile.store %to, %sums : !tile.access<2x16xf32>, tensor<2x16xf32>
  %end = tile.access %q, %c0 steps(%c1) bounds [0]() : <f32>, (i64), () -> <64xf32>
  tile.store %end, %columns : !tile.access<64xf32>, tensor<64xf32>
  tile.return
}

// A tile of one element was a number, which has no dimensions.
// CHECK-LABEL: tile.kernel @single
// CHECK: %[[ONE:.*]] = tile.reshape %{{.*}} : f32 -> tensor<1x1x1xf32>
// CHECK: tile.reduce %[[ONE]] axis 0
// CHECK: tile.reduce %[[ONE]] axis 1
tile.kernel @single(%p: !tile.ptr<f32>, %q: !tile.ptr<f32>) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %from = tile.access %p, %c0 steps() bounds []() : <f32>, (), () -> <f32>
  %x = tile.load %from : !tile.access<f32> -> f32
  %one = tile.reshape %x : f32 -> tensor<1x1x1xf32>
  %sum = tile.reduce %one axis 0 {
  ^bb0(%a: f32, %b: f32):
    %both = arith.addf %a, %b : f32
    tile.yield %both : f32
  } : tensor<1x1x1xf32> -> tensor<1x1xf32>
  %most = tile.reduce %one axis 1 {
  ^bb0(%a: f32, %b: f32):
    %both = arith.maxnumf %a, %b : f32
    tile.yield %both : f32
  } : tensor<1x1x1xf32> -> tensor<1x1xf32>
  %product = arith.mulf %sum, %most : tensor<1x1xf32>
  %to = tile.access %q, %c0 steps(%c1, %c1) bounds [0, 0]() : <f32>, (i64, i64), () -> <1x1xf32>
  tile.store %to, %product : !tile.access<1x1xf32>, tensor<1x1xf32>
  tile.return
}
