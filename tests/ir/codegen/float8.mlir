// RUN: tilery-translate --disjoint --target=sm_90a --print=asm %s | FileCheck %s
// The conversion to bytes saturates: limits before it are not computed, and what is within them needs no look at what would overflow.
// NaNs of arithmetic have no sign to be kept, and where arithmetic follows nobody can tell.

// CHECK-LABEL: .entry limited
// CHECK: cvt.rn.f16x2.e4m3x2
// CHECK-NOT: shl.b32
// CHECK-NOT: setp
// CHECK-NOT: max.f32
// CHECK-NOT: selp
// CHECK: cvt.rn.satfinite.e4m3x2.f32
// CHECK-NOT: prmt
// CHECK: st.global
tile.kernel @limited(%x: !tile.ptr<f8E4M3FN> {tile.divisibility = 16 : i64}, %o: !tile.ptr<f8E4M3FN> {tile.divisibility = 16 : i64}) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %scale = arith.constant dense<3.0> : tensor<2048xf32>
  %least = arith.constant dense<-448.0> : tensor<2048xf32>
  %most = arith.constant dense<448.0> : tensor<2048xf32>
  %a = tile.access %x, %zero steps(%one) bounds [0] () : !tile.ptr<f8E4M3FN>, (i64), () -> !tile.access<2048xf8E4M3FN>
  %loaded = tile.load %a : !tile.access<2048xf8E4M3FN> -> tensor<2048xf8E4M3FN>
  %wide = arith.extf %loaded : tensor<2048xf8E4M3FN> to tensor<2048xf32>
  %v = arith.mulf %wide, %scale : tensor<2048xf32>
  %above = arith.cmpf ogt, %v, %most : tensor<2048xf32>
  %upper = arith.select %above, %most, %v : tensor<2048xi1>, tensor<2048xf32>
  %below = arith.cmpf olt, %v, %least : tensor<2048xf32>
  %both = arith.select %below, %least, %upper : tensor<2048xi1>, tensor<2048xf32>
  %narrow = arith.truncf %both : tensor<2048xf32> to tensor<2048xf8E4M3FN>
  %b = tile.access %o, %zero steps(%one) bounds [0] () : !tile.ptr<f8E4M3FN>, (i64), () -> !tile.access<2048xf8E4M3FN>
  tile.store %b, %narrow : !tile.access<2048xf8E4M3FN>, tensor<2048xf8E4M3FN>
  tile.return
}

// What has no limits: NaN in place of what is too large, with its sign.
// CHECK-LABEL: .entry unlimited
// CHECK: setp.gt.f32
// CHECK: selp
// CHECK: cvt.rn.satfinite.e4m3x2.f32
tile.kernel @unlimited(%x: !tile.ptr<f32> {tile.divisibility = 16 : i64}, %o: !tile.ptr<f8E4M3FN> {tile.divisibility = 16 : i64}) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %a = tile.access %x, %zero steps(%one) bounds [0] () : !tile.ptr<f32>, (i64), () -> !tile.access<2048xf32>
  %loaded = tile.load %a : !tile.access<2048xf32> -> tensor<2048xf32>
  %narrow = arith.truncf %loaded : tensor<2048xf32> to tensor<2048xf8E4M3FN>
  %b = tile.access %o, %zero steps(%one) bounds [0] () : !tile.ptr<f8E4M3FN>, (i64), () -> !tile.access<2048xf8E4M3FN>
  tile.store %b, %narrow : !tile.access<2048xf8E4M3FN>, tensor<2048xf8E4M3FN>
  tile.return
}
