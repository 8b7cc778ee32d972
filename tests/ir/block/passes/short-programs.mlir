// RUN: tilery-opt %s -pass-pipeline='builtin.module(tile.kernel(choose-schedule))' | FileCheck %s

// Four steps of an indexer: 128 keys, 64 heads that are weighted as columns' rows and summed. A product that is turned and turned back has
// its rows in single warps, so that registers are left for a second block, which multiplies where this one begins and ends.
// CHECK-LABEL: tile.kernel @index
// CHECK-SAME: consumers = 2
// CHECK-SAME: resident = 2
tile.kernel @index(%q: !tile.ptr<f8E4M3FN> {tile.divisibility = 16 : i64}, %k: !tile.ptr<f8E4M3FN> {tile.divisibility = 16 : i64}, %w: !tile.ptr<f32> {tile.divisibility = 16 : i64}, %o: !tile.ptr<f32> {tile.divisibility = 16 : i64}) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c128 = arith.constant 128 : i64
  %c16384 = arith.constant 16384 : i64
  %low = arith.constant 0 : i32
  %step = arith.constant 1 : i32
  %last = arith.constant 4 : i32
  %zeros = arith.constant dense<0.0> : tensor<128x64xf32>
  %none = arith.constant dense<0.0> : tensor<64x128xf32>
  %aq = tile.access %q, %c0 steps(%c1, %c128) bounds [0, 0]() : <f8E4M3FN>, (i64, i64), () -> <128x64xf8E4M3FN>
  %tq = tile.load %aq : !tile.access<128x64xf8E4M3FN> -> tensor<128x64xf8E4M3FN>
  %aw = tile.access %w, %c0 steps(%c1) bounds [0]() : <f32>, (i64), () -> <64xf32>
  %tw = tile.load %aw : !tile.access<64xf32> -> tensor<64xf32>
  %column = tile.expand_dims %tw axis 1 : tensor<64xf32> -> tensor<64x1xf32>
  %weights = tile.broadcast %column : tensor<64x1xf32> -> tensor<64x128xf32>
  scf.for %i = %low to %last step %step : i32 {
    %t = arith.extsi %i : i32 to i64
    %at = arith.muli %t, %c16384 overflow<nsw> : i64
    %ak = tile.access %k, %at steps(%c128, %c1) bounds [0, 0]() : <f8E4M3FN>, (i64, i64), () -> <128x128xf8E4M3FN>
    %tk = tile.load %ak : !tile.access<128x128xf8E4M3FN> -> tensor<128x128xf8E4M3FN>
    %s = tile.dot %tk, %tq, %zeros : tensor<128x128xf8E4M3FN>, tensor<128x64xf8E4M3FN> -> tensor<128x64xf32>
    %turned = tile.permute %s [1, 0] : tensor<128x64xf32> -> tensor<64x128xf32>
    %positive = arith.maxnumf %turned, %none : tensor<64x128xf32>
    %weighted = arith.mulf %positive, %weights : tensor<64x128xf32>
    %back = tile.permute %weighted [1, 0] : tensor<64x128xf32> -> tensor<128x64xf32>
    %sum = tile.reduce %back axis 1 {
    ^bb0(%x: f32, %y: f32):
      %z = arith.addf %x, %y : f32
      tile.yield %z : f32
    } : tensor<128x64xf32> -> tensor<128xf32>
    %place = arith.muli %t, %c128 overflow<nsw> : i64
    %ao = tile.access %o, %place steps(%c1) bounds [0]() : <f32>, (i64), () -> <128xf32>
    tile.store %ao, %sum : !tile.access<128xf32>, tensor<128xf32>
  }
  tile.return
}
