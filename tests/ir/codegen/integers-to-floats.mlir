// RUN: tilery-translate --disjoint --target=sm_90a --print=asm %s | FileCheck %s
// RUN: tilery-translate --disjoint --target=sm_80 --print=asm %s | FileCheck %s --check-prefix=OLD
// Bytes become floats by an instruction that puts them below the other bytes of a number, and a subtraction: the hardware's
// conversions of bytes are a unit's that makes 16 results a cycle (words become f32 faster than that).

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
// OLD-NOT: cvt.rn.f32.s
// OLD: prmt.b32 {{.*}}, 1258291200, 0x7650U;
// OLD-NOT: cvt.rn.f32.s
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
