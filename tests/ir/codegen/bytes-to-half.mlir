// RUN: tilery-translate --disjoint --target=sm_90a --print=asm %s | FileCheck %s
// RUN: tilery-translate --disjoint --target=sm_80 --print=asm %s | FileCheck %s --check-prefix=OLD
// Bytes become f16 two at a time, not by f32; NaNs keep their signs.

// CHECK-LABEL: .entry widen
// CHECK-NOT: cvt.f32.f16
// CHECK: cvt.rn.f16x2.e4m3x2
// CHECK: prmt.b32
// CHECK: and.b32 {{.*}}, -2147450880
// CHECK-NOT: cvt.f32.f16
// OLD-NOT: e4m3x2
tile.kernel @widen(%x: !tile.ptr<f8E4M3FN> {tile.divisibility = 16 : i64}, %o: !tile.ptr<f16> {tile.divisibility = 16 : i64}) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %a = tile.access %x, %zero steps(%one) bounds [0] () : !tile.ptr<f8E4M3FN>, (i64), () -> !tile.access<1024xf8E4M3FN>
  %loaded = tile.load %a : !tile.access<1024xf8E4M3FN> -> tensor<1024xf8E4M3FN>
  %v = arith.extf %loaded : tensor<1024xf8E4M3FN> to tensor<1024xf16>
  %b = tile.access %o, %zero steps(%one) bounds [0] () : !tile.ptr<f16>, (i64), () -> !tile.access<1024xf16>
  tile.store %b, %v : !tile.access<1024xf16>, tensor<1024xf16>
  tile.return
}
