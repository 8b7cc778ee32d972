// RUN: tilery-opt %s -pass-pipeline='builtin.module(tile.kernel(unwrap-rows,canonicalize,cse))' | FileCheck %s
// Columns that begin again behind the last, of which no store takes what comes then, end there, where threads fetch them (both factors are
// bytes that lie across k).

// CHECK-LABEL: tile.kernel @columns
// CHECK: %[[LEFT:.*]] = arith.addi %arg3,
// CHECK: tile.access %arg1, %{{.*}} steps(%{{.*}}, %c1_i64) bounds [0, 1](%c0_i64, %[[LEFT]]) : <i8>, (i64, i64), (i64, i64) -> <64x64xi8>
tile.kernel @columns(%a: !tile.ptr<i8> {tile.divisibility = 16 : i64}, %b: !tile.ptr<i8> {tile.divisibility = 16 : i64},
                     %c: !tile.ptr<i32> {tile.divisibility = 16 : i64}, %N: i64 {tile.divisibility = 16 : i64}, %steps: i64) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c64 = arith.constant 64 : i64
  %zeros = arith.constant dense<0> : tensor<64x64xi32>
  %program = tile.program_id 0
  %wide = arith.extsi %program : i32 to i64
  %first = arith.muli %wide, %c64 overflow<nsw> : i64
  %left = arith.subi %N, %first overflow<nsw> : i64
  %range = tile.range 0 to 64 : tensor<64xi32>
  %lanes = arith.extsi %range : tensor<64xi32> to tensor<64xi64>
  %start = tile.splat %first : i64 -> tensor<64xi64>
  %numbers = arith.addi %start, %lanes overflow<nsw> : tensor<64xi64>
  %end = tile.splat %N : i64 -> tensor<64xi64>
  %columns = tile.rem trunc %numbers, %end : tensor<64xi64>
  %sum = tile.contract %steps, %zeros live[%c64, %left] {
  ^bb0(%step: i64):
    %deep = arith.muli %step, %c64 overflow<nsw> : i64
    %xa = tile.access %a, %deep steps(%c1, %c64) bounds [0, 0]() : <i8>, (i64, i64), () -> <64x64xi8>
    %fa = tile.load %xa : !tile.access<64x64xi8> -> tensor<64x64xi8>
    %at = arith.muli %deep, %N overflow<nsw> : i64
    %xb = tile.access %b, %at steps(%N, %columns) bounds [0, 0]() : <i8>, (i64, tensor<64xi64>), () -> <64x64xi8>
    %fb = tile.load %xb : !tile.access<64x64xi8> -> tensor<64x64xi8>
    tile.yield %fa, %fb : tensor<64x64xi8>, tensor<64x64xi8>
  } : tensor<64x64xi32>
  %xc = tile.access %c, %first steps(%N, %c1) bounds [0, 1](%c0, %left) : <i32>, (i64, i64), (i64, i64) -> <64x64xi32>
  tile.store %xc, %sum : !tile.access<64x64xi32>, tensor<64x64xi32>
  tile.return
}

// Of these all are taken.
// CHECK-LABEL: tile.kernel @taken
// CHECK: tile.access %arg1, %{{.*}} steps(%{{.*}}, %{{.*}}) bounds [0, 0]() : <i8>, (i64, tensor<64xi64>), () -> <64x64xi8>
tile.kernel @taken(%a: !tile.ptr<i8> {tile.divisibility = 16 : i64}, %b: !tile.ptr<i8> {tile.divisibility = 16 : i64},
                   %c: !tile.ptr<i32> {tile.divisibility = 16 : i64}, %N: i64 {tile.divisibility = 16 : i64}, %steps: i64) {
  %c1 = arith.constant 1 : i64
  %c64 = arith.constant 64 : i64
  %zeros = arith.constant dense<0> : tensor<64x64xi32>
  %range = tile.range 0 to 64 : tensor<64xi32>
  %lanes = arith.extsi %range : tensor<64xi32> to tensor<64xi64>
  %end = tile.splat %N : i64 -> tensor<64xi64>
  %columns = tile.rem trunc %lanes, %end : tensor<64xi64>
  %sum = tile.contract %steps, %zeros live[%c64, %c64] {
  ^bb0(%step: i64):
    %deep = arith.muli %step, %c64 overflow<nsw> : i64
    %xa = tile.access %a, %deep steps(%c1, %c64) bounds [0, 0]() : <i8>, (i64, i64), () -> <64x64xi8>
    %fa = tile.load %xa : !tile.access<64x64xi8> -> tensor<64x64xi8>
    %at = arith.muli %deep, %N overflow<nsw> : i64
    %xb = tile.access %b, %at steps(%N, %columns) bounds [0, 0]() : <i8>, (i64, tensor<64xi64>), () -> <64x64xi8>
    %fb = tile.load %xb : !tile.access<64x64xi8> -> tensor<64x64xi8>
    tile.yield %fa, %fb : tensor<64x64xi8>, tensor<64x64xi8>
  } : tensor<64x64xi32>
  %xc = tile.access %c, %c64 steps(%c64, %c1) bounds [0, 0]() : <i32>, (i64, i64), () -> <64x64xi32>
  tile.store %xc, %sum : !tile.access<64x64xi32>, tensor<64x64xi32>
  tile.return
}

// Columns behind the last that lead to the first one, or to the last, end there, too.
// CHECK-LABEL: tile.kernel @clamped
// CHECK: tile.access %arg1, %{{.*}} steps(%{{.*}}, %c1_i64) bounds [0, 1](%c0_i64, %{{.*}}) : <i8>, (i64, i64), (i64, i64) -> <64x64xi8>
tile.kernel @clamped(%a: !tile.ptr<i8> {tile.divisibility = 16 : i64}, %b: !tile.ptr<i8> {tile.divisibility = 16 : i64},
                     %c: !tile.ptr<i32> {tile.divisibility = 16 : i64}, %N: i64 {tile.divisibility = 16 : i64}, %steps: i64) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c64 = arith.constant 64 : i64
  %zeros = arith.constant dense<0> : tensor<64x64xi32>
  %program = tile.program_id 0
  %wide = arith.extsi %program : i32 to i64
  %first = arith.muli %wide, %c64 overflow<nsw> : i64
  %left = arith.subi %N, %first overflow<nsw> : i64
  %range = tile.range 0 to 64 : tensor<64xi32>
  %lanes = arith.extsi %range : tensor<64xi32> to tensor<64xi64>
  %start = tile.splat %first : i64 -> tensor<64xi64>
  %numbers = arith.addi %start, %lanes overflow<nsw> : tensor<64xi64>
  %end = tile.splat %N : i64 -> tensor<64xi64>
  %none = arith.constant dense<0> : tensor<64xi64>
  %inside = arith.cmpi slt, %numbers, %end : tensor<64xi64>
  %columns = arith.select %inside, %numbers, %none : tensor<64xi1>, tensor<64xi64>
  %sum = tile.contract %steps, %zeros live[%c64, %left] {
  ^bb0(%step: i64):
    %deep = arith.muli %step, %c64 overflow<nsw> : i64
    %xa = tile.access %a, %deep steps(%c1, %c64) bounds [0, 0]() : <i8>, (i64, i64), () -> <64x64xi8>
    %fa = tile.load %xa : !tile.access<64x64xi8> -> tensor<64x64xi8>
    %at = arith.muli %deep, %N overflow<nsw> : i64
    %xb = tile.access %b, %at steps(%N, %columns) bounds [0, 0]() : <i8>, (i64, tensor<64xi64>), () -> <64x64xi8>
    %fb = tile.load %xb : !tile.access<64x64xi8> -> tensor<64x64xi8>
    tile.yield %fa, %fb : tensor<64x64xi8>, tensor<64x64xi8>
  } : tensor<64x64xi32>
  %xc = tile.access %c, %first steps(%N, %c1) bounds [0, 1](%c0, %left) : <i32>, (i64, i64), (i64, i64) -> <64x64xi32>
  tile.store %xc, %sum : !tile.access<64x64xi32>, tensor<64x64xi32>
  tile.return
}

// CHECK-LABEL: tile.kernel @least
// CHECK: tile.access %arg1, %{{.*}} steps(%{{.*}}, %c1_i64) bounds [0, 1](%c0_i64, %{{.*}}) : <i8>, (i64, i64), (i64, i64) -> <64x64xi8>
tile.kernel @least(%a: !tile.ptr<i8> {tile.divisibility = 16 : i64}, %b: !tile.ptr<i8> {tile.divisibility = 16 : i64},
                   %c: !tile.ptr<i32> {tile.divisibility = 16 : i64}, %N: i64 {tile.divisibility = 16 : i64}, %steps: i64) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c64 = arith.constant 64 : i64
  %zeros = arith.constant dense<0> : tensor<64x64xi32>
  %program = tile.program_id 0
  %wide = arith.extsi %program : i32 to i64
  %first = arith.muli %wide, %c64 overflow<nsw> : i64
  %left = arith.subi %N, %first overflow<nsw> : i64
  %range = tile.range 0 to 64 : tensor<64xi32>
  %lanes = arith.extsi %range : tensor<64xi32> to tensor<64xi64>
  %start = tile.splat %first : i64 -> tensor<64xi64>
  %numbers = arith.addi %start, %lanes overflow<nsw> : tensor<64xi64>
  %end = tile.splat %N : i64 -> tensor<64xi64>
  %one = arith.constant 1 : i64
  %last = arith.subi %N, %one overflow<nsw> : i64
  %most = tile.splat %last : i64 -> tensor<64xi64>
  %columns = arith.minsi %numbers, %most : tensor<64xi64>
  %sum = tile.contract %steps, %zeros live[%c64, %left] {
  ^bb0(%step: i64):
    %deep = arith.muli %step, %c64 overflow<nsw> : i64
    %xa = tile.access %a, %deep steps(%c1, %c64) bounds [0, 0]() : <i8>, (i64, i64), () -> <64x64xi8>
    %fa = tile.load %xa : !tile.access<64x64xi8> -> tensor<64x64xi8>
    %at = arith.muli %deep, %N overflow<nsw> : i64
    %xb = tile.access %b, %at steps(%N, %columns) bounds [0, 0]() : <i8>, (i64, tensor<64xi64>), () -> <64x64xi8>
    %fb = tile.load %xb : !tile.access<64x64xi8> -> tensor<64x64xi8>
    tile.yield %fa, %fb : tensor<64x64xi8>, tensor<64x64xi8>
  } : tensor<64x64xi32>
  %xc = tile.access %c, %first steps(%N, %c1) bounds [0, 1](%c0, %left) : <i32>, (i64, i64), (i64, i64) -> <64x64xi32>
  tile.store %xc, %sum : !tile.access<64x64xi32>, tensor<64x64xi32>
  tile.return
}

// What is compared with another number than there are columns stays.
// CHECK-LABEL: tile.kernel @elsewhere
// CHECK: tile.access %arg1, %{{.*}} steps(%{{.*}}, %{{.*}}) bounds [0, 0]() : <i8>, (i64, tensor<64xi64>), () -> <64x64xi8>
tile.kernel @elsewhere(%a: !tile.ptr<i8> {tile.divisibility = 16 : i64}, %b: !tile.ptr<i8> {tile.divisibility = 16 : i64},
                       %c: !tile.ptr<i32> {tile.divisibility = 16 : i64}, %N: i64 {tile.divisibility = 16 : i64}, %steps: i64) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c64 = arith.constant 64 : i64
  %zeros = arith.constant dense<0> : tensor<64x64xi32>
  %program = tile.program_id 0
  %wide = arith.extsi %program : i32 to i64
  %first = arith.muli %wide, %c64 overflow<nsw> : i64
  %left = arith.subi %N, %first overflow<nsw> : i64
  %range = tile.range 0 to 64 : tensor<64xi32>
  %lanes = arith.extsi %range : tensor<64xi32> to tensor<64xi64>
  %start = tile.splat %first : i64 -> tensor<64xi64>
  %numbers = arith.addi %start, %lanes overflow<nsw> : tensor<64xi64>
  %end = tile.splat %N : i64 -> tensor<64xi64>
  %none = arith.constant dense<0> : tensor<64xi64>
  %other = tile.splat %steps : i64 -> tensor<64xi64>
  %inside = arith.cmpi slt, %numbers, %other : tensor<64xi64>
  %columns = arith.select %inside, %numbers, %none : tensor<64xi1>, tensor<64xi64>
  %sum = tile.contract %steps, %zeros live[%c64, %left] {
  ^bb0(%step: i64):
    %deep = arith.muli %step, %c64 overflow<nsw> : i64
    %xa = tile.access %a, %deep steps(%c1, %c64) bounds [0, 0]() : <i8>, (i64, i64), () -> <64x64xi8>
    %fa = tile.load %xa : !tile.access<64x64xi8> -> tensor<64x64xi8>
    %at = arith.muli %deep, %N overflow<nsw> : i64
    %xb = tile.access %b, %at steps(%N, %columns) bounds [0, 0]() : <i8>, (i64, tensor<64xi64>), () -> <64x64xi8>
    %fb = tile.load %xb : !tile.access<64x64xi8> -> tensor<64x64xi8>
    tile.yield %fa, %fb : tensor<64x64xi8>, tensor<64x64xi8>
  } : tensor<64x64xi32>
  %xc = tile.access %c, %first steps(%N, %c1) bounds [0, 1](%c0, %left) : <i32>, (i64, i64), (i64, i64) -> <64x64xi32>
  tile.store %xc, %sum : !tile.access<64x64xi32>, tensor<64x64xi32>
  tile.return
}
