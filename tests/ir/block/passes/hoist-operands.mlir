// RUN: tilery-opt %s -pass-pipeline='builtin.module(tile.kernel(hoist-operands))' | FileCheck %s
// RUN: tilery-opt %s -pass-pipeline='builtin.module(tile.kernel(hoist-operands,choose-schedule,pipeline,canonicalize,cse))' | FileCheck %s --check-prefix=RINGS

// The queries are the same in all steps, and so is what tells where they lie: one load, one slot.
// CHECK-LABEL: tile.kernel @queries
// CHECK: %[[FIRST:.*]] = arith.muli %{{.*}}, %c64_i64
// CHECK: %[[PLACE:.*]] = tile.access %arg0, %[[FIRST]]
// CHECK: %[[Q:.*]] = tile.load %[[PLACE]]
// CHECK: scf.for
// CHECK: tile.load
// CHECK: tile.dot %[[Q]],
// RINGS-LABEL: tile.kernel @queries
// RINGS: block.ring takers 1 : <1, [64x64xf16]>
// RINGS: block.acquire
// RINGS: scf.for
// RINGS-COUNT-2: block.acquire
// RINGS-NOT: block.acquire
tile.kernel @queries(%q: !tile.ptr<f16> {tile.divisibility = 16 : i64}, %k: !tile.ptr<f16> {tile.divisibility = 16 : i64},
                     %v: !tile.ptr<f16> {tile.divisibility = 16 : i64}, %o: !tile.ptr<f32> {tile.divisibility = 16 : i64}, %n: i32) {
  %c1 = arith.constant 1 : i64
  %c64 = arith.constant 64 : i64
  %i0 = arith.constant 0 : i32
  %i64 = arith.constant 64 : i32
  %none = arith.constant dense<0.0> : tensor<64x64xf32>
  %id = tile.program_id 0
  %row = arith.muli %id, %i64 overflow<nsw> : i32
  %wide = arith.extsi %row : i32 to i64
  %sums = scf.for %i = %i0 to %n step %i64 iter_args(%acc = %none) -> (tensor<64x64xf32>) : i32 {
    %first = arith.muli %wide, %c64 overflow<nsw> : i64
    %aq = tile.access %q, %first steps(%c64, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
    %tq = tile.load %aq : !tile.access<64x64xf16> -> tensor<64x64xf16>
    %at = arith.extsi %i : i32 to i64
    %start = arith.muli %at, %c64 overflow<nsw> : i64
    %ak = tile.access %k, %start steps(%c1, %c64) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
    %tk = tile.load %ak : !tile.access<64x64xf16> -> tensor<64x64xf16>
    %s = tile.dot %tq, %tk, %none : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    %h = arith.truncf %s : tensor<64x64xf32> to tensor<64x64xf16>
    %av = tile.access %v, %start steps(%c64, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
    %tv = tile.load %av : !tile.access<64x64xf16> -> tensor<64x64xf16>
    %next = tile.dot %h, %tv, %acc : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  %out = arith.muli %wide, %c64 overflow<nsw> : i64
  %ao = tile.access %o, %out steps(%c64, %c1) bounds [0, 0]() : <f32>, (i64, i64), () -> <64x64xf32>
  tile.store %ao, %sums : !tile.access<64x64xf32>, tensor<64x64xf32>
  tile.return
}

// What block IR does not take stays as it is: the loop stores to the queries.
// CHECK-LABEL: tile.kernel @stored
// CHECK: scf.for
// CHECK: tile.load
// CHECK: tile.load
// CHECK: tile.dot
tile.kernel @stored(%q: !tile.ptr<f16> {tile.divisibility = 16 : i64}, %k: !tile.ptr<f16> {tile.divisibility = 16 : i64}, %n: i32) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c64 = arith.constant 64 : i64
  %i0 = arith.constant 0 : i32
  %i64 = arith.constant 64 : i32
  %none = arith.constant dense<0.0> : tensor<64x64xf32>
  scf.for %i = %i0 to %n step %i64 : i32 {
    %aq = tile.access %q, %c0 steps(%c64, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
    %tq = tile.load %aq : !tile.access<64x64xf16> -> tensor<64x64xf16>
    %at = arith.extsi %i : i32 to i64
    %start = arith.muli %at, %c64 overflow<nsw> : i64
    %ak = tile.access %k, %start steps(%c1, %c64) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
    %tk = tile.load %ak : !tile.access<64x64xf16> -> tensor<64x64xf16>
    %s = tile.dot %tq, %tk, %none : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    %h = arith.truncf %s : tensor<64x64xf32> to tensor<64x64xf16>
    tile.store %aq, %h : !tile.access<64x64xf16>, tensor<64x64xf16>
  }
  tile.return
}
