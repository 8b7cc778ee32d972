// RUN: tilery-opt %s -pass-pipeline='builtin.module(tile.kernel(choose-schedule,pipeline,canonicalize,cse))' | FileCheck %s

// Weights that a product takes in 16 bits, and what sums are scaled by as the maximum of their rows moves: powers of two by one instruction.
// CHECK-LABEL: tile.kernel @softmax
// CHECK: scf.for
// CHECK: %[[BELOW:.*]] = arith.subf {{.*}} : tensor<64x64xf32>
// CHECK: %[[EXPONENT:.*]] = arith.mulf %[[BELOW]], %{{.*}} : tensor<64x64xf32>
// CHECK: math.exp2 %[[EXPONENT]] fastmath<afn> : tensor<64x64xf32>
// CHECK: math.exp2 %{{.*}} fastmath<afn> : tensor<64xf32>
// An exponential of something else keeps what it was.
// CHECK: math.exp %{{.*}} : tensor<64x64xf32>
tile.kernel @softmax(%q: !tile.ptr<f16> {tile.divisibility = 16 : i64}, %k: !tile.ptr<f16> {tile.divisibility = 16 : i64},
                     %v: !tile.ptr<f16> {tile.divisibility = 16 : i64}, %o: !tile.ptr<f32> {tile.divisibility = 16 : i64}, %n: i32) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c64 = arith.constant 64 : i64
  %i0 = arith.constant 0 : i32
  %i64 = arith.constant 64 : i32
  %zeros = arith.constant dense<0.0> : tensor<64x64xf32>
  %least = arith.constant dense<0xFF800000> : tensor<64xf32>
  %aq = tile.access %q, %c0 steps(%c64, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
  %tq = tile.load %aq : !tile.access<64x64xf16> -> tensor<64x64xf16>
  %sums, %last = scf.for %i = %i0 to %n step %i64 iter_args(%acc = %zeros, %most = %least) -> (tensor<64x64xf32>, tensor<64xf32>) : i32 {
    %at = arith.extsi %i : i32 to i64
    %start = arith.muli %at, %c64 overflow<nsw> : i64
    %ak = tile.access %k, %start steps(%c1, %c64) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
    %tk = tile.load %ak : !tile.access<64x64xf16> -> tensor<64x64xf16>
    %s = tile.dot %tq, %tk, %zeros : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    %rows = tile.reduce %s axis 1 {
    ^bb0(%a: f32, %b: f32):
      %x = arith.maxnumf %a, %b : f32
      tile.yield %x : f32
    } : tensor<64x64xf32> -> tensor<64xf32>
    %top = arith.maxnumf %most, %rows : tensor<64xf32>
    %column = tile.expand_dims %top axis 1 : tensor<64xf32> -> tensor<64x1xf32>
    %tops = tile.broadcast %column : tensor<64x1xf32> -> tensor<64x64xf32>
    %below = arith.subf %s, %tops : tensor<64x64xf32>
    %p = math.exp %below : tensor<64x64xf32>
    %less = arith.subf %most, %top : tensor<64xf32>
    %keep = math.exp %less : tensor<64xf32>
    %keeps = tile.expand_dims %keep axis 1 : tensor<64xf32> -> tensor<64x1xf32>
    %scales = tile.broadcast %keeps : tensor<64x1xf32> -> tensor<64x64xf32>
    %other = math.exp %s : tensor<64x64xf32>
    %both = arith.mulf %scales, %other : tensor<64x64xf32>
    %scaled = arith.mulf %acc, %both : tensor<64x64xf32>
    %h = arith.truncf %p : tensor<64x64xf32> to tensor<64x64xf16>
    %av = tile.access %v, %start steps(%c64, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
    %tv = tile.load %av : !tile.access<64x64xf16> -> tensor<64x64xf16>
    %next = tile.dot %h, %tv, %scaled : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    scf.yield %next, %top : tensor<64x64xf32>, tensor<64xf32>
  }
  %ao = tile.access %o, %c0 steps(%c64, %c1) bounds [0, 0]() : <f32>, (i64, i64), () -> <64x64xf32>
  tile.store %ao, %sums : !tile.access<64x64xf32>, tensor<64x64xf32>
  tile.return
}

// So are those of a step behind the loop (a diagonal that a mask touches), of powers of two too; others keep all their bits there.
// CHECK-LABEL: tile.kernel @last_step
// CHECK: scf.for
// CHECK: scf.yield
// CHECK: math.exp2 %{{.*}} fastmath<afn> : tensor<64x64xf32>
// CHECK: math.exp2 %{{.*}} fastmath<afn> : tensor<64xf32>
// CHECK: math.exp2 %{{.*}} : tensor<64x64xf32>
tile.kernel @last_step(%q: !tile.ptr<f16> {tile.divisibility = 16 : i64}, %k: !tile.ptr<f16> {tile.divisibility = 16 : i64},
                     %v: !tile.ptr<f16> {tile.divisibility = 16 : i64}, %o: !tile.ptr<f32> {tile.divisibility = 16 : i64}, %n: i32) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c64 = arith.constant 64 : i64
  %i0 = arith.constant 0 : i32
  %i64 = arith.constant 64 : i32
  %zeros = arith.constant dense<0.0> : tensor<64x64xf32>
  %least = arith.constant dense<0xFF800000> : tensor<64xf32>
  %aq = tile.access %q, %c0 steps(%c64, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
  %tq = tile.load %aq : !tile.access<64x64xf16> -> tensor<64x64xf16>
  %sums, %last = scf.for %i = %i0 to %n step %i64 iter_args(%acc = %zeros, %most = %least) -> (tensor<64x64xf32>, tensor<64xf32>) : i32 {
    %at = arith.extsi %i : i32 to i64
    %start = arith.muli %at, %c64 overflow<nsw> : i64
    %ak = tile.access %k, %start steps(%c1, %c64) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
    %tk = tile.load %ak : !tile.access<64x64xf16> -> tensor<64x64xf16>
    %s = tile.dot %tq, %tk, %zeros : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    %rows = tile.reduce %s axis 1 {
    ^bb0(%a: f32, %b: f32):
      %x = arith.maxnumf %a, %b : f32
      tile.yield %x : f32
    } : tensor<64x64xf32> -> tensor<64xf32>
    %top = arith.maxnumf %most, %rows : tensor<64xf32>
    %column = tile.expand_dims %top axis 1 : tensor<64xf32> -> tensor<64x1xf32>
    %tops = tile.broadcast %column : tensor<64x1xf32> -> tensor<64x64xf32>
    %below = arith.subf %s, %tops : tensor<64x64xf32>
    %p = math.exp %below : tensor<64x64xf32>
    %less = arith.subf %most, %top : tensor<64xf32>
    %keep = math.exp %less : tensor<64xf32>
    %keeps = tile.expand_dims %keep axis 1 : tensor<64xf32> -> tensor<64x1xf32>
    %scales = tile.broadcast %keeps : tensor<64x1xf32> -> tensor<64x64xf32>
    %other = math.exp %s : tensor<64x64xf32>
    %both = arith.mulf %scales, %other : tensor<64x64xf32>
    %scaled = arith.mulf %acc, %both : tensor<64x64xf32>
    %h = arith.truncf %p : tensor<64x64xf32> to tensor<64x64xf16>
    %av = tile.access %v, %start steps(%c64, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
    %tv = tile.load %av : !tile.access<64x64xf16> -> tensor<64x64xf16>
    %next = tile.dot %h, %tv, %scaled : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    scf.yield %next, %top : tensor<64x64xf32>, tensor<64xf32>
  }
  %at2 = arith.extsi %n : i32 to i64
  %start2 = arith.muli %at2, %c64 overflow<nsw> : i64
  %ak2 = tile.access %k, %start2 steps(%c1, %c64) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
  %tk2 = tile.load %ak2 : !tile.access<64x64xf16> -> tensor<64x64xf16>
  %s2 = tile.dot %tq, %tk2, %zeros : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  %rows2 = tile.reduce %s2 axis 1 {
  ^bb0(%a: f32, %b: f32):
    %x = arith.maxnumf %a, %b : f32
    tile.yield %x : f32
  } : tensor<64x64xf32> -> tensor<64xf32>
  %top2 = arith.maxnumf %last, %rows2 : tensor<64xf32>
  %column2 = tile.expand_dims %top2 axis 1 : tensor<64xf32> -> tensor<64x1xf32>
  %tops2 = tile.broadcast %column2 : tensor<64x1xf32> -> tensor<64x64xf32>
  %below2 = arith.subf %s2, %tops2 : tensor<64x64xf32>
  %p2 = math.exp2 %below2 : tensor<64x64xf32>
  %less2 = arith.subf %last, %top2 : tensor<64xf32>
  %keep2 = math.exp2 %less2 : tensor<64xf32>
  %keeps2 = tile.expand_dims %keep2 axis 1 : tensor<64xf32> -> tensor<64x1xf32>
  %scales2 = tile.broadcast %keeps2 : tensor<64x1xf32> -> tensor<64x64xf32>
  %other2 = math.exp2 %s2 : tensor<64x64xf32>
  %both2 = arith.mulf %scales2, %other2 : tensor<64x64xf32>
  %scaled2 = arith.mulf %sums, %both2 : tensor<64x64xf32>
  %h2 = arith.truncf %p2 : tensor<64x64xf32> to tensor<64x64xf16>
  %av2 = tile.access %v, %start2 steps(%c64, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
  %tv2 = tile.load %av2 : !tile.access<64x64xf16> -> tensor<64x64xf16>
  %end = tile.dot %h2, %tv2, %scaled2 : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  %ao = tile.access %o, %c0 steps(%c64, %c1) bounds [0, 0]() : <f32>, (i64, i64), () -> <64x64xf32>
  tile.store %ao, %end : !tile.access<64x64xf32>, tensor<64x64xf32>
  tile.return
}
