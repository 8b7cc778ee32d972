// RUN: tilery-translate --disjoint --target=sm_90a --print=asm %s | FileCheck %s
// RUN: tilery-translate --disjoint --target=sm_80 --print=asm %s | FileCheck %s --check-prefix=OLD
// Bytes become floats by an instruction that puts them below the other bytes of a number, and a subtraction: conversions of integers have a
// quarter of the speed, or less. So do sums of few products of bytes, by one addition and one subtraction.

// CHECK-LABEL: .entry widen
// CHECK-NOT: cvt.rn.f32.s
// CHECK: xor.b32 {{.*}}, -2139062144;
// CHECK: prmt.b32 {{.*}}, 1258291200, 0x7650U;
// CHECK: add.f32 {{.*}}, 0fCB000080;
// CHECK: cvt.rn.bf16x2.f32
// CHECK-NOT: cvt.rn.f32.s
// CHECK: prmt.b32 {{.*}}, 1677747200, 0x7150U;
// CHECK: add.f16x2
// CHECK-NOT: cvt.rn.f32.s
// CHECK: add.f32 {{.*}}, 0fCB000000;
tile.kernel @widen(%x: !tile.ptr<i8> {tile.divisibility = 16 : i64}, %o: !tile.ptr<bf16> {tile.divisibility = 16 : i64}, %h: !tile.ptr<f16> {tile.divisibility = 16 : i64}, %f: !tile.ptr<f32> {tile.divisibility = 16 : i64}) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %a = tile.access %x, %zero steps(%one) bounds [0] () : !tile.ptr<i8>, (i64), () -> !tile.access<1024xi8>
  %loaded = tile.load %a : !tile.access<1024xi8> -> tensor<1024xi8>
  %v = arith.sitofp %loaded : tensor<1024xi8> to tensor<1024xbf16>
  %b = tile.access %o, %zero steps(%one) bounds [0] () : !tile.ptr<bf16>, (i64), () -> !tile.access<1024xbf16>
  tile.store %b, %v : !tile.access<1024xbf16>, tensor<1024xbf16>
  %w = arith.sitofp %loaded : tensor<1024xi8> to tensor<1024xf16>
  %c = tile.access %h, %zero steps(%one) bounds [0] () : !tile.ptr<f16>, (i64), () -> !tile.access<1024xf16>
  tile.store %c, %w : !tile.access<1024xf16>, tensor<1024xf16>
  %u = arith.uitofp %loaded : tensor<1024xi8> to tensor<1024xf32>
  %d = tile.access %f, %zero steps(%one) bounds [0] () : !tile.ptr<f32>, (i64), () -> !tile.access<1024xf32>
  tile.store %d, %u : !tile.access<1024xf32>, tensor<1024xf32>
  tile.return
}

// CHECK-LABEL: .entry sums
// CHECK: wgmma.mma_async.sync.aligned.m64n64k32.s32.s8.s8
// CHECK-NOT: cvt.rn.f32.s32
// OLD-LABEL: .entry sums
// OLD: mma.sync{{.*}}s32.s8.s8.s32
// OLD-NOT: cvt.rn.f32.s32
tile.kernel @sums(%a: !tile.ptr<i8> {tile.divisibility = 16 : i64}, %b: !tile.ptr<i8> {tile.divisibility = 16 : i64}, %o: !tile.ptr<f32> {tile.divisibility = 16 : i64}, %steps: i32) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %row = arith.constant 4096 : i64
  %width = arith.constant 64 : i64
  %first = arith.constant 0 : i32
  %next = arith.constant 1 : i32
  %empty = arith.constant dense<0> : tensor<64x64xi32>
  %none = arith.constant dense<0.0> : tensor<64x64xf32>
  %all = scf.for %i = %first to %steps step %next iter_args(%sums = %none) -> (tensor<64x64xf32>) : i32 {
    %wide = arith.extsi %i : i32 to i64
    %at = arith.muli %wide, %width overflow<nsw> : i64
    %left = tile.access %a, %at steps(%row, %one) bounds [0, 0] () : !tile.ptr<i8>, (i64, i64), () -> !tile.access<64x64xi8>
    %right = tile.access %b, %at steps(%one, %row) bounds [0, 0] () : !tile.ptr<i8>, (i64, i64), () -> !tile.access<64x64xi8>
    %x = tile.load %left : !tile.access<64x64xi8> -> tensor<64x64xi8>
    %y = tile.load %right : !tile.access<64x64xi8> -> tensor<64x64xi8>
    %product = tile.dot %x, %y, %empty : tensor<64x64xi8>, tensor<64x64xi8> -> tensor<64x64xi32>
    %real = arith.sitofp %product : tensor<64x64xi32> to tensor<64x64xf32>
    %sum = arith.addf %sums, %real : tensor<64x64xf32>
    scf.yield %sum : tensor<64x64xf32>
  }
  %out = tile.access %o, %zero steps(%width, %one) bounds [0, 0] () : !tile.ptr<f32>, (i64, i64), () -> !tile.access<64x64xf32>
  tile.store %out, %all : !tile.access<64x64xf32>, tensor<64x64xf32>
  tile.return
}
