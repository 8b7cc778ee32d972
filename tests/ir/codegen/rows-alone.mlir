// RUN: tilery-translate --disjoint --target=sm_90a --print=asm %s | FileCheck %s
// Thresholds below each number are counted by the number's own thread; where elements are loaded, threads share a row, as for sums of
// floats, whose order shows.

// CHECK-LABEL: .entry counts
// CHECK-NOT: shfl
// CHECK-LABEL: .entry loaded
// CHECK: shfl
// CHECK-LABEL: .entry floats
// CHECK: shfl
tile.kernel @counts(%x: !tile.ptr<f32> {tile.divisibility = 16 : i64}, %t: !tile.ptr<f32> {tile.divisibility = 16 : i64}, %o: !tile.ptr<i32> {tile.divisibility = 16 : i64}) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %a = tile.access %x, %zero steps(%one) bounds [0] () : !tile.ptr<f32>, (i64), () -> !tile.access<1024xf32>
  %v = tile.load %a : !tile.access<1024xf32> -> tensor<1024xf32>
  %c = tile.access %t, %zero steps(%one) bounds [0] () : !tile.ptr<f32>, (i64), () -> !tile.access<256xf32>
  %w = tile.load %c : !tile.access<256xf32> -> tensor<256xf32>
  %v1 = tile.expand_dims %v axis 1 : tensor<1024xf32> -> tensor<1024x1xf32>
  %w1 = tile.expand_dims %w axis 0 : tensor<256xf32> -> tensor<1x256xf32>
  %vb = tile.broadcast %v1 : tensor<1024x1xf32> -> tensor<1024x256xf32>
  %wb = tile.broadcast %w1 : tensor<1x256xf32> -> tensor<1024x256xf32>
  %m = arith.cmpf ogt, %vb, %wb : tensor<1024x256xf32>
  %n = arith.extui %m : tensor<1024x256xi1> to tensor<1024x256xi32>
  %s = tile.reduce %n axis 1 {
  ^bb0(%p: i32, %q: i32):
    %r = arith.addi %p, %q : i32
    tile.yield %r : i32
  } : tensor<1024x256xi32> -> tensor<1024xi32>
  %b = tile.access %o, %zero steps(%one) bounds [0] () : !tile.ptr<i32>, (i64), () -> !tile.access<1024xi32>
  tile.store %b, %s : !tile.access<1024xi32>, tensor<1024xi32>
  tile.return
}

tile.kernel @loaded(%x: !tile.ptr<i32> {tile.divisibility = 16 : i64}, %o: !tile.ptr<i32> {tile.divisibility = 16 : i64}) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %row = arith.constant 256 : i64
  %a = tile.access %x, %zero steps(%row, %one) bounds [0, 0] () : !tile.ptr<i32>, (i64, i64), () -> !tile.access<1024x256xi32>
  %n = tile.load %a : !tile.access<1024x256xi32> -> tensor<1024x256xi32>
  %s = tile.reduce %n axis 1 {
  ^bb0(%p: i32, %q: i32):
    %r = arith.addi %p, %q : i32
    tile.yield %r : i32
  } : tensor<1024x256xi32> -> tensor<1024xi32>
  %b = tile.access %o, %zero steps(%one) bounds [0] () : !tile.ptr<i32>, (i64), () -> !tile.access<1024xi32>
  tile.store %b, %s : !tile.access<1024xi32>, tensor<1024xi32>
  tile.return
}

tile.kernel @floats(%x: !tile.ptr<f32> {tile.divisibility = 16 : i64}, %t: !tile.ptr<f32> {tile.divisibility = 16 : i64}, %o: !tile.ptr<f32> {tile.divisibility = 16 : i64}) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %a = tile.access %x, %zero steps(%one) bounds [0] () : !tile.ptr<f32>, (i64), () -> !tile.access<1024xf32>
  %v = tile.load %a : !tile.access<1024xf32> -> tensor<1024xf32>
  %c = tile.access %t, %zero steps(%one) bounds [0] () : !tile.ptr<f32>, (i64), () -> !tile.access<256xf32>
  %w = tile.load %c : !tile.access<256xf32> -> tensor<256xf32>
  %v1 = tile.expand_dims %v axis 1 : tensor<1024xf32> -> tensor<1024x1xf32>
  %w1 = tile.expand_dims %w axis 0 : tensor<256xf32> -> tensor<1x256xf32>
  %vb = tile.broadcast %v1 : tensor<1024x1xf32> -> tensor<1024x256xf32>
  %wb = tile.broadcast %w1 : tensor<1x256xf32> -> tensor<1024x256xf32>
  %n = arith.mulf %vb, %wb : tensor<1024x256xf32>
  %s = tile.reduce %n axis 1 {
  ^bb0(%p: f32, %q: f32):
    %r = arith.addf %p, %q : f32
    tile.yield %r : f32
  } : tensor<1024x256xf32> -> tensor<1024xf32>
  %b = tile.access %o, %zero steps(%one) bounds [0] () : !tile.ptr<f32>, (i64), () -> !tile.access<1024xf32>
  tile.store %b, %s : !tile.access<1024xf32>, tensor<1024xf32>
  tile.return
}
