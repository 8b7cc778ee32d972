// RUN: tilery-translate --disjoint --target=sm_90a --print=plan %s | FileCheck %s
// Sums of pairs that both elements take again are arithmetic on halves, in the nest that takes them; those that are stored stay sums.

// CHECK-LABEL: plan @exchanged
// CHECK-NOT: reduce
// CHECK: store
// CHECK-NOT: reduce
// CHECK-LABEL: plan @summed
// CHECK: reduce
tile.kernel @exchanged(%x: !tile.ptr<f32>, %o: !tile.ptr<f32>) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %a = tile.access %x, %zero steps(%one) bounds [0] () : !tile.ptr<f32>, (i64), () -> !tile.access<1024xf32>
  %v = tile.load %a : !tile.access<1024xf32> -> tensor<1024xf32>
  %p = tile.reshape %v : tensor<1024xf32> -> tensor<16x2x32xf32>
  %sum = tile.reduce %p axis 1 {
  ^bb0(%x0: f32, %y0: f32):
    %z0 = arith.addf %x0, %y0 : f32
    tile.yield %z0 : f32
  } : tensor<16x2x32xf32> -> tensor<16x32xf32>
  %e = tile.expand_dims %sum axis 1 : tensor<16x32xf32> -> tensor<16x1x32xf32>
  %b = tile.broadcast %e : tensor<16x1x32xf32> -> tensor<16x2x32xf32>
  %f = tile.reshape %b : tensor<16x2x32xf32> -> tensor<1024xf32>
  %new = arith.subf %f, %v : tensor<1024xf32>
  %to = tile.access %o, %zero steps(%one) bounds [0] () : !tile.ptr<f32>, (i64), () -> !tile.access<1024xf32>
  tile.store %to, %new : !tile.access<1024xf32>, tensor<1024xf32>
  tile.return
}

tile.kernel @summed(%x: !tile.ptr<f32>, %o: !tile.ptr<f32>) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %two = arith.constant 2 : i64
  %a = tile.access %x, %zero steps(%two, %one) bounds [0, 0] () : !tile.ptr<f32>, (i64, i64), () -> !tile.access<512x2xf32>
  %v = tile.load %a : !tile.access<512x2xf32> -> tensor<512x2xf32>
  %sum = tile.reduce %v axis 1 {
  ^bb0(%x0: f32, %y0: f32):
    %z0 = arith.addf %x0, %y0 : f32
    tile.yield %z0 : f32
  } : tensor<512x2xf32> -> tensor<512xf32>
  %to = tile.access %o, %zero steps(%one) bounds [0] () : !tile.ptr<f32>, (i64), () -> !tile.access<512xf32>
  tile.store %to, %sum : !tile.access<512xf32>, tensor<512xf32>
  tile.return
}
