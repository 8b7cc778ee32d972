// RUN: tilery-opt %s -pass-pipeline='builtin.module(tile.kernel(choose-schedule,pipeline,canonicalize,cse))' | FileCheck %s
// RUN: tilery-opt %s --block-pipeline | FileCheck %s --check-prefix=LAID
// Sixteen rows: the product is made the other way round, B^T (128 x k) times A^T (k x 16).
// CHECK-LABEL: tile.kernel @flat
// CHECK: block.map %arg1, [%arg4, %arg3], [%arg3] : <bf16> -> <64x64xbf16, 128>
// CHECK: block.map %arg0, [%{{.*}}, %arg4], [%arg4] : <bf16> -> <16x64xbf16, 128>
// CHECK: %[[RING:.*]] = block.ring takers 1 : <12, [64x128xbf16, 16x64xbf16]>
// CHECK: %[[T:.*]] = block.take %[[RING]]
// CHECK: %[[W:.*]] = block.part %[[T]][0]
// CHECK: %[[A:.*]] = block.transpose %[[W]] : <64x128xbf16>
// CHECK: %[[X:.*]] = block.part %[[T]][1]
// CHECK: %[[B:.*]] = block.transpose %[[X]] : <16x64xbf16>
// CHECK: block.mma_start %{{.*}}, %[[A]], %[[B]] clear %{{.*}} : {{.*}} -> <tensor<128x16xf32>>
// CHECK: %[[SUM:.*]] = block.mma_wait
// CHECK: %[[C:.*]] = tile.permute %[[SUM]] [1, 0] : tensor<128x16xf32> -> tensor<16x128xf32>
// CHECK: tile.store %{{.*}}, %[[C]]

// Registers as the sums lie, with columns for rows: nothing is moved.
// LAID: #[[T:.*]] = #block.layout<register: 2*(1,0) 2*(0,8) 2*(8,0); lane: 4*(2,0) 8*(0,1); warp: 8*(0,16) -> 16x128>
// LAID: tile.store %{{.*}} : !tile.access<16x128xf32>, tensor<16x128xf32, #[[T]]>
tile.kernel @flat(%a: !tile.ptr<bf16> {tile.divisibility = 16 : i64}, %b: !tile.ptr<bf16> {tile.divisibility = 16 : i64},
                  %c: !tile.ptr<f32> {tile.divisibility = 16 : i64}, %N: i64 {tile.divisibility = 16 : i64},
                  %K: i64 {tile.divisibility = 16 : i64}) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c16 = arith.constant 16 : i64
  %c64 = arith.constant 64 : i64
  %c128 = arith.constant 128 : i64
  %zero = arith.constant dense<0.0> : tensor<16x128xf32>
  %x32 = tile.program_id 0
  %x = arith.extsi %x32 : i32 to i64
  %column = arith.muli %x, %c128 overflow<nsw> : i64
  %columns = arith.subi %N, %column overflow<nsw> : i64
  %steps = tile.div trunc %K, %c64 : i64
  %sum = tile.contract %steps, %zero {
  ^bb0(%step: i64):
    %k = arith.muli %step, %c64 overflow<nsw> : i64
    %left = arith.subi %K, %k overflow<nsw> : i64
    %a_place = tile.access %a, %k steps(%K, %c1) bounds [1, 1](%c0, %c16, %c0, %left) : <bf16>, (i64, i64), (i64, i64, i64, i64) -> <16x64xbf16>
    %a_tile = tile.load %a_place : !tile.access<16x64xbf16> -> tensor<16x64xbf16>
    %b_row = arith.muli %k, %N overflow<nsw> : i64
    %b_offset = arith.addi %b_row, %column overflow<nsw> : i64
    %b_place = tile.access %b, %b_offset steps(%N, %c1) bounds [1, 1](%c0, %left, %c0, %columns) : <bf16>, (i64, i64), (i64, i64, i64, i64) -> <64x128xbf16>
    %b_tile = tile.load %b_place : !tile.access<64x128xbf16> -> tensor<64x128xbf16>
    tile.yield %a_tile, %b_tile : tensor<16x64xbf16>, tensor<64x128xbf16>
  } : tensor<16x128xf32>
  %c_place = tile.access %c, %column steps(%N, %c1) bounds [1, 1](%c0, %c16, %c0, %columns) : <f32>, (i64, i64), (i64, i64, i64, i64) -> <16x128xf32>
  tile.store %c_place, %sum : !tile.access<16x128xf32>, tensor<16x128xf32>
  tile.return
}
