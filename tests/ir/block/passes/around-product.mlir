// Control flow around a product: what is taken, and what is left.
// RUN: tilery-opt %s -mlir-disable-threading -pass-pipeline='builtin.module(tile.kernel(choose-schedule,pipeline))' | FileCheck %s
// RUN: env TILERY_EXPLAIN=1 tilery-opt %s -mlir-disable-threading -pass-pipeline='builtin.module(tile.kernel(choose-schedule))' -o /dev/null 2>&1 | FileCheck %s --check-prefix=WHY

// A loop over tiles carries the ring's position on, the map stands in front of it.
// WHY: tiles ({{.*}}: consumers=
// CHECK-LABEL: tile.kernel @tiles
// CHECK: block.map %arg0
// CHECK: block.ring
// CHECK: %[[ZERO:.*]] = arith.constant 0 : i32
// CHECK: scf.while ({{.*}}, %[[START:.*]] = %[[ZERO]])
// CHECK: scf.condition({{.*}}) {{.*}}, %[[START]] : i32, i32
// CHECK: ^bb0({{.*}}: i32, %[[POSITION:.*]]: i32):
// CHECK: %[[STEPS:.*]]:3 = scf.for {{.*}} iter_args({{.*}}, %{{.*}} = %[[POSITION]],
// CHECK: block.acquire
// CHECK: scf.yield {{.*}}, %[[STEPS]]#1 : i32, i32
tile.kernel @tiles(%a: !tile.ptr<f16> {tile.divisibility = 16 : i64}, %b: !tile.ptr<f16> {tile.divisibility = 16 : i64},
                   %c: !tile.ptr<f16> {tile.divisibility = 16 : i64}, %count: i32, %steps: i64) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c64 = arith.constant 64 : i64
  %c4096 = arith.constant 4096 : i64
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %id = tile.program_id 0
  %programs = tile.num_programs 0
  %last = scf.while (%at = %id) : (i32) -> i32 {
    %more = arith.cmpi slt, %at, %count : i32
    scf.condition(%more) %at : i32
  } do {
  ^bb0(%tile: i32):
    %wide = arith.extsi %tile : i32 to i64
    %rest = arith.andi %wide, %c4096 : i64
    %row = arith.muli %rest, %c64 overflow<nsw> : i64
    %sum = tile.contract %steps, %zero {
    ^bb0(%i: i64):
      %k = arith.muli %i, %c64 overflow<nsw> : i64
      %first = arith.muli %row, %c4096 overflow<nsw> : i64
      %offset = arith.addi %first, %k overflow<nsw> : i64
      %ap = tile.access %a, %offset steps(%c4096, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
      %at = tile.load %ap : !tile.access<64x64xf16> -> tensor<64x64xf16>
      %kb = arith.muli %k, %c64 overflow<nsw> : i64
      %bp = tile.access %b, %kb steps(%c64, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
      %bt = tile.load %bp : !tile.access<64x64xf16> -> tensor<64x64xf16>
      tile.yield %at, %bt : tensor<64x64xf16>, tensor<64x64xf16>
    } : tensor<64x64xf32>
    %half = arith.truncf %sum : tensor<64x64xf32> to tensor<64x64xf16>
    %to = arith.muli %row, %c64 overflow<nsw> : i64
    %cp = tile.access %c, %to steps(%c64, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
    tile.store %cp, %half : !tile.access<64x64xf16>, tensor<64x64xf16>
    %next = arith.addi %tile, %programs : i32
    scf.yield %next : i32
  }
  tile.return
}

// What it stores it may load for the next tile.
// WHY: chain ({{.*}}: no blocks, for it loads what it may have stored
// CHECK-LABEL: tile.kernel @chain
// CHECK-NOT: block.
tile.kernel @chain(%a: !tile.ptr<f16> {tile.divisibility = 16 : i64}, %b: !tile.ptr<f16> {tile.divisibility = 16 : i64}, %steps: i64) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i64
  %one = arith.constant 1 : i32
  %four = arith.constant 4 : i32
  %c64 = arith.constant 64 : i64
  %c4096 = arith.constant 4096 : i64
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  scf.for %tile = %c0 to %four step %one : i32 {
    %row = arith.extsi %tile : i32 to i64
    %sum = tile.contract %steps, %zero {
    ^bb0(%i: i64):
      %k = arith.muli %i, %c64 overflow<nsw> : i64
      %first = arith.muli %row, %c4096 overflow<nsw> : i64
      %offset = arith.addi %first, %k overflow<nsw> : i64
      %ap = tile.access %a, %offset steps(%c4096, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
      %at = tile.load %ap : !tile.access<64x64xf16> -> tensor<64x64xf16>
      %kb = arith.muli %k, %c64 overflow<nsw> : i64
      %bp = tile.access %b, %kb steps(%c64, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
      %bt = tile.load %bp : !tile.access<64x64xf16> -> tensor<64x64xf16>
      tile.yield %at, %bt : tensor<64x64xf16>, tensor<64x64xf16>
    } : tensor<64x64xf32>
    %half = arith.truncf %sum : tensor<64x64xf32> to tensor<64x64xf16>
    %to = arith.muli %row, %c64 overflow<nsw> : i64
    %cp = tile.access %a, %to steps(%c64, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
    tile.store %cp, %half : !tile.access<64x64xf16>, tensor<64x64xf16>
  }
  tile.return
}
