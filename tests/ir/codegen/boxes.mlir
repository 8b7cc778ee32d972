// RUN: tilery-translate --disjoint --target=sm_90a --print=plan %s | FileCheck %s --check-prefix=PLAN
// RUN: tilery-translate --disjoint --target=sm_90a --print=asm %s | FileCheck %s --check-prefix=PTX
// What a batch in the offsets becomes: a third dimension of the tensors that the copy engine reads and writes.

// PLAN: batched: blocks consumers=1 {{.*}} instances=2
// PLAN-NEXT: one product (ProductKernel): a times b
// PLAN-NEXT: a: box of a, rank 3: [program 2, 128 * program 1, 0] of [.., M, K], strides [a_batch, K, 1]
// PLAN-NEXT: b: box of b, rank 3: [program 2, 0, 128 * program 0] of [.., K, N], strides [N * K, N, 1]
// PLAN-NEXT: c: box of c, rank 4: [(program 2 % heads), (program 2 / heads), 128 * program 1, 128 * program 0] of [.., .., M, N], strides [c_head, c_batch, N, 1]

// PTX-DAG: cp.async.bulk.tensor.3d.shared::cluster
// PTX-DAG: cp.async.bulk.tensor.4d.global.shared::cta
tile.kernel @batched(%a: !tile.ptr<f16> {tile.divisibility = 16 : i64, tile.name = "a"}, %b: !tile.ptr<f16> {tile.divisibility = 16 : i64, tile.name = "b"},
                     %c: !tile.ptr<f16> {tile.divisibility = 16 : i64, tile.name = "c"}, %M: i64 {tile.name = "M"},
                     %N: i64 {tile.divisibility = 16 : i64, tile.name = "N"}, %K: i64 {tile.divisibility = 16 : i64, tile.name = "K"},
                     %a_batch: i64 {tile.name = "a_batch"}, %c_batch: i64 {tile.name = "c_batch"}, %c_head: i64 {tile.name = "c_head"},
                     %heads: i32 {tile.name = "heads"}) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c64 = arith.constant 64 : i64
  %c128 = arith.constant 128 : i64
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %x32 = tile.program_id 0
  %y32 = tile.program_id 1
  %z32 = tile.program_id 2
  %x = arith.extsi %x32 : i32 to i64
  %y = arith.extsi %y32 : i32 to i64
  %z = arith.extsi %z32 : i32 to i64
  %column = arith.muli %x, %c128 overflow<nsw> : i64
  %row = arith.muli %y, %c128 overflow<nsw> : i64
  %rows = arith.subi %M, %row overflow<nsw> : i64
  %columns = arith.subi %N, %column overflow<nsw> : i64
  %steps = tile.div trunc %K, %c64 : i64
  %a_at = arith.muli %z, %a_batch overflow<nsw> : i64
  %a_row = arith.muli %row, %K overflow<nsw> : i64
  %a_first = arith.addi %a_at, %a_row overflow<nsw> : i64
  %area = arith.muli %N, %K overflow<nsw> : i64
  %b_at = arith.muli %z, %area overflow<nsw> : i64
  %b_first = arith.addi %b_at, %column overflow<nsw> : i64
  %sum = tile.contract %steps, %zero {
  ^bb0(%step: i64):
    %k = arith.muli %step, %c64 overflow<nsw> : i64
    %left = arith.subi %K, %k overflow<nsw> : i64
    %a_offset = arith.addi %a_first, %k overflow<nsw> : i64
    %a_place = tile.access %a, %a_offset steps(%K, %c1) bounds [1, 1](%c0, %rows, %c0, %left) : <f16>, (i64, i64), (i64, i64, i64, i64) -> <128x64xf16>
    %a_tile = tile.load %a_place : !tile.access<128x64xf16> -> tensor<128x64xf16>
    %b_row = arith.muli %k, %N overflow<nsw> : i64
    %b_offset = arith.addi %b_first, %b_row overflow<nsw> : i64
    %b_place = tile.access %b, %b_offset steps(%N, %c1) bounds [1, 1](%c0, %left, %c0, %columns) : <f16>, (i64, i64), (i64, i64, i64, i64) -> <64x128xf16>
    %b_tile = tile.load %b_place : !tile.access<64x128xf16> -> tensor<64x128xf16>
    tile.yield %a_tile, %b_tile : tensor<128x64xf16>, tensor<64x128xf16>
  } : tensor<128x128xf32>
  %result = arith.truncf %sum : tensor<128x128xf32> to tensor<128x128xf16>
  %batch32 = tile.div trunc %z32, %heads : i32
  %head32 = tile.rem trunc %z32, %heads : i32
  %batch = arith.extsi %batch32 : i32 to i64
  %head = arith.extsi %head32 : i32 to i64
  %c_at = arith.muli %batch, %c_batch overflow<nsw> : i64
  %c_in = arith.muli %head, %c_head overflow<nsw> : i64
  %c_row = arith.muli %row, %N overflow<nsw> : i64
  %c0_at = arith.addi %c_at, %c_in overflow<nsw> : i64
  %c1_at = arith.addi %c0_at, %c_row overflow<nsw> : i64
  %c_offset = arith.addi %c1_at, %column overflow<nsw> : i64
  %c_place = tile.access %c, %c_offset steps(%N, %c1) bounds [1, 1](%c0, %rows, %c0, %columns) : <f16>, (i64, i64), (i64, i64, i64, i64) -> <128x128xf16>
  tile.store %c_place, %result : !tile.access<128x128xf16>, tensor<128x128xf16>
  tile.return
}

// A coordinate that may be negative reads before the tensor, where the copy engine would read zeros.
// PLAN: backwards: blocks
// PLAN-NEXT: one product (ProductKernel)
// PLAN-NEXT: a: copied by threads, 16 bytes at a time along dimension 1, for a coordinate may be negative
// PLAN-NEXT: b: copied by threads, 16 bytes at a time along dimension 1, for a coordinate may be negative
tile.kernel @backwards(%a: !tile.ptr<f16> {tile.divisibility = 16 : i64}, %c: !tile.ptr<f16> {tile.divisibility = 16 : i64}, %K: i64 {tile.divisibility = 16 : i64}) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c3 = arith.constant 3 : i64
  %c64 = arith.constant 64 : i64
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %z32 = tile.program_id 0
  %z = arith.extsi %z32 : i32 to i64
  %back = arith.subi %c3, %z overflow<nsw> : i64
  %area = arith.muli %K, %c64 overflow<nsw> : i64
  %at = arith.muli %back, %area overflow<nsw> : i64
  %place = tile.access %a, %at steps(%K, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
  %tile = tile.load %place : !tile.access<64x64xf16> -> tensor<64x64xf16>
  %sum = tile.dot %tile, %tile, %zero : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  %result = arith.truncf %sum : tensor<64x64xf32> to tensor<64x64xf16>
  %c_place = tile.access %c, %c0 steps(%c64, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
  tile.store %c_place, %result : !tile.access<64x64xf16>, tensor<64x64xf16>
  tile.return
}
