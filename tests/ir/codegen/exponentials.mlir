// RUN: tilery-translate --disjoint --target=sm_90a --print=asm %s | FileCheck %s
// What an exponential takes hangs on what becomes of it: three instructions where it is computed with and then rounded to bf16, the whole of
// it where it is rounded as it is, one less where all of it goes into a sum, which its last product is fused with.

// CHECK: .entry computed
// CHECK-NOT: sat
// CHECK: ex2.approx.ftz.f32 [[HALF:%r[0-9]+]]
// CHECK: mul{{.*}}f32 {{%r[0-9]+}}, [[HALF]], [[HALF]];
// CHECK: .entry rounded
// CHECK-NOT: fma.rn.f32 {{%r[0-9]+}}, {{%r[0-9]+}}, {{%r[0-9]+}}, {{%r[0-9]+}};
// CHECK: cvt.sat.f32.f32
// CHECK: ex2.approx
// CHECK: .entry taken
// CHECK: cvt.sat.f32.f32
// CHECK: .entry summed
// CHECK: fma.rn.f32 {{%r[0-9]+}}, {{%r[0-9]+}}, {{%r[0-9]+}}, {{%r[0-9]+}};

// A power of two is the hardware's own, denormal ones by way of one 2^24 times as large.
// CHECK: .entry two
// CHECK-NOT: fma.rn
// CHECK: add.rn.f32 {{%r[0-9]+}}, {{%r[0-9]+}}, 0f41C00000;
// CHECK: ex2.approx.ftz.f32 [[POWER:%r[0-9]+]]
// CHECK: mul.rn.f32 {{%r[0-9]+}}, [[POWER]], 0f33800000;
// What is infinite or no number is found by the hardware's rough logarithm.
// CHECK: .entry logarithm
// CHECK: lg2.approx.ftz.f32 [[ROUGH:%r[0-9]+]]
// CHECK: abs.f32 [[SIZE:%r[0-9]+]], [[ROUGH]];
// CHECK: setp.{{lt|ne}}.f32 {{%p[0-9]+}}, [[SIZE]], 0f7F800000;
module {
  tile.kernel @computed(%x: !tile.ptr<f32>, %y: !tile.ptr<bf16>, %factor: f32) {
    %zero = arith.constant 0 : i64
    %one = arith.constant 1 : i64
    %end = arith.constant 1024 : i64
    %less = arith.constant dense<1.0> : tensor<1024xf32>
    %from = tile.access %x, %zero steps(%one) bounds [1](%zero, %end) : !tile.ptr<f32>, (i64), (i64, i64) -> !tile.access<1024xf32>
    %to = tile.access %y, %zero steps(%one) bounds [1](%zero, %end) : !tile.ptr<bf16>, (i64), (i64, i64) -> !tile.access<1024xbf16>
    %values = tile.load %from : !tile.access<1024xf32> -> tensor<1024xf32>
    %power = math.exp %values : tensor<1024xf32>
    %factors = tile.splat %factor : f32 -> tensor<1024xf32>
    %scaled = arith.mulf %power, %factors : tensor<1024xf32>
    %moved = arith.subf %scaled, %less : tensor<1024xf32>
    %narrow = arith.truncf %moved : tensor<1024xf32> to tensor<1024xbf16>
    tile.store %to, %narrow : !tile.access<1024xbf16>, tensor<1024xbf16>
    tile.return
  }

  tile.kernel @rounded(%x: !tile.ptr<f32>, %y: !tile.ptr<bf16>) {
    %zero = arith.constant 0 : i64
    %one = arith.constant 1 : i64
    %end = arith.constant 1024 : i64
    %from = tile.access %x, %zero steps(%one) bounds [1](%zero, %end) : !tile.ptr<f32>, (i64), (i64, i64) -> !tile.access<1024xf32>
    %to = tile.access %y, %zero steps(%one) bounds [1](%zero, %end) : !tile.ptr<bf16>, (i64), (i64, i64) -> !tile.access<1024xbf16>
    %values = tile.load %from : !tile.access<1024xf32> -> tensor<1024xf32>
    %power = math.exp %values : tensor<1024xf32>
    %narrow = arith.truncf %power : tensor<1024xf32> to tensor<1024xbf16>
    tile.store %to, %narrow : !tile.access<1024xbf16>, tensor<1024xbf16>
    tile.return
  }

  // A difference of large numbers would show what the quick one lacks.
  tile.kernel @taken(%x: !tile.ptr<f32>, %y: !tile.ptr<bf16>, %much: f32) {
    %zero = arith.constant 0 : i64
    %one = arith.constant 1 : i64
    %end = arith.constant 1024 : i64
    %from = tile.access %x, %zero steps(%one) bounds [1](%zero, %end) : !tile.ptr<f32>, (i64), (i64, i64) -> !tile.access<1024xf32>
    %to = tile.access %y, %zero steps(%one) bounds [1](%zero, %end) : !tile.ptr<bf16>, (i64), (i64, i64) -> !tile.access<1024xbf16>
    %values = tile.load %from : !tile.access<1024xf32> -> tensor<1024xf32>
    %power = math.exp %values : tensor<1024xf32>
    %all = tile.splat %much : f32 -> tensor<1024xf32>
    %moved = arith.subf %power, %all : tensor<1024xf32>
    %narrow = arith.truncf %moved : tensor<1024xf32> to tensor<1024xbf16>
    tile.store %to, %narrow : !tile.access<1024xbf16>, tensor<1024xbf16>
    tile.return
  }

  tile.kernel @summed(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>) {
    %zero = arith.constant 0 : i64
    %one = arith.constant 1 : i64
    %end = arith.constant 1024 : i64
    %from = tile.access %x, %zero steps(%one) bounds [1](%zero, %end) : !tile.ptr<f32>, (i64), (i64, i64) -> !tile.access<1024xf32>
    %values = tile.load %from : !tile.access<1024xf32> -> tensor<1024xf32>
    %power = math.exp %values : tensor<1024xf32>
    %sum = tile.reduce %power axis 0 {
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %b : f32
      tile.yield %s : f32
    } : tensor<1024xf32> -> f32
    %place = tile.pointer_access %y : !tile.ptr<f32> -> !tile.access<f32>
    tile.store %place, %sum : !tile.access<f32>, f32
    tile.return
  }

  tile.kernel @two(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>) {
    %zero = arith.constant 0 : i64
    %one = arith.constant 1 : i64
    %end = arith.constant 1024 : i64
    %from = tile.access %x, %zero steps(%one) bounds [1](%zero, %end) : !tile.ptr<f32>, (i64), (i64, i64) -> !tile.access<1024xf32>
    %to = tile.access %y, %zero steps(%one) bounds [1](%zero, %end) : !tile.ptr<f32>, (i64), (i64, i64) -> !tile.access<1024xf32>
    %values = tile.load %from : !tile.access<1024xf32> -> tensor<1024xf32>
    %result = math.exp2 %values : tensor<1024xf32>
    tile.store %to, %result : !tile.access<1024xf32>, tensor<1024xf32>
    tile.return
  }

  tile.kernel @logarithm(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>) {
    %zero = arith.constant 0 : i64
    %one = arith.constant 1 : i64
    %end = arith.constant 1024 : i64
    %from = tile.access %x, %zero steps(%one) bounds [1](%zero, %end) : !tile.ptr<f32>, (i64), (i64, i64) -> !tile.access<1024xf32>
    %to = tile.access %y, %zero steps(%one) bounds [1](%zero, %end) : !tile.ptr<f32>, (i64), (i64, i64) -> !tile.access<1024xf32>
    %values = tile.load %from : !tile.access<1024xf32> -> tensor<1024xf32>
    %result = math.log %values : tensor<1024xf32>
    tile.store %to, %result : !tile.access<1024xf32>, tensor<1024xf32>
    tile.return
  }
}
