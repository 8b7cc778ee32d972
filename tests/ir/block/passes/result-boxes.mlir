// RUN: tilery-opt %s -pass-pipeline='builtin.module(tile.kernel(choose-schedule,pipeline,early-loads,canonicalize,cse))' | FileCheck %s
// RUN: env TILERY_SCHEDULE="boxed=0" tilery-opt %s -pass-pipeline='builtin.module(tile.kernel(choose-schedule,pipeline,early-loads,canonicalize,cse))' | FileCheck %s --check-prefix=NONE
// RUN: env TILERY_SCHEDULE="stages=2" tilery-opt %s -pass-pipeline='builtin.module(tile.kernel(choose-schedule,pipeline,early-loads,canonicalize,cse))' | FileCheck %s --check-prefix=NONE
// RUN: tilery-opt %s --block-pipeline | FileCheck %s --check-prefix=ROLES
// A tile that work on the result loads, and that is a box, comes through the ring: behind the last step, in the memory of factors.

// 128 x 256 of f16 are 64 KB, a slot has 48: two pieces of 128 columns, for which three slots at least are needed.
// CHECK-LABEL: tile.kernel @brought
// CHECK-SAME: boxed = 1
// CHECK: block.ring takers 1 instead 2 : <4, [128x64xf16, 64x256xf16, 128x128xf16]>
// CHECK: %[[R:.*]]:3 = scf.for
// CHECK: }
// CHECK: %[[A:.*]] = block.acquire %{{.*}}[%[[R]]#1]
// CHECK-NEXT: %[[TO:.*]] = block.part %[[A]][2]
// CHECK-NEXT: block.copy %[[MAP:.*]][%[[ROW:.*]], %c0_i32] -> %[[TO]]
// CHECK-NEXT: block.publish %[[A]]
// CHECK: block.acquire
// CHECK: block.copy %[[MAP]][%[[ROW]], %c128_i32]
// CHECK: block.take %{{.*}}[%[[R]]#1]
// CHECK: %[[X:.*]] = block.read {{.*}} -> tensor<128x128xf16>
// CHECK-NEXT: block.release
// CHECK: %[[Y:.*]] = block.read
// CHECK-NEXT: block.release
// CHECK-NEXT: %[[LEFT:.*]] = block.join %[[X]], %[[Y]] : tensor<128x128xf16>, tensor<128x128xf16> -> tensor<128x256xf16>
// CHECK-NEXT: block.mma_wait %[[R]]#0
// CHECK: arith.extf %[[LEFT]]
// CHECK-NOT: tile.load

// NONE-LABEL: tile.kernel @brought
// NONE-NOT: instead
// NONE: tile.load {{.*}} {block.boxed, block.early}
// NONE-NEXT: block.mma_wait

// Its rows may be no multiples of 16 bytes apart: that would be one more condition on launches.
// CHECK-LABEL: tile.kernel @other_rows
// CHECK-SAME: boxed = 0
// CHECK-NOT: instead
// CHECK: tile.load {{.*}} {block.early}

// Slots are now read by each warp.
// ROLES-LABEL: tile.kernel @brought
// ROLES: block.ring takers 8 instead 2
// ROLES: block.role @load
// ROLES: block.copy {{.*}} <128x64xf16, 128>, <128x128xf16
// ROLES-NOT: block.read
// ROLES: block.role @math
// ROLES-NOT: block.copy
// ROLES: block.join
tile.kernel @brought(%a: !tile.ptr<f16> {tile.divisibility = 16 : i64}, %b: !tile.ptr<f16> {tile.divisibility = 16 : i64},
                    %c: !tile.ptr<f16> {tile.divisibility = 16 : i64}, %left: !tile.ptr<f16> {tile.divisibility = 16 : i64}, %pitch: i64 {tile.divisibility = 16 : i64},
                    %N: i64 {tile.divisibility = 16 : i64},
                    %K: i64 {tile.divisibility = 16 : i64}) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c64 = arith.constant 64 : i64
  %c128 = arith.constant 128 : i64
  %zero = arith.constant dense<0.0> : tensor<128x256xf32>
  %x32 = tile.program_id 0
  %x = arith.extsi %x32 : i32 to i64
  %row = arith.muli %x, %c128 overflow<nsw> : i64
  %first = arith.muli %row, %K overflow<nsw> : i64
  %steps = tile.div trunc %K, %c64 : i64
  %sum = tile.contract %steps, %zero {
  ^bb0(%step: i64):
    %k = arith.muli %step, %c64 overflow<nsw> : i64
    %a_offset = arith.addi %first, %k overflow<nsw> : i64
    %a_place = tile.access %a, %a_offset steps(%K, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <128x64xf16>
    %a_tile = tile.load %a_place : !tile.access<128x64xf16> -> tensor<128x64xf16>
    %b_offset = arith.muli %k, %N overflow<nsw> : i64
    %b_place = tile.access %b, %b_offset steps(%N, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x256xf16>
    %b_tile = tile.load %b_place : !tile.access<64x256xf16> -> tensor<64x256xf16>
    tile.yield %a_tile, %b_tile : tensor<128x64xf16>, tensor<64x256xf16>
  } : tensor<128x256xf32>
  %start = arith.muli %row, %N overflow<nsw> : i64
  %left_place = tile.access %left, %start steps(%N, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <128x256xf16>
  %residual = tile.load %left_place : !tile.access<128x256xf16> -> tensor<128x256xf16>
  %more = arith.extf %residual : tensor<128x256xf16> to tensor<128x256xf32>
  %total = arith.addf %sum, %more : tensor<128x256xf32>
  %half = arith.truncf %total : tensor<128x256xf32> to tensor<128x256xf16>
  %c_place = tile.access %c, %start steps(%N, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <128x256xf16>
  tile.store %c_place, %half : !tile.access<128x256xf16>, tensor<128x256xf16>
  tile.return
}
tile.kernel @other_rows(%a: !tile.ptr<f16> {tile.divisibility = 16 : i64}, %b: !tile.ptr<f16> {tile.divisibility = 16 : i64},
                    %c: !tile.ptr<f16> {tile.divisibility = 16 : i64}, %left: !tile.ptr<f16> {tile.divisibility = 16 : i64}, %pitch: i64 {tile.divisibility = 16 : i64},
                    %N: i64 {tile.divisibility = 16 : i64},
                    %K: i64 {tile.divisibility = 16 : i64}) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c64 = arith.constant 64 : i64
  %c128 = arith.constant 128 : i64
  %zero = arith.constant dense<0.0> : tensor<128x256xf32>
  %x32 = tile.program_id 0
  %x = arith.extsi %x32 : i32 to i64
  %row = arith.muli %x, %c128 overflow<nsw> : i64
  %first = arith.muli %row, %K overflow<nsw> : i64
  %steps = tile.div trunc %K, %c64 : i64
  %sum = tile.contract %steps, %zero {
  ^bb0(%step: i64):
    %k = arith.muli %step, %c64 overflow<nsw> : i64
    %a_offset = arith.addi %first, %k overflow<nsw> : i64
    %a_place = tile.access %a, %a_offset steps(%K, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <128x64xf16>
    %a_tile = tile.load %a_place : !tile.access<128x64xf16> -> tensor<128x64xf16>
    %b_offset = arith.muli %k, %N overflow<nsw> : i64
    %b_place = tile.access %b, %b_offset steps(%N, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x256xf16>
    %b_tile = tile.load %b_place : !tile.access<64x256xf16> -> tensor<64x256xf16>
    tile.yield %a_tile, %b_tile : tensor<128x64xf16>, tensor<64x256xf16>
  } : tensor<128x256xf32>
  %start = arith.muli %row, %N overflow<nsw> : i64
  %left_place = tile.access %left, %start steps(%pitch, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <128x256xf16>
  %residual = tile.load %left_place : !tile.access<128x256xf16> -> tensor<128x256xf16>
  %more = arith.extf %residual : tensor<128x256xf16> to tensor<128x256xf32>
  %total = arith.addf %sum, %more : tensor<128x256xf32>
  %half = arith.truncf %total : tensor<128x256xf32> to tensor<128x256xf16>
  %c_place = tile.access %c, %start steps(%N, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <128x256xf16>
  tile.store %c_place, %half : !tile.access<128x256xf16>, tensor<128x256xf16>
  tile.return
}
