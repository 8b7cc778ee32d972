// RUN: tilery-translate --disjoint --target=sm_80 --print=asm %s | FileCheck %s
// A factor that is a load, turned, is copied past the registers like any other; rows that are not there are filled with zeros.

// CHECK-LABEL: .entry scores
// CHECK: cp.async.cg.shared.global
// CHECK: mma.sync
tile.kernel @scores(%q: !tile.ptr<bf16> {tile.divisibility = 16 : i64}, %k: !tile.ptr<bf16> {tile.divisibility = 16 : i64},
                    %o: !tile.ptr<f32> {tile.divisibility = 16 : i64}) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %width = arith.constant 256 : i64
  %rows = arith.constant 24 : i64
  %columns = arith.constant 32 : i64
  %two = arith.constant dense<2.0> : tensor<32x256xbf16>
  %none = arith.constant dense<0.0> : tensor<32x32xf32>
  %a = tile.access %q, %zero steps(%width, %one) bounds [0, 0]() : <bf16>, (i64, i64), () -> <32x256xbf16>
  %loaded = tile.load %a : !tile.access<32x256xbf16> -> tensor<32x256xbf16>
  %left = arith.mulf %loaded, %two : tensor<32x256xbf16>
  %b = tile.access %k, %zero steps(%width, %one) bounds [1, 0](%zero, %rows) : <bf16>, (i64, i64), (i64, i64) -> <32x256xbf16>
  %keys = tile.load %b : !tile.access<32x256xbf16> -> tensor<32x256xbf16>
  %turned = tile.permute %keys [1, 0] : tensor<32x256xbf16> -> tensor<256x32xbf16>
  %s = tile.dot %left, %turned, %none {precision = 1 : i32} : tensor<32x256xbf16>, tensor<256x32xbf16> -> tensor<32x32xf32>
  %c = tile.access %o, %zero steps(%columns, %one) bounds [0, 0]() : <f32>, (i64, i64), () -> <32x32xf32>
  tile.store %c, %s : !tile.access<32x32xf32>, tensor<32x32xf32>
  tile.return
}
