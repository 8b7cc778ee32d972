// RUN: tilery-opt %s -pass-pipeline='builtin.module(tile.kernel(choose-schedule))' | FileCheck %s
// RUN: env TILERY_SCHEDULE="stages=3 group=1" tilery-opt %s -pass-pipeline='builtin.module(tile.kernel(choose-schedule))' | FileCheck %s --check-prefix=ASKED
// RUN: env TILERY_SCHEDULE="consumers=3" not tilery-opt %s -pass-pipeline='builtin.module(tile.kernel(choose-schedule))' 2>&1 | FileCheck %s --check-prefix=WRONG
// RUN: env TILERY_SCHEDULE="consumers=0" not tilery-opt %s -pass-pipeline='builtin.module(tile.kernel(choose-schedule))' 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: env TILERY_SCHEDULE="stages=3x" not tilery-opt %s -pass-pipeline='builtin.module(tile.kernel(choose-schedule))' 2>&1 | FileCheck %s --check-prefix=NUMBER
// RUN: env TILERY_EXPLAIN=please not tilery-opt %s -pass-pipeline='builtin.module(tile.kernel(choose-schedule))' 2>&1 | FileCheck %s --check-prefix=SWITCH
// RUN: env TILERY_SCHEDULE="depth=3" not tilery-opt %s -pass-pipeline='builtin.module(tile.kernel(choose-schedule))' 2>&1 | FileCheck %s --check-prefix=FIELD
// RUN: env TILERY_EXPLAIN=1 tilery-opt %s -mlir-disable-threading -pass-pipeline='builtin.module(tile.kernel(choose-schedule))' -o /dev/null 2>&1 | FileCheck %s --check-prefix=WHY
// WHY: wide ({{.*}}choose-schedule.mlir:{{[0-9]+}}): consumers=2 k=64 stages=4 group=8 stage_output=2 early=64 load_registers=40 math_registers=232: {{[0-9]+}} cycles of 64 steps, bound by the tensor cores; next consumers=2 k=64 stages=3
// WHY: deep ({{.*}}bound by copies from L2
// WHY: exact ({{.*}}: no blocks, for f32 operands keep all their bits (precision ieee)
// WRONG: error: a tile of 128 rows cannot be shared by 3 consumers: each takes a multiple of 64 rows
// NONE: error: a tile of 128 rows cannot be shared by 0 consumers
// NUMBER: error: a schedule's field 'stages' is '3x', which is no number: TILERY_SCHEDULE takes stages=2, say
// SWITCH: error: the environment variable TILERY_EXPLAIN is 'please'; expected 1 (true, on, yes, y) or 0
// FIELD: error: a schedule has no field 'depth': fields: consumers, k, stages,

// Two warpgroups of 64 rows; the result goes out by halves of 128 bytes a row, so that four slots fit.
// CHECK-LABEL: tile.kernel @wide
// CHECK-SAME: block.schedule = {ahead = 0 : i64, boxed = 0 : i64, branch = 0 : i64, cluster = 0 : i64, computed_slots = 0 : i64, consumers = 2 : i64, delay = 0 : i64, early = 64 : i64, fetchers = 0 : i64, general = 0 : i64, group = 8 : i64, hold_operands = 0 : i64, instances = 0 : i64, joined = 0 : i64, k = 64 : i64, load_registers = 40 : i64, longest = 0 : i64, math_registers = 232 : i64, overlap = 0 : i64, partial = 0 : i64, partial_columns = 0 : i64, resident = 0 : i64, split_columns = 0 : i64, spread = 0 : i64, stage_output = 2 : i64, stages = 4 : i64}
// ASKED-LABEL: tile.kernel @wide
// ASKED-SAME: group = 1 : i64, hold_operands = 0 : i64, instances = 0 : i64, joined = 0 : i64, k = 64 : i64, load_registers = 40 : i64, longest = 0 : i64, math_registers = 232 : i64, overlap = 0 : i64, partial = 0 : i64, partial_columns = 0 : i64, resident = 0 : i64, split_columns = 0 : i64, spread = 0 : i64, stage_output = 2 : i64, stages = 3 : i64
tile.kernel @wide(%a: !tile.ptr<bf16> {tile.divisibility = 16 : i64}, %b: !tile.ptr<bf16> {tile.divisibility = 16 : i64},
                 %c: !tile.ptr<bf16> {tile.divisibility = 16 : i64}, %M: i64, %N: i64 {tile.divisibility = 16 : i64},
                 %K: i64 {tile.divisibility = 16 : i64},
                 %bias: !tile.ptr<f32>) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %ck = arith.constant 64 : i64
  %cm = arith.constant 128 : i64
  %cn = arith.constant 256 : i64
  %zero = arith.constant dense<0.0> : tensor<128x256xf32>
  %x32 = tile.program_id 0
  %y32 = tile.program_id 1
  %x = arith.extsi %x32 : i32 to i64
  %y = arith.extsi %y32 : i32 to i64
  %column = arith.muli %x, %cn overflow<nsw> : i64
  %row = arith.muli %y, %cm overflow<nsw> : i64
  %rows = arith.subi %M, %row overflow<nsw> : i64
  %columns = arith.subi %N, %column overflow<nsw> : i64
  %steps = tile.div trunc %K, %ck : i64
  %a_first = arith.muli %row, %K overflow<nsw> : i64
  %sum = tile.contract %steps, %zero {
  ^bb0(%step: i64):
    %k = arith.muli %step, %ck overflow<nsw> : i64
    %left = arith.subi %K, %k overflow<nsw> : i64
    %a_offset = arith.addi %a_first, %k overflow<nsw> : i64
    %a_place = tile.access %a, %a_offset steps(%K, %c1) bounds [1, 1](%c0, %rows, %c0, %left) : <bf16>, (i64, i64), (i64, i64, i64, i64) -> <128x64xbf16>
    %a_tile = tile.load %a_place : !tile.access<128x64xbf16> -> tensor<128x64xbf16>
    %b_first = arith.muli %k, %N overflow<nsw> : i64
    %b_offset = arith.addi %b_first, %column overflow<nsw> : i64
    %b_place = tile.access %b, %b_offset steps(%N, %c1) bounds [1, 1](%c0, %left, %c0, %columns) : <bf16>, (i64, i64), (i64, i64, i64, i64) -> <64x256xbf16>
    %b_tile = tile.load %b_place : !tile.access<64x256xbf16> -> tensor<64x256xbf16>
    tile.yield %a_tile, %b_tile : tensor<128x64xbf16>, tensor<64x256xbf16>
  } : tensor<128x256xf32>
  %bias_place = tile.access %bias, %column steps(%c1) bounds [1](%c0, %columns) : <f32>, (i64), (i64, i64) -> <256xf32>
  %bias_line = tile.load %bias_place : !tile.access<256xf32> -> tensor<256xf32>
  %bias_row = tile.expand_dims %bias_line axis 0 : tensor<256xf32> -> tensor<1x256xf32>
  %bias_tile = tile.broadcast %bias_row : tensor<1x256xf32> -> tensor<128x256xf32>
  %biased = arith.addf %sum, %bias_tile : tensor<128x256xf32>
  %more = arith.maximumf %biased, %zero : tensor<128x256xf32>
  %result = arith.truncf %more : tensor<128x256xf32> to tensor<128x256xbf16>
  %c_row = arith.muli %row, %N overflow<nsw> : i64
  %c_offset = arith.addi %c_row, %column overflow<nsw> : i64
  %c_place = tile.access %c, %c_offset steps(%N, %c1) bounds [1, 1](%c0, %rows, %c0, %columns) : <bf16>, (i64, i64), (i64, i64, i64, i64) -> <128x256xbf16>
  tile.store %c_place, %result : !tile.access<128x256xbf16>, tensor<128x256xbf16>
  tile.return
}

// A step of two slots, one warpgroup; all of the result fits.
// CHECK-LABEL: tile.kernel @deep
// CHECK-SAME: cluster = 0 : i64, computed_slots = 0 : i64, consumers = 1 : i64, delay = 0 : i64, early = 0 : i64, fetchers = 0 : i64, general = 0 : i64, group = 8 : i64, hold_operands = 0 : i64, instances = 0 : i64, joined = 0 : i64, k = 64 : i64, load_registers = 0 : i64, longest = 0 : i64, math_registers = 0 : i64, overlap = 0 : i64, partial = 0 : i64, partial_columns = 0 : i64, resident = 0 : i64, split_columns = 0 : i64, spread = 0 : i64, stage_output = 1 : i64, stages = 8 : i64
tile.kernel @deep(%a: !tile.ptr<bf16> {tile.divisibility = 16 : i64}, %b: !tile.ptr<bf16> {tile.divisibility = 16 : i64},
                 %c: !tile.ptr<bf16> {tile.divisibility = 16 : i64}, %M: i64, %N: i64 {tile.divisibility = 16 : i64},
                 %K: i64 {tile.divisibility = 16 : i64}) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %ck = arith.constant 128 : i64
  %cm = arith.constant 64 : i64
  %cn = arith.constant 64 : i64
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %x32 = tile.program_id 0
  %y32 = tile.program_id 1
  %x = arith.extsi %x32 : i32 to i64
  %y = arith.extsi %y32 : i32 to i64
  %column = arith.muli %x, %cn overflow<nsw> : i64
  %row = arith.muli %y, %cm overflow<nsw> : i64
  %rows = arith.subi %M, %row overflow<nsw> : i64
  %columns = arith.subi %N, %column overflow<nsw> : i64
  %steps = tile.div trunc %K, %ck : i64
  %a_first = arith.muli %row, %K overflow<nsw> : i64
  %sum = tile.contract %steps, %zero {
  ^bb0(%step: i64):
    %k = arith.muli %step, %ck overflow<nsw> : i64
    %left = arith.subi %K, %k overflow<nsw> : i64
    %a_offset = arith.addi %a_first, %k overflow<nsw> : i64
    %a_place = tile.access %a, %a_offset steps(%K, %c1) bounds [1, 1](%c0, %rows, %c0, %left) : <bf16>, (i64, i64), (i64, i64, i64, i64) -> <64x128xbf16>
    %a_tile = tile.load %a_place : !tile.access<64x128xbf16> -> tensor<64x128xbf16>
    %b_first = arith.muli %k, %N overflow<nsw> : i64
    %b_offset = arith.addi %b_first, %column overflow<nsw> : i64
    %b_place = tile.access %b, %b_offset steps(%N, %c1) bounds [1, 1](%c0, %left, %c0, %columns) : <bf16>, (i64, i64), (i64, i64, i64, i64) -> <128x64xbf16>
    %b_tile = tile.load %b_place : !tile.access<128x64xbf16> -> tensor<128x64xbf16>
    tile.yield %a_tile, %b_tile : tensor<64x128xbf16>, tensor<128x64xbf16>
  } : tensor<64x64xf32>
  %result = arith.truncf %sum : tensor<64x64xf32> to tensor<64x64xbf16>
  %c_row = arith.muli %row, %N overflow<nsw> : i64
  %c_offset = arith.addi %c_row, %column overflow<nsw> : i64
  %c_place = tile.access %c, %c_offset steps(%N, %c1) bounds [1, 1](%c0, %rows, %c0, %columns) : <bf16>, (i64, i64), (i64, i64, i64, i64) -> <64x64xbf16>
  tile.store %c_place, %result : !tile.access<64x64xbf16>, tensor<64x64xbf16>
  tile.return
}

// Left alone: f32 that keeps all its bits.
// CHECK-LABEL: tile.kernel @exact
// CHECK-NOT: block.schedule
tile.kernel @exact(%a: !tile.ptr<f32> {tile.divisibility = 16 : i64}, %b: !tile.ptr<f32> {tile.divisibility = 16 : i64},
                 %c: !tile.ptr<bf16> {tile.divisibility = 16 : i64}, %M: i64, %N: i64 {tile.divisibility = 16 : i64},
                 %K: i64 {tile.divisibility = 16 : i64}) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %ck = arith.constant 32 : i64
  %cm = arith.constant 64 : i64
  %cn = arith.constant 64 : i64
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %x32 = tile.program_id 0
  %y32 = tile.program_id 1
  %x = arith.extsi %x32 : i32 to i64
  %y = arith.extsi %y32 : i32 to i64
  %column = arith.muli %x, %cn overflow<nsw> : i64
  %row = arith.muli %y, %cm overflow<nsw> : i64
  %rows = arith.subi %M, %row overflow<nsw> : i64
  %columns = arith.subi %N, %column overflow<nsw> : i64
  %steps = tile.div trunc %K, %ck : i64
  %a_first = arith.muli %row, %K overflow<nsw> : i64
  %sum = tile.contract %steps, %zero {
  ^bb0(%step: i64):
    %k = arith.muli %step, %ck overflow<nsw> : i64
    %left = arith.subi %K, %k overflow<nsw> : i64
    %a_offset = arith.addi %a_first, %k overflow<nsw> : i64
    %a_place = tile.access %a, %a_offset steps(%K, %c1) bounds [1, 1](%c0, %rows, %c0, %left) : <f32>, (i64, i64), (i64, i64, i64, i64) -> <64x32xf32>
    %a_tile = tile.load %a_place : !tile.access<64x32xf32> -> tensor<64x32xf32>
    %b_first = arith.muli %k, %N overflow<nsw> : i64
    %b_offset = arith.addi %b_first, %column overflow<nsw> : i64
    %b_place = tile.access %b, %b_offset steps(%N, %c1) bounds [1, 1](%c0, %left, %c0, %columns) : <f32>, (i64, i64), (i64, i64, i64, i64) -> <32x64xf32>
    %b_tile = tile.load %b_place : !tile.access<32x64xf32> -> tensor<32x64xf32>
    tile.yield %a_tile, %b_tile : tensor<64x32xf32>, tensor<32x64xf32>
  } : tensor<64x64xf32>
  %result = arith.truncf %sum : tensor<64x64xf32> to tensor<64x64xbf16>
  %c_row = arith.muli %row, %N overflow<nsw> : i64
  %c_offset = arith.addi %c_row, %column overflow<nsw> : i64
  %c_place = tile.access %c, %c_offset steps(%N, %c1) bounds [1, 1](%c0, %rows, %c0, %columns) : <bf16>, (i64, i64), (i64, i64, i64, i64) -> <64x64xbf16>
  tile.store %c_place, %result : !tile.access<64x64xbf16>, tensor<64x64xbf16>
  tile.return
}
