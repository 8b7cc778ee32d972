// RUN: tilery-opt %s -pass-pipeline='builtin.module(tile.kernel(choose-schedule,pipeline,early-loads,canonicalize,cse))' | FileCheck %s
// RUN: env TILERY_SCHEDULE="early=0" tilery-opt %s -pass-pipeline='builtin.module(tile.kernel(choose-schedule,pipeline,early-loads,canonicalize,cse))' | FileCheck %s --check-prefix=NONE
// RUN: env TILERY_SCHEDULE="early=16" tilery-opt %s -pass-pipeline='builtin.module(tile.kernel(choose-schedule,pipeline,early-loads,canonicalize,cse))' | FileCheck %s --check-prefix=FEW
// RUN: tilery-opt %s --block-pipeline | FileCheck %s --check-prefix=ROLES
// What the work on the result loads is under way while the last products run, as far as there are registers. Two results of one type
// take turns in the same shared memory.

// NONE-NOT: block.early

// 128 x 256 sums are 128 registers of a thread, a tile of f16 beside them 64, a row of it 32: one of the two is early.
// CHECK-LABEL: tile.kernel @around
// CHECK-SAME: early = 64
// CHECK-SAME: load_registers = 40
// CHECK-SAME: math_registers = 232
// CHECK: %[[R:.*]]:3 = scf.for
// CHECK: tile.load {{.*}} {block.early} : !tile.access<128x256xf16>
// CHECK-NEXT: block.mma_wait %[[R]]#0
// CHECK-NOT: block.early
// CHECK: tile.load {{.*}} : !tile.access<256xf16>
// CHECK-NOT: block.early
// CHECK: tile.store
// CHECK: tile.store

// FEW-LABEL: tile.kernel @around
// FEW-NOT: block.early

// The role that starts copies has none of it.
// ROLES-LABEL: tile.kernel @around
// ROLES: block.role @load warps 4 registers 40
// ROLES-NOT: tile.load
// ROLES: block.role @math warps 8 registers 232
// ROLES: tile.load {{.*}} {block.early}
// ROLES-NEXT: block.mma_wait
// ROLES: block.write %[[X:.*]], %{{.*}} at [0, 0]
// ROLES: block.store_box %[[X]] -> %[[ONE:.*]][
// ROLES: block.store_box %{{.*}} -> %[[ONE]][
// ROLES: block.store_box %[[X]] -> %[[ONE]][
// ROLES: block.store_box %{{.*}} -> %[[ONE]][
// ROLES: block.write %[[X]], %{{.*}} at [0, 0]
// ROLES: block.store_box %[[X]] -> %[[TWO:.*]][
tile.kernel @around(%a: !tile.ptr<f16> {tile.divisibility = 16 : i64}, %b: !tile.ptr<f16> {tile.divisibility = 16 : i64},
                    %c: !tile.ptr<f16> {tile.divisibility = 16 : i64}, %bias: !tile.ptr<f16>, %left: !tile.ptr<f16>,
                    %second: !tile.ptr<f16> {tile.divisibility = 16 : i64}, %N: i64 {tile.divisibility = 16 : i64},
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
  %place = tile.access %bias, %c0 steps(%c1) bounds [0]() : <f16>, (i64), () -> <256xf16>
  %biased = tile.load %place : !tile.access<256xf16> -> tensor<256xf16>
  %wide = arith.extf %biased : tensor<256xf16> to tensor<256xf32>
  %line = tile.expand_dims %wide axis 0 : tensor<256xf32> -> tensor<1x256xf32>
  %all = tile.broadcast %line : tensor<1x256xf32> -> tensor<128x256xf32>
  %with = arith.addf %sum, %all : tensor<128x256xf32>
  %start = arith.muli %row, %N overflow<nsw> : i64
  %left_place = tile.access %left, %start steps(%N, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <128x256xf16>
  %residual = tile.load %left_place : !tile.access<128x256xf16> -> tensor<128x256xf16>
  %more = arith.extf %residual : tensor<128x256xf16> to tensor<128x256xf32>
  %total = arith.addf %with, %more : tensor<128x256xf32>
  %half = arith.truncf %total : tensor<128x256xf32> to tensor<128x256xf16>
  %c_place = tile.access %c, %start steps(%N, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <128x256xf16>
  tile.store %c_place, %half : !tile.access<128x256xf16>, tensor<128x256xf16>
  %second_place = tile.access %second, %start steps(%N, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <128x256xf16>
  tile.store %second_place, %half : !tile.access<128x256xf16>, tensor<128x256xf16>
  tile.return
}
