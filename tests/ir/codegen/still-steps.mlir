// RUN: tilery-translate --disjoint --target=avx512 --print=llvm %s | FileCheck %s
// An operand whose step along the row is 0 at a launch is one load a row and no gather; other steps are gathers still. Short rows that are
// walked through as one have no dimensions to look for steps along.

// CHECK-LABEL: define{{.*}} @broadcast
// CHECK: icmp eq i64 %{{.*}}, 0
// CHECK: llvm.masked.gather
// CHECK: load float, ptr
// CHECK-LABEL: define{{.*}} @short
tile.kernel @broadcast(%x: !tile.ptr<f32>, %o: !tile.ptr<f32>, %step: i64) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %ax = tile.access %x, %zero steps(%step) bounds [0] () : !tile.ptr<f32>, (i64), () -> !tile.access<256xf32>
  %ao = tile.access %o, %zero steps(%one) bounds [0] () : !tile.ptr<f32>, (i64), () -> !tile.access<256xf32>
  %v = tile.load %ax : !tile.access<256xf32> -> tensor<256xf32>
  tile.store %ao, %v : !tile.access<256xf32>, tensor<256xf32>
  tile.return
}

tile.kernel @short(%o: !tile.ptr<bf16>, %rows: i64, %step: i64) {
  %cst = arith.constant dense<3.250000e+00> : tensor<3x8xbf16>
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %nine = arith.constant 9 : i64
  %far = arith.constant 27 : i64
  %0 = math.rsqrt %cst : tensor<3x8xbf16>
  %1 = tile.expand_dims %0 axis 2 : tensor<3x8xbf16> -> tensor<3x8x1xbf16>
  %2 = tile.broadcast %1 : tensor<3x8x1xbf16> -> tensor<3x8x6xbf16>
  %3 = tile.root %o[%rows, %rows, %nine] strides[%far, %nine, %step] : <bf16> -> <3xbf16>
  %4 = tile.view %3[%zero, %zero, %zero] dims [0, 1, 2] dilations[%one, %one, %one] limits[] : <3xbf16> -> <3x8x6xbf16>
  tile.store %4, %2 : !tile.view<3x8x6xbf16>, tensor<3x8x6xbf16>
  tile.return
}
