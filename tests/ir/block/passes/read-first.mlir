// RUN: tilery-opt %s -pass-pipeline='builtin.module(tile.kernel(choose-schedule,pipeline,canonicalize,cse))' | FileCheck %s
// RUN: tilery-opt %s --block-pipeline | FileCheck %s --check-prefix=LAID
// Bytes with B's rows in one piece: B^T, which the threads that multiply read from its slot and turn, times A^T. The registers are free when
// the product is over, and so is the slot.
// CHECK-LABEL: tile.kernel @f8
// CHECK: %[[RING:.*]] = block.ring takers 1 : <4, [128x256xf8E4M3FN, 128x128xf8E4M3FN]>
// CHECK: %[[R:.*]]:2 = scf.for {{.*}} iter_args(%[[SUM:.*]] = %{{.*}}, %[[AT:.*]] = %{{.*}})
// CHECK: %[[T:.*]] = block.take %[[RING]][%[[AT]]]
// CHECK: %[[W:.*]] = block.part %[[T]][0]
// CHECK: %[[WT:.*]] = block.transpose %[[W]] : <128x256xf8E4M3FN>
// CHECK: %[[A:.*]] = block.read %[[WT]] : <256x128xf8E4M3FN> -> tensor<256x128xf8E4M3FN>
// CHECK: %[[D:.*]] = block.mma_start %[[SUM]], %[[A]], %{{.*}} clear
// CHECK: block.mma_settle %[[D]]
// CHECK: block.release %[[T]]
// CHECK: scf.yield %[[D]], %{{.*}}
// CHECK: %[[SUMS:.*]] = block.mma_wait %[[R]]#0
// CHECK: tile.permute %[[SUMS]] [1, 0] : tensor<256x128xf32> -> tensor<128x256xf32>

// Rows of 16 in pairs in factor and sums; no access takes more passes than its bytes; results go out by columns, 64 a warpgroup.
// LAID-DAG: #[[SUM:.*]] = #block.layout<register: 2*(0,1) 2*(1,0) 16*(0,8) 2*(128,0); lane: 4*(0,2) 8*(2,0); warp: 8*(16,0) -> 256x128>
// LAID-DAG: #[[FACTOR:.*]] = #block.layout<register: 4*(0,1) 2*(1,0) 8*(0,16) 2*(128,0); lane: 4*(0,4) 8*(2,0); warp: 8*(16,0) -> 256x128>
// LAID: block.programs grouped
// LAID: block.read %{{.*}} : <256x128xf8E4M3FN, #{{.*}}> -> tensor<256x128xf8E4M3FN, #[[FACTOR]]>
// LAID: block.mma_start {{.*}} -> <tensor<256x128xf32, #[[SUM]]>>
// LAID: block.sync warps 4
// LAID: block.write %{{.*}}, %{{.*}} at [0, 0] : <64x128xf16, #{{.*}}>, tensor<128x256xf16
// LAID: block.sync warps 4
// LAID: block.store_box
tile.kernel @f8(%a: !tile.ptr<f8E4M3FN> {tile.divisibility = 16 : i64}, %b: !tile.ptr<f8E4M3FN> {tile.divisibility = 16 : i64},
                  %c: !tile.ptr<f16> {tile.divisibility = 16 : i64}, %M: i64 {tile.divisibility = 16 : i64}, %N: i64 {tile.divisibility = 16 : i64},
                  %K: i64 {tile.divisibility = 16 : i64}) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c128 = arith.constant 128 : i64
  %c256 = arith.constant 256 : i64
  %zero = arith.constant dense<0.0> : tensor<128x256xf32>
  %x32 = tile.program_id 0
  %x = arith.extsi %x32 : i32 to i64
  %y32 = tile.program_id 1
  %y = arith.extsi %y32 : i32 to i64
  %column = arith.muli %x, %c256 overflow<nsw> : i64
  %row = arith.muli %y, %c128 overflow<nsw> : i64
  %columns = arith.subi %N, %column overflow<nsw> : i64
  %rows = arith.subi %M, %row overflow<nsw> : i64
  %steps = tile.div trunc %K, %c128 : i64
  %sum = tile.contract %steps, %zero {
  ^bb0(%step: i64):
    %k = arith.muli %step, %c128 overflow<nsw> : i64
    %left = arith.subi %K, %k overflow<nsw> : i64
    %a_row = arith.muli %row, %K overflow<nsw> : i64
    %a_offset = arith.addi %a_row, %k overflow<nsw> : i64
    %a_place = tile.access %a, %a_offset steps(%K, %c1) bounds [1, 1](%c0, %rows, %c0, %left) : <f8E4M3FN>, (i64, i64), (i64, i64, i64, i64) -> <128x128xf8E4M3FN>
    %a_tile = tile.load %a_place : !tile.access<128x128xf8E4M3FN> -> tensor<128x128xf8E4M3FN>
    %b_row = arith.muli %k, %N overflow<nsw> : i64
    %b_offset = arith.addi %b_row, %column overflow<nsw> : i64
    %b_place = tile.access %b, %b_offset steps(%N, %c1) bounds [1, 1](%c0, %left, %c0, %columns) : <f8E4M3FN>, (i64, i64), (i64, i64, i64, i64) -> <128x256xf8E4M3FN>
    %b_tile = tile.load %b_place : !tile.access<128x256xf8E4M3FN> -> tensor<128x256xf8E4M3FN>
    tile.yield %a_tile, %b_tile : tensor<128x128xf8E4M3FN>, tensor<128x256xf8E4M3FN>
  } : tensor<128x256xf32>
  %c_row = arith.muli %row, %N overflow<nsw> : i64
  %c_offset = arith.addi %c_row, %column overflow<nsw> : i64
  %c_place = tile.access %c, %c_offset steps(%N, %c1) bounds [1, 1](%c0, %rows, %c0, %columns) : <f16>, (i64, i64), (i64, i64, i64, i64) -> <128x256xf16>
  %h = arith.truncf %sum : tensor<128x256xf32> to tensor<128x256xf16>
  tile.store %c_place, %h : !tile.access<128x256xf16>, tensor<128x256xf16>
  tile.return
}
