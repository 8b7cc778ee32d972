// RUN: tilery-opt %s -pass-pipeline='builtin.module(tile.kernel(transpose-operands))' | FileCheck %s

// Both products have the same 16-bit tile, one of them with its dimensions exchanged.
// CHECK-LABEL: tile.kernel @both
// CHECK: %[[HALF:.*]] = arith.truncf %{{.*}} : tensor<128x64xf32> to tensor<128x64xf16>
// CHECK: tile.dot %[[HALF]],
// CHECK-NOT: arith.truncf
// CHECK: %[[TURNED:.*]] = tile.permute %[[HALF]] [1, 0]
// CHECK: tile.dot %[[TURNED]],
tile.kernel @both(%x: !tile.ptr<f32>, %y: !tile.ptr<f16>, %o: !tile.ptr<f32>) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c64 = arith.constant 64 : i64
  %zeros = arith.constant dense<0.0> : tensor<128x64xf32>
  %none = arith.constant dense<0.0> : tensor<64x64xf32>
  %ax = tile.access %x, %c0 steps(%c64, %c1) bounds [0, 0]() : <f32>, (i64, i64), () -> <128x64xf32>
  %tx = tile.load %ax : !tile.access<128x64xf32> -> tensor<128x64xf32>
  %ay = tile.access %y, %c0 steps(%c64, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
  %ty = tile.load %ay : !tile.access<64x64xf16> -> tensor<64x64xf16>
  %az = tile.access %y, %c0 steps(%c64, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <128x64xf16>
  %tz = tile.load %az : !tile.access<128x64xf16> -> tensor<128x64xf16>
  %half = arith.truncf %tx : tensor<128x64xf32> to tensor<128x64xf16>
  %first = tile.dot %half, %ty, %zeros : tensor<128x64xf16>, tensor<64x64xf16> -> tensor<128x64xf32>
  %turned = tile.permute %tx [1, 0] : tensor<128x64xf32> -> tensor<64x128xf32>
  %again = arith.truncf %turned : tensor<64x128xf32> to tensor<64x128xf16>
  %second = tile.dot %again, %tz, %none : tensor<64x128xf16>, tensor<128x64xf16> -> tensor<64x64xf32>
  %ao = tile.access %o, %c0 steps(%c64, %c1) bounds [0, 0]() : <f32>, (i64, i64), () -> <128x64xf32>
  tile.store %ao, %first : !tile.access<128x64xf32>, tensor<128x64xf32>
  %ap = tile.access %o, %c0 steps(%c64, %c1) bounds [0, 0]() : <f32>, (i64, i64), () -> <64x64xf32>
  tile.store %ap, %second : !tile.access<64x64xf32>, tensor<64x64xf32>
  tile.return
}

// What something else takes, too, stays as it is.
// CHECK-LABEL: tile.kernel @stored
// CHECK: tile.permute
// CHECK: arith.truncf
// CHECK: tile.store
tile.kernel @stored(%x: !tile.ptr<f32>, %o: !tile.ptr<f16>) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c64 = arith.constant 64 : i64
  %ax = tile.access %x, %c0 steps(%c64, %c1) bounds [0, 0]() : <f32>, (i64, i64), () -> <64x64xf32>
  %tx = tile.load %ax : !tile.access<64x64xf32> -> tensor<64x64xf32>
  %turned = tile.permute %tx [1, 0] : tensor<64x64xf32> -> tensor<64x64xf32>
  %half = arith.truncf %turned : tensor<64x64xf32> to tensor<64x64xf16>
  %ao = tile.access %o, %c0 steps(%c64, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
  tile.store %ao, %half : !tile.access<64x64xf16>, tensor<64x64xf16>
  tile.return
}

// A second factor of f32 that is computed is a tile along k, exchanged; one for both products.
// CHECK-LABEL: tile.kernel @wide
// CHECK: %[[SECOND:.*]] = arith.addf
// CHECK-NEXT: %[[LINES:.*]] = tile.permute %[[SECOND]] [1, 0] : tensor<64x32xf32> -> tensor<32x64xf32>
// CHECK-NEXT: %[[FACTOR:.*]] = tile.permute %[[LINES]] [1, 0] : tensor<32x64xf32> -> tensor<64x32xf32>
// CHECK-NOT: tile.permute
// CHECK: tile.dot %{{.*}}, %[[FACTOR]],
// CHECK: tile.dot %{{.*}}, %[[FACTOR]],
tile.kernel @wide(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>, %o: !tile.ptr<f32>) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c64 = arith.constant 64 : i64
  %none = arith.constant dense<0.0> : tensor<64x32xf32>
  %ax = tile.access %x, %c0 steps(%c64, %c1) bounds [0, 0]() : <f32>, (i64, i64), () -> <64x64xf32>
  %tx = tile.load %ax : !tile.access<64x64xf32> -> tensor<64x64xf32>
  %ay = tile.access %y, %c0 steps(%c64, %c1) bounds [0, 0]() : <f32>, (i64, i64), () -> <64x32xf32>
  %ty = tile.load %ay : !tile.access<64x32xf32> -> tensor<64x32xf32>
  %sum = arith.addf %ty, %ty : tensor<64x32xf32>
  %first = tile.dot %tx, %sum, %none {precision = 1 : i32} : tensor<64x64xf32>, tensor<64x32xf32> -> tensor<64x32xf32>
  %both = tile.dot %tx, %sum, %first {precision = 1 : i32} : tensor<64x64xf32>, tensor<64x32xf32> -> tensor<64x32xf32>
  %ao = tile.access %o, %c0 steps(%c64, %c1) bounds [0, 0]() : <f32>, (i64, i64), () -> <64x32xf32>
  tile.store %ao, %both : !tile.access<64x32xf32>, tensor<64x32xf32>
  tile.return
}
