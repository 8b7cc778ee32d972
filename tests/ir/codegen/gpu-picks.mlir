// RUN: tilery-translate --disjoint --target=sm_90a --print=asm %s | FileCheck %s
// The largest of each column with its row: of equal ones the first, whichever is met first, so that threads share the rows. What takes the
// second of two in turn is combined in order.

// CHECK-LABEL: .entry picked(
// CHECK: ld.global.nc.v4
// CHECK-LABEL: .entry last(
// CHECK-NOT: ld.global.nc.v4
tile.kernel @picked(%x: !tile.ptr<f32> {tile.divisibility = 16 : i64}, %o: !tile.ptr<i32>) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %step = arith.constant 64 : i64
  %a = tile.access %x, %zero steps(%step, %one) bounds [0, 0] () : !tile.ptr<f32>, (i64, i64), () -> !tile.access<512x64xf32>
  %v = tile.load %a : !tile.access<512x64xf32> -> tensor<512x64xf32>
  %r = tile.range 0 to 512 : tensor<512xi32>
  %e = tile.expand_dims %r axis 1 : tensor<512xi32> -> tensor<512x1xi32>
  %i = tile.broadcast %e : tensor<512x1xi32> -> tensor<512x64xi32>
  %best:2 = tile.reduce %v, %i axis 0 {
  ^bb0(%x0: f32, %i0: i32, %x1: f32, %i1: i32):
    %more = arith.cmpf ogt, %x0, %x1 : f32
    %same = arith.cmpf oeq, %x0, %x1 : f32
    %before = arith.cmpi slt, %i0, %i1 : i32
    %tie = arith.andi %same, %before : i1
    %first = arith.ori %more, %tie : i1
    %xb = arith.select %first, %x0, %x1 : f32
    %ib = arith.select %first, %i0, %i1 : i32
    tile.yield %xb, %ib : f32, i32
  } : tensor<512x64xf32>, tensor<512x64xi32> -> tensor<64xf32>, tensor<64xi32>
  %b = tile.access %o, %zero steps(%one) bounds [0] () : !tile.ptr<i32>, (i64), () -> !tile.access<64xi32>
  tile.store %b, %best#1 : !tile.access<64xi32>, tensor<64xi32>
  tile.return
}

tile.kernel @last(%x: !tile.ptr<f32> {tile.divisibility = 16 : i64}, %o: !tile.ptr<i32>) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %step = arith.constant 64 : i64
  %a = tile.access %x, %zero steps(%step, %one) bounds [0, 0] () : !tile.ptr<f32>, (i64, i64), () -> !tile.access<512x64xf32>
  %v = tile.load %a : !tile.access<512x64xf32> -> tensor<512x64xf32>
  %r = tile.range 0 to 512 : tensor<512xi32>
  %e = tile.expand_dims %r axis 1 : tensor<512xi32> -> tensor<512x1xi32>
  %i = tile.broadcast %e : tensor<512x1xi32> -> tensor<512x64xi32>
  %best:2 = tile.reduce %v, %i axis 0 {
  ^bb0(%x0: f32, %i0: i32, %x1: f32, %i1: i32):
    %more = arith.cmpf ogt, %x0, %x1 : f32
    %xb = arith.select %more, %x0, %x1 : f32
    %ib = arith.select %more, %i0, %i1 : i32
    tile.yield %xb, %ib : f32, i32
  } : tensor<512x64xf32>, tensor<512x64xi32> -> tensor<64xf32>, tensor<64xi32>
  %b = tile.access %o, %zero steps(%one) bounds [0] () : !tile.ptr<i32>, (i64), () -> !tile.access<64xi32>
  tile.store %b, %best#1 : !tile.access<64xi32>, tensor<64xi32>
  tile.return
}
