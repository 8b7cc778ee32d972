// RUN: tilery-opt %s -pass-pipeline='builtin.module(tile.kernel(choose-schedule,pipeline,canonicalize,cse))' | FileCheck %s

// A batch in the offsets, B transposed in memory: maps of rank 3, one slot of both operands a step.
// CHECK-LABEL: tile.kernel @batched
// CHECK-DAG: %[[MA:.*]] = block.map %arg0, [%{{.*}}, %arg3, %arg5], [%{{.*}}, %arg5] : <f16> -> <1x128x64xf16, 128>
// CHECK-DAG: %[[MB:.*]] = block.map %arg1, [%arg4, %arg5], [%arg5] : <f16> -> <64x64xf16, 128>
// CHECK: %[[RING:.*]] = block.ring takers 1 : <8, [128x64xf16, 64x64xf16]>
// CHECK: %[[R:.*]]:3 = scf.for %[[I:.*]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%[[SUM:.*]] = %{{.*}}, %[[AT:.*]] = %{{.*}}, %[[BEFORE:.*]] = %{{.*}})
// CHECK: %[[S:.*]] = block.acquire %[[RING]][%[[AT]]]
// CHECK: block.copy %[[MA]][%{{.*}}, %{{.*}}, %{{.*}}] -> %{{.*}} : <1x128x64xf16, 128>, <128x64xf16>
// CHECK: block.copy %[[MB]][%{{.*}}, %{{.*}}] -> %{{.*}} : <64x64xf16, 128>, <64x64xf16>
// CHECK: block.publish %[[S]]
// CHECK: %[[T:.*]] = block.take %[[RING]][%[[AT]]]
// CHECK: %[[B:.*]] = block.transpose
// CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[I]]
// CHECK: %[[D:.*]] = block.mma_start %[[SUM]], %{{.*}}, %[[B]] clear %[[FIRST]]
// CHECK: block.mma_settle %[[SUM]]
// CHECK: block.release %[[BEFORE]]
// CHECK: %[[NEXT:.*]] = arith.addi %[[AT]]
// CHECK: scf.yield %[[D]], %[[NEXT]], %[[T]]
// CHECK: %[[X:.*]] = block.mma_wait %[[R]]#0
// CHECK: block.release %[[R]]#2
// CHECK: arith.truncf %[[X]]
tile.kernel @batched(%a: !tile.ptr<f16> {tile.divisibility = 16 : i64}, %b: !tile.ptr<f16> {tile.divisibility = 16 : i64},
                     %c: !tile.ptr<f16> {tile.divisibility = 16 : i64}, %M: i64, %N: i64 {tile.divisibility = 16 : i64},
                     %K: i64 {tile.divisibility = 16 : i64}, %a_batch: i64 {tile.divisibility = 16 : i64}) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c64 = arith.constant 64 : i64
  %c128 = arith.constant 128 : i64
  %zero = arith.constant dense<0.0> : tensor<128x64xf32>
  %x32 = tile.program_id 0
  %y32 = tile.program_id 1
  %z32 = tile.program_id 2
  %x = arith.extsi %x32 : i32 to i64
  %y = arith.extsi %y32 : i32 to i64
  %z = arith.extsi %z32 : i32 to i64
  %column = arith.muli %x, %c64 overflow<nsw> : i64
  %row = arith.muli %y, %c128 overflow<nsw> : i64
  %rows = arith.subi %M, %row overflow<nsw> : i64
  %columns = arith.subi %N, %column overflow<nsw> : i64
  %c63 = arith.constant 63 : i64
  %k63 = arith.addi %K, %c63 overflow<nsw> : i64
  %steps = tile.div trunc %k63, %c64 : i64
  %a_at = arith.muli %z, %a_batch overflow<nsw> : i64
  %a_row = arith.muli %row, %K overflow<nsw> : i64
  %a_first = arith.addi %a_at, %a_row overflow<nsw> : i64
  %b_first = arith.muli %column, %K overflow<nsw> : i64
  %sum = tile.contract %steps, %zero {
  ^bb0(%step: i64):
    %k = arith.muli %step, %c64 overflow<nsw> : i64
    %left = arith.subi %K, %k overflow<nsw> : i64
    %a_offset = arith.addi %a_first, %k overflow<nsw> : i64
    %a_place = tile.access %a, %a_offset steps(%K, %c1) bounds [1, 1](%c0, %rows, %c0, %left) : <f16>, (i64, i64), (i64, i64, i64, i64) -> <128x64xf16>
    %a_tile = tile.load %a_place : !tile.access<128x64xf16> -> tensor<128x64xf16>
    %b_offset = arith.addi %b_first, %k overflow<nsw> : i64
    %b_place = tile.access %b, %b_offset steps(%c1, %K) bounds [1, 1](%c0, %left, %c0, %columns) : <f16>, (i64, i64), (i64, i64, i64, i64) -> <64x64xf16>
    %b_tile = tile.load %b_place : !tile.access<64x64xf16> -> tensor<64x64xf16>
    tile.yield %a_tile, %b_tile : tensor<128x64xf16>, tensor<64x64xf16>
  } : tensor<128x64xf32>
  %result = arith.truncf %sum : tensor<128x64xf32> to tensor<128x64xf16>
  %c_batch = arith.muli %M, %N overflow<nsw> : i64
  %c_at = arith.muli %z, %c_batch overflow<nsw> : i64
  %c_row = arith.muli %row, %N overflow<nsw> : i64
  %c1_at = arith.addi %c_at, %c_row overflow<nsw> : i64
  %c_offset = arith.addi %c1_at, %column overflow<nsw> : i64
  %c_place = tile.access %c, %c_offset steps(%N, %c1) bounds [1, 1](%c0, %rows, %c0, %columns) : <f16>, (i64, i64), (i64, i64, i64, i64) -> <128x64xf16>
  tile.store %c_place, %result : !tile.access<128x64xf16>, tensor<128x64xf16>
  tile.return
}

// Left alone: a sum that does not start from zero, an operand that is no box (its pointer is not known to be aligned), 32 rows.
// CHECK-LABEL: tile.kernel @left
// CHECK-NOT: block.
// CHECK: tile.return
tile.kernel @left(%a: !tile.ptr<f16> {tile.divisibility = 16 : i64}, %b: !tile.ptr<f16>, %o: !tile.ptr<f32>, %L: i64 {tile.divisibility = 16 : i64}, %x: f32) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c64 = arith.constant 64 : i64
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %some = tile.splat %x : f32 -> tensor<64x64xf32>
  %few = arith.constant dense<0.0> : tensor<32x64xf32>
  %0 = tile.contract %c1, %zero {
  ^bb0(%step: i64):
    %place = tile.access %b, %c0 steps(%L, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
    %tile = tile.load %place : !tile.access<64x64xf16> -> tensor<64x64xf16>
    tile.yield %tile, %tile : tensor<64x64xf16>, tensor<64x64xf16>
  } : tensor<64x64xf32>
  %1 = tile.contract %c1, %some {
  ^bb0(%step: i64):
    %place = tile.access %a, %c0 steps(%L, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
    %tile = tile.load %place : !tile.access<64x64xf16> -> tensor<64x64xf16>
    tile.yield %tile, %tile : tensor<64x64xf16>, tensor<64x64xf16>
  } : tensor<64x64xf32>
  %2 = tile.contract %c1, %few {
  ^bb0(%step: i64):
    %place = tile.access %a, %c0 steps(%L, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <32x64xf16>
    %tile = tile.load %place : !tile.access<32x64xf16> -> tensor<32x64xf16>
    %place2 = tile.access %a, %c0 steps(%L, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
    %tile2 = tile.load %place2 : !tile.access<64x64xf16> -> tensor<64x64xf16>
    tile.yield %tile, %tile2 : tensor<32x64xf16>, tensor<64x64xf16>
  } : tensor<32x64xf32>
  %sum = arith.addf %0, %1 : tensor<64x64xf32>
  %out = tile.access %o, %c0 steps(%c64, %c1) bounds [0, 0]() : <f32>, (i64, i64), () -> <64x64xf32>
  tile.store %out, %sum : !tile.access<64x64xf32>, tensor<64x64xf32>
  %out2 = tile.access %o, %c64 steps(%c64, %c1) bounds [0, 0]() : <f32>, (i64, i64), () -> <32x64xf32>
  tile.store %out2, %2 : !tile.access<32x64xf32>, tensor<32x64xf32>
  tile.return
}
