// RUN: tilery-translate --disjoint --target=avx512 --print=asm %s | FileCheck %s
// RUN: tilery-translate --disjoint --target=avx512 --print=plan %s | FileCheck %s --check-prefix=PLAN
// The larger and the smaller one of each pair, as sorting networks take them: halves are arithmetic, lanes a shuffle.

// PLAN-LABEL: plan @step
// PLAN: nest 64
// PLAN-NEXT: define
// PLAN-NEXT: nest 64
// PLAN-NEXT: store
// PLAN-NOT: nest
// PLAN: plan @rounded

// CHECK-LABEL: step:
// CHECK: {{vperm|vshuf|vmovddup}}
// CHECK-LABEL: rounded:
tile.kernel @step(%x: !tile.ptr<f32>, %o: !tile.ptr<f32>) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %first = arith.constant dense<[[[1.0], [0.0]]]> : tensor<1x2x1xf32>
  %second = arith.constant dense<[[[0.0], [1.0]]]> : tensor<1x2x1xf32>
  %a = tile.access %x, %zero steps(%one) bounds [0] () : !tile.ptr<f32>, (i64), () -> !tile.access<64xf32>
  %loaded = tile.load %a : !tile.access<64xf32> -> tensor<64xf32>
  %v = math.exp %loaded : tensor<64xf32>
  %p = tile.reshape %v : tensor<64xf32> -> tensor<16x2x2xf32>
  %f = tile.broadcast %first : tensor<1x2x1xf32> -> tensor<16x2x2xf32>
  %s = tile.broadcast %second : tensor<1x2x1xf32> -> tensor<16x2x2xf32>
  %pf = arith.mulf %p, %f : tensor<16x2x2xf32>
  %ps = arith.mulf %p, %s : tensor<16x2x2xf32>
  %l = tile.reduce %pf axis 1 {
  ^bb0(%x0: f32, %y0: f32):
    %z0 = arith.addf %x0, %y0 : f32
    tile.yield %z0 : f32
  } : tensor<16x2x2xf32> -> tensor<16x2xf32>
  %r = tile.reduce %ps axis 1 {
  ^bb0(%x1: f32, %y1: f32):
    %z1 = arith.addf %x1, %y1 : f32
    tile.yield %z1 : f32
  } : tensor<16x2x2xf32> -> tensor<16x2xf32>
  %le = tile.expand_dims %l axis 1 : tensor<16x2xf32> -> tensor<16x1x2xf32>
  %re = tile.expand_dims %r axis 1 : tensor<16x2xf32> -> tensor<16x1x2xf32>
  %lb = tile.broadcast %le : tensor<16x1x2xf32> -> tensor<16x2x2xf32>
  %rb = tile.broadcast %re : tensor<16x1x2xf32> -> tensor<16x2x2xf32>
  %lf = tile.reshape %lb : tensor<16x2x2xf32> -> tensor<64xf32>
  %rf = tile.reshape %rb : tensor<16x2x2xf32> -> tensor<64xf32>
  %swap = arith.cmpf ogt, %lf, %rf : tensor<64xf32>
  %other = arith.subf %lf, %rf : tensor<64xf32>
  %new = arith.select %swap, %other, %v : tensor<64xi1>, tensor<64xf32>
  %b = tile.access %o, %zero steps(%one) bounds [0] () : !tile.ptr<f32>, (i64), () -> !tile.access<64xf32>
  tile.store %b, %new : !tile.access<64xf32>, tensor<64xf32>
  tile.return
}

// What is computed in f64 and rounded to f32, then to f16, is rounded twice: not by a library call a lane.
// CHECK-NOT: call
// CHECK: vcvtps2ph
// CHECK-NOT: call
tile.kernel @rounded(%x: !tile.ptr<f32>, %o: !tile.ptr<f16>) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %a = tile.access %x, %zero steps(%one) bounds [0] () : !tile.ptr<f32>, (i64), () -> !tile.access<64xf32>
  %v = tile.load %a : !tile.access<64xf32> -> tensor<64xf32>
  %t = math.atanh %v : tensor<64xf32>
  %h = arith.truncf %t : tensor<64xf32> to tensor<64xf16>
  %b = tile.access %o, %zero steps(%one) bounds [0] () : !tile.ptr<f16>, (i64), () -> !tile.access<64xf16>
  tile.store %b, %h : !tile.access<64xf16>, tensor<64xf16>
  tile.return
}
