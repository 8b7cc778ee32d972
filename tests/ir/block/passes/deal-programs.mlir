// RUN: tilery-opt %s -pass-pipeline='builtin.module(tile.kernel(choose-schedule,pipeline,stage-stores,order-programs,split-roles,canonicalize,cse,canonicalize,assign-layouts,place-syncs,deal-programs,check-barriers))' | FileCheck %s
// RUN: env TILERY_SCHEDULE="instances=1" tilery-opt %s -pass-pipeline='builtin.module(tile.kernel(choose-schedule,pipeline,stage-stores,order-programs,split-roles,canonicalize,cse,canonicalize,assign-layouts,place-syncs,deal-programs))' | FileCheck %s --check-prefix=ONE
// Two instances of the role that multiplies take programs by turns, and their loops, too; each has shared memory of its own for its results. Who does
// not run a program counts its steps, for positions go on behind them.

// CHECK-LABEL: tile.kernel @product
// CHECK: block.ring takers 1 :
// CHECK-NOT: block.alloc
// CHECK: %[[BATON:.*]] = block.baton
// CHECK: block.role @load
// CHECK: block.role @math warps 4 instances 2 {
// CHECK-NEXT: ^bb0(%[[WHO:.*]]: i32):
// CHECK: block.alloc
// CHECK: block.programs {{.*}} iter(%{{.*}}, %{{.*}} : i32, i32) {
// CHECK-NEXT: ^bb0(%{{.*}}: i32, %{{.*}}: i32, %{{.*}}: i32, %[[AT:.*]]: i32, %[[TURN:.*]]: i32):
// CHECK: %[[MINE:.*]] = arith.cmpi eq, %[[TURN]], %[[WHO]]
// CHECK: %[[END:.*]] = scf.if %[[MINE]] -> (i32) {
// CHECK: %[[RAN:.*]]:3 = block.turn %[[BATON]] {
// CHECK: scf.for
// CHECK: block.take
// CHECK: block.mma_start
// CHECK: block.yield
// CHECK: block.mma_wait %[[RAN]]#0
// CHECK: block.store_box
// CHECK: scf.yield %[[RAN]]#1
// CHECK: } else {
// CHECK-NOT: scf.for
// CHECK: %[[MOST:.*]] = arith.maxsi
// CHECK: %[[STEPS:.*]] = arith.subi %[[MOST]]
// CHECK: %[[ALL:.*]] = arith.muli %[[STEPS]]
// CHECK: %[[NEXT:.*]] = arith.addi %[[AT]], %[[ALL]]
// CHECK: scf.yield %[[NEXT]]
// CHECK: }
// CHECK: arith.select
// CHECK: block.yield %[[END]]

// ONE: block.role @math warps 4 {
// ONE-NOT: block.turn
tile.kernel @product(%a: !tile.ptr<f16> {tile.divisibility = 16 : i64}, %b: !tile.ptr<f16> {tile.divisibility = 16 : i64}, %c: !tile.ptr<f16> {tile.divisibility = 16 : i64}, %m: i64, %n: i64, %k: i64, %sa: i64 {tile.divisibility = 16 : i64}, %sb: i64 {tile.divisibility = 16 : i64}, %sc: i64 {tile.divisibility = 16 : i64}, %steps: i64) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c64 = arith.constant 64 : i64
  %c128 = arith.constant 128 : i64
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %x = tile.program_id 0
  %y = tile.program_id 1
  %xw = arith.extsi %x : i32 to i64
  %yw = arith.extsi %y : i32 to i64
  %row = arith.muli %yw, %c128 overflow<nsw> : i64
  %column = arith.muli %xw, %c128 overflow<nsw> : i64
  %aRow = arith.muli %row, %sa overflow<nsw> : i64
  %above = arith.subi %c0, %row overflow<nsw> : i64
  %below = arith.subi %m, %row overflow<nsw> : i64
  %left = arith.subi %c0, %column overflow<nsw> : i64
  %right = arith.subi %n, %column overflow<nsw> : i64
  %sum = tile.contract %steps, %zero {
  ^bb0(%i: i64):
    %at = arith.muli %i, %c64 overflow<nsw> : i64
    %before = arith.subi %c0, %at overflow<nsw> : i64
    %behind = arith.subi %k, %at overflow<nsw> : i64
    %pa = arith.addi %aRow, %at overflow<nsw> : i64
    %ap = tile.access %a, %pa steps(%sa, %c1) bounds [1, 1](%above, %below, %before, %behind) : <f16>, (i64, i64), (i64, i64, i64, i64) -> <128x64xf16>
    %ta = tile.load %ap : !tile.access<128x64xf16> -> tensor<128x64xf16>
    %bRow = arith.muli %at, %sb overflow<nsw> : i64
    %pb = arith.addi %bRow, %column overflow<nsw> : i64
    %bp = tile.access %b, %pb steps(%sb, %c1) bounds [1, 1](%before, %behind, %left, %right) : <f16>, (i64, i64), (i64, i64, i64, i64) -> <64x128xf16>
    %tb = tile.load %bp : !tile.access<64x128xf16> -> tensor<64x128xf16>
    tile.yield %ta, %tb : tensor<128x64xf16>, tensor<64x128xf16>
  } : tensor<128x128xf32>
  %narrow = arith.truncf %sum : tensor<128x128xf32> to tensor<128x128xf16>
  %cRow = arith.muli %row, %sc overflow<nsw> : i64
  %pc = arith.addi %cRow, %column overflow<nsw> : i64
  %cp = tile.access %c, %pc steps(%sc, %c1) bounds [1, 1](%above, %below, %left, %right) : <f16>, (i64, i64), (i64, i64, i64, i64) -> <128x128xf16>
  tile.store %cp, %narrow : !tile.access<128x128xf16>, tensor<128x128xf16>
  tile.return
}
