// RUN: tilery-opt --mask-loads --split-input-file %s | FileCheck %s

// Where the condition does not hold nothing is loaded, and 0 is what such lanes are.
// CHECK-LABEL: tile.kernel @rows
// CHECK:         %[[BOTH:.*]] = arith.andi
// CHECK:         %[[PLACE:.*]] = tile.pointer_access %{{.*}} mask %[[BOTH]]
// CHECK:         %[[X:.*]] = tile.load %[[PLACE]]
// CHECK-NOT:     arith.select
// CHECK:         tile.store %{{.*}}, %[[X]]
tile.kernel @rows(%ptrs: tensor<4x!tile.ptr<f32>>, %mask: tensor<4xi1>, %valid: tensor<4xi1>, %out: !tile.access<4xf32>) {
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %p = tile.pointer_access %ptrs mask %mask : tensor<4xi1> : tensor<4x!tile.ptr<f32>> -> !tile.access<4xf32>
  %x = tile.load %p : !tile.access<4xf32> -> tensor<4xf32>
  %y = arith.select %valid, %x, %zero : tensor<4xi1>, tensor<4xf32>
  tile.store %out, %y : !tile.access<4xf32>, tensor<4xf32>
  tile.return
}

// -----

// -0 is another number, and what is loaded may be another one behind a store.
// CHECK-LABEL: tile.kernel @others
// CHECK-COUNT-2: arith.select
tile.kernel @others(%ptrs: tensor<4x!tile.ptr<f32>>, %valid: tensor<4xi1>, %out: !tile.access<4xf32>, %other: !tile.access<4xf32>) {
  %minus = arith.constant dense<-0.0> : tensor<4xf32>
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %p = tile.pointer_access %ptrs : tensor<4x!tile.ptr<f32>> -> !tile.access<4xf32>
  %x = tile.load %p : !tile.access<4xf32> -> tensor<4xf32>
  %y = arith.select %valid, %x, %minus : tensor<4xi1>, tensor<4xf32>
  %z = tile.load %p : !tile.access<4xf32> -> tensor<4xf32>
  tile.store %out, %y : !tile.access<4xf32>, tensor<4xf32>
  %w = arith.select %valid, %z, %zero : tensor<4xi1>, tensor<4xf32>
  tile.store %other, %w : !tile.access<4xf32>, tensor<4xf32>
  tile.return
}
