// RUN: tilery-opt %s -split-input-file -pass-pipeline='builtin.module(tile.kernel(scale-late))' | FileCheck %s

// A number that nobody knows: where it is positive, the sums are multiplied with 1 and what is taken of them with the number.
// CHECK-LABEL: tile.kernel @masked
// CHECK: %[[ONE:.*]] = arith.constant 1.0
// CHECK: %[[MORE:.*]] = arith.cmpf ogt, %arg2, %{{.*}} : f32
// CHECK: %[[LESS:.*]] = arith.cmpf olt, %arg2, %{{.*}} : f32
// CHECK: %[[POSITIVE:.*]] = arith.andi %[[MORE]], %[[LESS]]
// CHECK: %[[NOW:.*]] = arith.select %[[POSITIVE]], %[[ONE]], %arg2
// CHECK: %[[LATER:.*]] = arith.select %[[POSITIVE]], %arg2, %[[ONE]]
// CHECK: scf.for
// CHECK: %[[SUMS:.*]] = tile.dot
// CHECK: %[[FACTOR:.*]] = tile.splat %[[NOW]]
// CHECK: %[[TIMES:.*]] = arith.mulf %[[SUMS]], %[[FACTOR]]
// CHECK: %[[SEEN:.*]] = arith.select %{{.*}}, %[[TIMES]], %{{.*}} : tensor<64x64xi1>
// CHECK: %[[REST:.*]] = tile.splat %[[LATER]] : f32 -> tensor<64x64xf32>
// CHECK: %[[SCALED:.*]] = arith.mulf %[[SEEN]], %[[REST]]
// CHECK: %[[TOP:.*]] = tile.reduce %[[SEEN]] axis 1
// CHECK: %[[ROWS:.*]] = tile.splat %[[LATER]] : f32 -> tensor<64xf32>
// CHECK: %[[SCALEDTOP:.*]] = arith.mulf %[[TOP]], %[[ROWS]]
// CHECK: arith.maxnumf %{{.*}}, %[[SCALEDTOP]]
// CHECK: arith.subf %[[SCALED]],
tile.kernel @masked(%a: !tile.ptr<f16> {tile.divisibility = 16 : i64}, %o: !tile.ptr<f32>, %scale: f32, %n: i32) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c64 = arith.constant 64 : i64
  %i0 = arith.constant 0 : i32
  %i64 = arith.constant 64 : i32
  %zeros = arith.constant dense<0.0> : tensor<64x64xf32>
  %nothing = arith.constant dense<0xFF800000> : tensor<64x64xf32>
  %least = arith.constant dense<0xFF800000> : tensor<64xf32>
  %aa = tile.access %a, %c0 steps(%c64, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
  %ta = tile.load %aa : !tile.access<64x64xf16> -> tensor<64x64xf16>
  %offsets = tile.range 0 to 64 : tensor<64xi32>
  %ns = tile.splat %n : i32 -> tensor<64xi32>
  %out, %last = scf.for %i = %i0 to %n step %i64 iter_args(%acc = %zeros, %most = %least) -> (tensor<64x64xf32>, tensor<64xf32>) : i32 {
    %at = arith.extsi %i : i32 to i64
    %start = arith.muli %at, %c64 overflow<nsw> : i64
    %ab = tile.access %a, %start steps(%c1, %c64) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
    %tb = tile.load %ab : !tile.access<64x64xf16> -> tensor<64x64xf16>
    %s = tile.dot %ta, %tb, %zeros : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    %scales = tile.splat %scale : f32 -> tensor<64x64xf32>
    %x = arith.mulf %s, %scales : tensor<64x64xf32>
    %is = tile.splat %i : i32 -> tensor<64xi32>
    %numbers = arith.addi %is, %offsets : tensor<64xi32>
    %there = arith.cmpi slt, %numbers, %ns : tensor<64xi32>
    %line = tile.expand_dims %there axis 0 : tensor<64xi1> -> tensor<1x64xi1>
    %exists = tile.broadcast %line : tensor<1x64xi1> -> tensor<64x64xi1>
    %y = arith.select %exists, %x, %nothing : tensor<64x64xi1>, tensor<64x64xf32>
    %rows = tile.reduce %y axis 1 {
    ^bb0(%p: f32, %q: f32):
      %r = arith.maxnumf %p, %q : f32
      tile.yield %r : f32
    } : tensor<64x64xf32> -> tensor<64xf32>
    %top = arith.maxnumf %most, %rows : tensor<64xf32>
    %column = tile.expand_dims %top axis 1 : tensor<64xf32> -> tensor<64x1xf32>
    %tops = tile.broadcast %column : tensor<64x1xf32> -> tensor<64x64xf32>
    %below = arith.subf %y, %tops : tensor<64x64xf32>
    %sum = arith.addf %acc, %below : tensor<64x64xf32>
    scf.yield %sum, %top : tensor<64x64xf32>, tensor<64xf32>
  }
  %ao = tile.access %o, %c0 steps(%c64, %c1) bounds [0, 0]() : <f32>, (i64, i64), () -> <64x64xf32>
  tile.store %ao, %out : !tile.access<64x64xf32>, tensor<64x64xf32>
  tile.return
}

// -----

// A positive constant needs no choice; a mask is carried along on its other side, too.
// CHECK-LABEL: tile.kernel @constant
// CHECK-NOT: arith.cmpf
// CHECK: %[[SUMS:.*]] = tile.dot
// CHECK: %[[SEEN:.*]] = arith.select %{{.*}}, %{{.*}}, %[[SUMS]]
// CHECK: arith.mulf %[[SEEN]], %{{.*}} : tensor<64x64xf32>
// CHECK: %[[TOP:.*]] = tile.reduce %[[SEEN]]
// CHECK: arith.mulf %[[TOP]], %{{.*}} : tensor<64xf32>
tile.kernel @constant(%a: !tile.ptr<f16> {tile.divisibility = 16 : i64}, %o: !tile.ptr<f32>, %mask: !tile.ptr<i1>, %n: i32) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c64 = arith.constant 64 : i64
  %i0 = arith.constant 0 : i32
  %i64 = arith.constant 64 : i32
  %zeros = arith.constant dense<0.0> : tensor<64x64xf32>
  %quarter = arith.constant dense<0.25> : tensor<64x64xf32>
  %nothing = arith.constant dense<0xFF800000> : tensor<64x64xf32>
  %none = arith.constant dense<0.0> : tensor<64xf32>
  %aa = tile.access %a, %c0 steps(%c64, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
  %ta = tile.load %aa : !tile.access<64x64xf16> -> tensor<64x64xf16>
  %am = tile.access %mask, %c0 steps(%c64, %c1) bounds [0, 0]() : <i1>, (i64, i64), () -> <64x64xi1>
  %hidden = tile.load %am : !tile.access<64x64xi1> -> tensor<64x64xi1>
  %last = scf.for %i = %i0 to %n step %i64 iter_args(%most = %none) -> (tensor<64xf32>) : i32 {
    %at = arith.extsi %i : i32 to i64
    %start = arith.muli %at, %c64 overflow<nsw> : i64
    %ab = tile.access %a, %start steps(%c1, %c64) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
    %tb = tile.load %ab : !tile.access<64x64xf16> -> tensor<64x64xf16>
    %s = tile.dot %ta, %tb, %zeros : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    %x = arith.mulf %quarter, %s : tensor<64x64xf32>
    %y = arith.select %hidden, %nothing, %x : tensor<64x64xi1>, tensor<64x64xf32>
    %rows = tile.reduce %y axis 1 {
    ^bb0(%p: f32, %q: f32):
      %r = arith.maximumf %p, %q : f32
      tile.yield %r : f32
    } : tensor<64x64xf32> -> tensor<64xf32>
    %total = tile.reduce %y axis 1 {
    ^bb0(%p: f32, %q: f32):
      %r = arith.addf %p, %q : f32
      tile.yield %r : f32
    } : tensor<64x64xf32> -> tensor<64xf32>
    %both = arith.addf %rows, %total : tensor<64xf32>
    %next = arith.addf %both, %most : tensor<64xf32>
    scf.yield %next : tensor<64xf32>
  }
  %ao = tile.access %o, %c0 steps(%c1) bounds [0]() : <f32>, (i64), () -> <64xf32>
  tile.store %ao, %last : !tile.access<64xf32>, tensor<64xf32>
  tile.return
}

// -----

// Left alone: a negative number, and a mask that leaves a number which would have to be divided.
// CHECK-LABEL: tile.kernel @left
// CHECK: %[[SUMS:.*]] = tile.dot
// CHECK: %[[X:.*]] = arith.mulf %[[SUMS]],
// CHECK: tile.reduce %[[X]] axis 1
// CHECK: %[[Z:.*]] = arith.mulf %[[SUMS]],
// CHECK: %[[SEEN:.*]] = arith.select %{{.*}}, %[[Z]],
// CHECK: tile.reduce %[[SEEN]] axis 1
tile.kernel @left(%a: !tile.ptr<f16> {tile.divisibility = 16 : i64}, %o: !tile.ptr<f32>, %mask: !tile.ptr<i1>, %n: i32) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c64 = arith.constant 64 : i64
  %i0 = arith.constant 0 : i32
  %i64 = arith.constant 64 : i32
  %zeros = arith.constant dense<0.0> : tensor<64x64xf32>
  %minus = arith.constant dense<-0.25> : tensor<64x64xf32>
  %quarter = arith.constant dense<0.25> : tensor<64x64xf32>
  %little = arith.constant dense<-1.0e6> : tensor<64x64xf32>
  %none = arith.constant dense<0.0> : tensor<64xf32>
  %aa = tile.access %a, %c0 steps(%c64, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
  %ta = tile.load %aa : !tile.access<64x64xf16> -> tensor<64x64xf16>
  %am = tile.access %mask, %c0 steps(%c64, %c1) bounds [0, 0]() : <i1>, (i64, i64), () -> <64x64xi1>
  %exists = tile.load %am : !tile.access<64x64xi1> -> tensor<64x64xi1>
  %last = scf.for %i = %i0 to %n step %i64 iter_args(%most = %none) -> (tensor<64xf32>) : i32 {
    %at = arith.extsi %i : i32 to i64
    %start = arith.muli %at, %c64 overflow<nsw> : i64
    %ab = tile.access %a, %start steps(%c1, %c64) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
    %tb = tile.load %ab : !tile.access<64x64xf16> -> tensor<64x64xf16>
    %s = tile.dot %ta, %tb, %zeros : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    %x = arith.mulf %s, %minus : tensor<64x64xf32>
    %rows = tile.reduce %x axis 1 {
    ^bb0(%p: f32, %q: f32):
      %r = arith.maxnumf %p, %q : f32
      tile.yield %r : f32
    } : tensor<64x64xf32> -> tensor<64xf32>
    %z = arith.mulf %s, %quarter : tensor<64x64xf32>
    %y = arith.select %exists, %z, %little : tensor<64x64xi1>, tensor<64x64xf32>
    %others = tile.reduce %y axis 1 {
    ^bb0(%p: f32, %q: f32):
      %r = arith.maxnumf %p, %q : f32
      tile.yield %r : f32
    } : tensor<64x64xf32> -> tensor<64xf32>
    %both = arith.addf %rows, %others : tensor<64xf32>
    %next = arith.addf %both, %most : tensor<64xf32>
    scf.yield %next : tensor<64xf32>
  }
  %ao = tile.access %o, %c0 steps(%c1) bounds [0]() : <f32>, (i64), () -> <64xf32>
  tile.store %ao, %last : !tile.access<64xf32>, tensor<64xf32>
  tile.return
}
