// RUN: tilery-translate --disjoint --target=sm_80 --print=asm %s | FileCheck %s
// RUN: tilery-translate --disjoint --target=sm_90a --print=asm %s | FileCheck %s
// RUN: tilery-translate --disjoint --target=avx512 %s | FileCheck %s --check-prefix=CPU
// Of two products that are added, the one whose factors are there first is rounded with the sum, however the sum is written.

// The factor of x is 2.5, that of y 3.0; x is read first.
// CHECK-LABEL: .entry f32_written_late
// CHECK: mul.f32 [[Y:%r[0-9]+]], %r{{[0-9]+}}, 0f40400000;
// CHECK: fma.rn.f32 %r{{[0-9]+}}, %r{{[0-9]+}}, 0f40200000, [[Y]];
// CPU-LABEL: define {{.*}}@f32_written_late
// CPU: %[[Y:.*]] = fmul contract {{.*}} splat (float 3.000000e+00)
// CPU: %[[X:.*]] = fmul contract {{.*}} splat (float 2.500000e+00)
// CPU: fadd contract {{.*}} %[[Y]], %[[X]]
tile.kernel @f32_written_late(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>, %o: !tile.ptr<f32>) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %two = arith.constant dense<2.5> : tensor<64xf32>
  %three = arith.constant dense<3.0> : tensor<64xf32>
  %xs = tile.access %x, %c0 steps(%c1) bounds [0]() : !tile.ptr<f32>, (i64), () -> !tile.access<64xf32>
  %ys = tile.access %y, %c0 steps(%c1) bounds [0]() : !tile.ptr<f32>, (i64), () -> !tile.access<64xf32>
  %os = tile.access %o, %c0 steps(%c1) bounds [0]() : !tile.ptr<f32>, (i64), () -> !tile.access<64xf32>
  %first = tile.load %xs : !tile.access<64xf32> -> tensor<64xf32>
  %second = tile.load %ys : !tile.access<64xf32> -> tensor<64xf32>
  %later = arith.mulf %second, %three : tensor<64xf32>
  %earlier = arith.mulf %first, %two : tensor<64xf32>
  %sum = arith.addf %later, %earlier : tensor<64xf32>
  tile.store %os, %sum : !tile.access<64xf32>, tensor<64xf32>
  tile.return
}

// CHECK-LABEL: .entry f32_written_first
// CHECK: mul.f32 [[Y:%r[0-9]+]], %r{{[0-9]+}}, 0f40400000;
// CHECK: fma.rn.f32 %r{{[0-9]+}}, %r{{[0-9]+}}, 0f40200000, [[Y]];
tile.kernel @f32_written_first(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>, %o: !tile.ptr<f32>) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %two = arith.constant dense<2.5> : tensor<64xf32>
  %three = arith.constant dense<3.0> : tensor<64xf32>
  %xs = tile.access %x, %c0 steps(%c1) bounds [0]() : !tile.ptr<f32>, (i64), () -> !tile.access<64xf32>
  %ys = tile.access %y, %c0 steps(%c1) bounds [0]() : !tile.ptr<f32>, (i64), () -> !tile.access<64xf32>
  %os = tile.access %o, %c0 steps(%c1) bounds [0]() : !tile.ptr<f32>, (i64), () -> !tile.access<64xf32>
  %first = tile.load %xs : !tile.access<64xf32> -> tensor<64xf32>
  %second = tile.load %ys : !tile.access<64xf32> -> tensor<64xf32>
  %earlier = arith.mulf %first, %two : tensor<64xf32>
  %later = arith.mulf %second, %three : tensor<64xf32>
  %sum = arith.addf %earlier, %later : tensor<64xf32>
  tile.store %os, %sum : !tile.access<64xf32>, tensor<64xf32>
  tile.return
}

// What a loop carries is older than what is read behind it. A difference is no sum.
// CHECK-LABEL: .entry f32_behind_a_loop
// CHECK: mul.f32 [[Y:%r[0-9]+]], %r{{[0-9]+}}, 0f40400000;
// CHECK: fma.rn.f32 [[SUM:%r[0-9]+]], %r{{[0-9]+}}, 0f40200000, [[Y]];
// CHECK: fma.rn.f32 %r{{[0-9]+}}, %r{{[0-9]+}}, 0f40E00000, %r{{[0-9]+}};
tile.kernel @f32_behind_a_loop(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>, %o: !tile.ptr<f32>, %n: i32) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %from = arith.constant 0 : i32
  %step = arith.constant 1 : i32
  %two = arith.constant dense<2.5> : tensor<64xf32>
  %three = arith.constant dense<3.0> : tensor<64xf32>
  %seven = arith.constant dense<7.0> : tensor<64xf32>
  %xs = tile.access %x, %c0 steps(%c1) bounds [0]() : !tile.ptr<f32>, (i64), () -> !tile.access<64xf32>
  %ys = tile.access %y, %c0 steps(%c1) bounds [0]() : !tile.ptr<f32>, (i64), () -> !tile.access<64xf32>
  %os = tile.access %o, %c0 steps(%c1) bounds [0]() : !tile.ptr<f32>, (i64), () -> !tile.access<64xf32>
  %start = tile.load %xs : !tile.access<64xf32> -> tensor<64xf32>
  %carried = scf.for %i = %from to %n step %step iter_args(%so = %start) -> (tensor<64xf32>) : i32 {
    %loaded = tile.load %xs : !tile.access<64xf32> -> tensor<64xf32>
    %next = arith.addf %so, %loaded : tensor<64xf32>
    tile.store %os, %next : !tile.access<64xf32>, tensor<64xf32>
    scf.yield %next : tensor<64xf32>
  }
  %second = tile.load %ys : !tile.access<64xf32> -> tensor<64xf32>
  %later = arith.mulf %second, %three : tensor<64xf32>
  %earlier = arith.mulf %carried, %two : tensor<64xf32>
  %sum = arith.addf %later, %earlier : tensor<64xf32>
  %scaled = arith.mulf %second, %seven : tensor<64xf32>
  %difference = arith.subf %scaled, %sum : tensor<64xf32>
  tile.store %os, %difference : !tile.access<64xf32>, tensor<64xf32>
  tile.return
}

// In f16, too, whose sums LLVM narrows.
// CHECK-LABEL: .entry f16_written_late
// CHECK: mov.b16 [[THREE:%rs[0-9]+]], 0x4200;
// CHECK: mul.f16 [[Y:%rs[0-9]+]], %rs{{[0-9]+}}, [[THREE]];
// CHECK: mov.b16 [[TWO:%rs[0-9]+]], 0x4100;
// CHECK: fma.rn.f16 %rs{{[0-9]+}}, %rs{{[0-9]+}}, [[TWO]], [[Y]];
tile.kernel @f16_written_late(%x: !tile.ptr<f16>, %y: !tile.ptr<f16>, %o: !tile.ptr<f16>) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %xs = tile.access %x, %c0 steps(%c1) bounds [0]() : !tile.ptr<f16>, (i64), () -> !tile.access<64xf16>
  %ys = tile.access %y, %c0 steps(%c1) bounds [0]() : !tile.ptr<f16>, (i64), () -> !tile.access<64xf16>
  %os = tile.access %o, %c0 steps(%c1) bounds [0]() : !tile.ptr<f16>, (i64), () -> !tile.access<64xf16>
  %two = arith.constant dense<2.5> : tensor<64xf16>
  %three = arith.constant dense<3.0> : tensor<64xf16>
  %first = tile.load %xs : !tile.access<64xf16> -> tensor<64xf16>
  %second = tile.load %ys : !tile.access<64xf16> -> tensor<64xf16>
  %later = arith.mulf %second, %three : tensor<64xf16>
  %earlier = arith.mulf %first, %two : tensor<64xf16>
  %sum = arith.addf %later, %earlier : tensor<64xf16>
  tile.store %os, %sum : !tile.access<64xf16>, tensor<64xf16>
  tile.return
}
