// RUN: tilery-translate --disjoint --target=sm_90a --print=plan %s | FileCheck %s
// A product of no steps is zeros, which every path can store.
// CHECK-NOT: blocks
// CHECK: plan @empty
tile.kernel @empty(%a: !tile.ptr<f16> {tile.divisibility = 16 : i64}, %o: !tile.ptr<f32> {tile.divisibility = 16 : i64}, %L: i64 {tile.divisibility = 16 : i64}) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c64 = arith.constant 64 : i64
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %sum = tile.contract %c0, %zero {
  ^bb0(%step: i64):
    %k = arith.muli %step, %c64 overflow<nsw> : i64
    %place = tile.access %a, %k steps(%L, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
    %x = tile.load %place : !tile.access<64x64xf16> -> tensor<64x64xf16>
    %y = tile.permute %x [1, 0] : tensor<64x64xf16> -> tensor<64x64xf16>
    tile.yield %x, %y : tensor<64x64xf16>, tensor<64x64xf16>
  } : tensor<64x64xf32>
  %out = tile.access %o, %c0 steps(%c64, %c1) bounds [0, 0]() : <f32>, (i64, i64), () -> <64x64xf32>
  tile.store %out, %sum : !tile.access<64x64xf32>, tensor<64x64xf32>
  tile.return
}
