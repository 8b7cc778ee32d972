// RUN: tilery-translate --disjoint --target=avx512 --print=llvm %s | FileCheck %s
// Lanes of which two share a place, the first alone: one load under a mask of places. Where groups begin anywhere it is a gather.

// CHECK-LABEL: define{{.*}} @shared
// CHECK:         llvm.masked.load.v16f32
// CHECK:         shufflevector <16 x float> %{{.*}}, <16 x float> poison, <16 x i32> <i32 0, i32 1, i32 1, i32 2, i32 2
// CHECK-LABEL: define{{.*}} @anywhere
// CHECK-NOT:     llvm.masked.load.v16f32
// CHECK:         llvm.masked.gather.v16f32
tile.kernel @shared(%x: !tile.ptr<f32>, %o: !tile.ptr<f32>, %n: i64) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %ones = arith.constant dense<1> : tensor<64xi64>
  %twos = arith.constant dense<2> : tensor<64xi64>
  %numbers = tile.range 0 to 64 : tensor<64xi32>
  %i = arith.extsi %numbers : tensor<64xi32> to tensor<64xi64>
  %next = arith.addi %i, %ones overflow<nsw> : tensor<64xi64>
  %at = tile.div floor %next, %twos : tensor<64xi64>
  %ends = tile.splat %n : i64 -> tensor<64xi64>
  %exists = arith.cmpi slt, %at, %ends : tensor<64xi64>
  %ax = tile.access %x, %zero steps(%at) bounds [2] (%exists) : !tile.ptr<f32>, (tensor<64xi64>), (tensor<64xi1>) -> !tile.access<64xf32>
  %ao = tile.access %o, %zero steps(%one) bounds [0] () : !tile.ptr<f32>, (i64), () -> !tile.access<64xf32>
  %v = tile.load %ax : !tile.access<64xf32> -> tensor<64xf32>
  tile.store %ao, %v : !tile.access<64xf32>, tensor<64xf32>
  tile.return
}

tile.kernel @anywhere(%x: !tile.ptr<f32>, %o: !tile.ptr<f32>, %n: i64) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %twos = arith.constant dense<2> : tensor<64xi64>
  %numbers = tile.range 0 to 64 : tensor<64xi32>
  %i = arith.extsi %numbers : tensor<64xi32> to tensor<64xi64>
  %ends = tile.splat %n : i64 -> tensor<64xi64>
  %next = arith.addi %i, %ends overflow<nsw> : tensor<64xi64>
  %at = tile.div floor %next, %twos : tensor<64xi64>
  %exists = arith.cmpi slt, %at, %ends : tensor<64xi64>
  %ax = tile.access %x, %zero steps(%at) bounds [2] (%exists) : !tile.ptr<f32>, (tensor<64xi64>), (tensor<64xi1>) -> !tile.access<64xf32>
  %ao = tile.access %o, %zero steps(%one) bounds [0] () : !tile.ptr<f32>, (i64), () -> !tile.access<64xf32>
  %v = tile.load %ax : !tile.access<64xf32> -> tensor<64xf32>
  tile.store %ao, %v : !tile.access<64xf32>, tensor<64xf32>
  tile.return
}
