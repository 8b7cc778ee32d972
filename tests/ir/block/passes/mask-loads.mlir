// RUN: tilery-opt %s -pass-pipeline='builtin.module(tile.kernel(mask-loads))' | FileCheck %s

// What is taken under a mask only is loaded under it, with what masked it before.
// CHECK-LABEL: tile.kernel @masked
// CHECK: %[[LANES:.*]] = tile.broadcast
// CHECK: tile.access %arg0, {{.*}} residual %[[LANES]] : tensor<8x16xi1>
// CHECK: %[[X:.*]] = tile.load
// CHECK-NOT: arith.select
// CHECK: tile.store %{{.*}}, %[[X]]
tile.kernel @masked(%p: !tile.ptr<f32>, %q: !tile.ptr<f32>, %rows: tensor<8x1xi1>) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c16 = arith.constant 16 : i64
  %zero = arith.constant dense<0.0> : tensor<8x16xf32>
  %from = tile.access %p, %c0 steps(%c16, %c1) bounds [0, 0]() : <f32>, (i64, i64), () -> <8x16xf32>
  %x = tile.load %from : !tile.access<8x16xf32> -> tensor<8x16xf32>
  %lanes = tile.broadcast %rows : tensor<8x1xi1> -> tensor<8x16xi1>
  %y = arith.select %lanes, %x, %zero : tensor<8x16xi1>, tensor<8x16xf32>
  %to = tile.access %q, %c0 steps(%c16, %c1) bounds [0, 0]() : <f32>, (i64, i64), () -> <8x16xf32>
  tile.store %to, %y : !tile.access<8x16xf32>, tensor<8x16xf32>
  tile.return
}

// Others take the elements, too; other numbers stand for those that are left out; the mask is known behind a store.
// CHECK-LABEL: tile.kernel @stays
// CHECK-COUNT-3: arith.select
tile.kernel @stays(%p: !tile.ptr<f32>, %q: !tile.ptr<f32>, %lanes: tensor<16xi1>) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %zero = arith.constant dense<0.0> : tensor<16xf32>
  %one = arith.constant dense<1.0> : tensor<16xf32>
  %from = tile.access %p, %c0 steps(%c1) bounds [0]() : <f32>, (i64), () -> <16xf32>
  %to = tile.access %q, %c0 steps(%c1) bounds [0]() : <f32>, (i64), () -> <16xf32>
  %x = tile.load %from : !tile.access<16xf32> -> tensor<16xf32>
  %a = arith.select %lanes, %x, %zero : tensor<16xi1>, tensor<16xf32>
  %b = arith.addf %a, %x : tensor<16xf32>
  tile.store %to, %b : !tile.access<16xf32>, tensor<16xf32>
  %y = tile.load %from : !tile.access<16xf32> -> tensor<16xf32>
  %c = arith.select %lanes, %y, %one : tensor<16xi1>, tensor<16xf32>
  tile.store %to, %c : !tile.access<16xf32>, tensor<16xf32>
  %z = tile.load %from : !tile.access<16xf32> -> tensor<16xf32>
  tile.store %to, %c : !tile.access<16xf32>, tensor<16xf32>
  %w = tile.load %to : !tile.access<16xf32> -> tensor<16xf32>
  %late = arith.cmpf ogt, %w, %one : tensor<16xf32>
  %d = arith.select %late, %z, %zero : tensor<16xi1>, tensor<16xf32>
  tile.store %to, %d : !tile.access<16xf32>, tensor<16xf32>
  tile.return
}
