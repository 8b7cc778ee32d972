// RUN: tilery-translate --disjoint --target=avx512 --print=llvm %s | FileCheck %s
// A row of flattened indices whose stride only the launch knows exists once more for strides of 1, by vectors of neighbours. Of a sum with
// places from memory, which is no row whatever the strides are, nothing is asked.

// CHECK-LABEL: define{{.*}} @given
// CHECK:         icmp eq i64 %{{.*}}, 1
// CHECK:         load <16 x float>
// CHECK:         llvm.masked.gather
// CHECK-LABEL: define{{.*}} @found
// CHECK-NOT:     icmp eq i64 %{{.*}}, 1
// CHECK:         llvm.masked.gather
tile.kernel @given(%x: !tile.ptr<f32>, %o: !tile.ptr<f32>, %stride: i64, %width: i64) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %numbers = tile.range 0 to 512 : tensor<512xi32>
  %i = arith.extsi %numbers : tensor<512xi32> to tensor<512xi64>
  %widths = tile.splat %width : i64 -> tensor<512xi64>
  %column = tile.rem trunc %i, %widths : tensor<512xi64>
  %strides = tile.splat %stride : i64 -> tensor<512xi64>
  %at = arith.muli %column, %strides overflow<nsw> : tensor<512xi64>
  %ax = tile.access %x, %zero steps(%at) bounds [0] () : !tile.ptr<f32>, (tensor<512xi64>), () -> !tile.access<512xf32>
  %ao = tile.access %o, %zero steps(%one) bounds [0] () : !tile.ptr<f32>, (i64), () -> !tile.access<512xf32>
  %v = tile.load %ax : !tile.access<512xf32> -> tensor<512xf32>
  tile.store %ao, %v : !tile.access<512xf32>, tensor<512xf32>
  tile.return
}

tile.kernel @found(%x: !tile.ptr<f32>, %y: !tile.ptr<i64>, %o: !tile.ptr<f32>, %stride: i64, %width: i64) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %numbers = tile.range 0 to 512 : tensor<512xi32>
  %i = arith.extsi %numbers : tensor<512xi32> to tensor<512xi64>
  %widths = tile.splat %width : i64 -> tensor<512xi64>
  %column = tile.rem trunc %i, %widths : tensor<512xi64>
  %strides = tile.splat %stride : i64 -> tensor<512xi64>
  %right = arith.muli %column, %strides overflow<nsw> : tensor<512xi64>
  %ay = tile.access %y, %zero steps(%one) bounds [0] () : !tile.ptr<i64>, (i64), () -> !tile.access<512xi64>
  %down = tile.load %ay : !tile.access<512xi64> -> tensor<512xi64>
  %at = arith.addi %right, %down overflow<nsw> : tensor<512xi64>
  %ax = tile.access %x, %zero steps(%at) bounds [0] () : !tile.ptr<f32>, (tensor<512xi64>), () -> !tile.access<512xf32>
  %ao = tile.access %o, %zero steps(%one) bounds [0] () : !tile.ptr<f32>, (i64), () -> !tile.access<512xf32>
  %v = tile.load %ax : !tile.access<512xf32> -> tensor<512xf32>
  tile.store %ao, %v : !tile.access<512xf32>, tensor<512xf32>
  tile.return
}
