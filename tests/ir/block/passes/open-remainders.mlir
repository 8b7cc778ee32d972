// RUN: tilery-opt %s -pass-pipeline='builtin.module(tile.kernel(open-remainders))' | FileCheck %s

// By a number that may be 0: then all of it is left.
// CHECK-LABEL: tile.kernel @by_argument
// CHECK: %[[ID:.*]] = tile.program_id 0
// CHECK: %[[REST:.*]] = tile.rem trunc %[[ID]], %arg1 : i32
// CHECK: %[[NONE:.*]] = arith.cmpi eq, %arg1, %c0_i32
// CHECK: %[[LEFT:.*]] = arith.select %[[NONE]], %[[ID]], %[[REST]]
// CHECK: %[[PLACE:.*]] = arith.extsi %[[LEFT]] : i32 to i64
// CHECK: tile.access %arg0, %[[PLACE]]
tile.kernel @by_argument(%p: !tile.ptr<f32>, %batch: i32) {
  %id = tile.program_id 0
  %chunk = tile.div trunc %id, %batch : i32
  %wide = arith.extsi %id : i32 to i64
  %whole = arith.extsi %chunk : i32 to i64
  %times = arith.extsi %batch : i32 to i64
  %taken = arith.muli %whole, %times overflow<nsw> : i64
  %left = arith.subi %wide, %taken overflow<nsw> : i64
  %a = tile.access %p, %left steps() bounds []() : <f32>, (), () -> <f32>
  %x = tile.load %a : !tile.access<f32> -> f32
  tile.store %a, %x : !tile.access<f32>, f32
  tile.return
}

// CHECK-LABEL: tile.kernel @by_constant
// CHECK: %[[REST:.*]] = tile.rem trunc %{{.*}}, %c4_i32 : i32
// CHECK-NOT: arith.select
// CHECK: arith.extsi %[[REST]]
tile.kernel @by_constant(%p: !tile.ptr<f32>) {
  %c4 = arith.constant 4 : i32
  %id = tile.program_id 0
  %chunk = tile.div trunc %id, %c4 : i32
  %taken = arith.muli %c4, %chunk overflow<nsw> : i32
  %left = arith.subi %id, %taken overflow<nsw> : i32
  %wide = arith.extsi %left : i32 to i64
  %a = tile.access %p, %wide steps() bounds []() : <f32>, (), () -> <f32>
  %x = tile.load %a : !tile.access<f32> -> f32
  tile.store %a, %x : !tile.access<f32>, f32
  tile.return
}

// Another number's quotient, one that is rounded down, another divisor, and a product that may wrap are left alone.
// CHECK-LABEL: tile.kernel @others
// CHECK-NOT: tile.rem
tile.kernel @others(%p: !tile.ptr<f32>, %batch: i32, %n: i32) {
  %id = tile.program_id 0
  %other = tile.div trunc %n, %batch : i32
  %low = tile.div floor %id, %batch : i32
  %chunk = tile.div trunc %id, %batch : i32
  %a0 = arith.muli %other, %batch overflow<nsw> : i32
  %a1 = arith.muli %low, %batch overflow<nsw> : i32
  %a2 = arith.muli %chunk, %n overflow<nsw> : i32
  %a3 = arith.muli %chunk, %batch : i32
  %s0 = arith.subi %id, %a0 overflow<nsw> : i32
  %s1 = arith.subi %id, %a1 overflow<nsw> : i32
  %s2 = arith.subi %id, %a2 overflow<nsw> : i32
  %s3 = arith.subi %id, %a3 overflow<nsw> : i32
  %t0 = arith.addi %s0, %s1 overflow<nsw> : i32
  %t1 = arith.addi %s2, %s3 overflow<nsw> : i32
  %t = arith.addi %t0, %t1 overflow<nsw> : i32
  %wide = arith.extsi %t : i32 to i64
  %a = tile.access %p, %wide steps() bounds []() : <f32>, (), () -> <f32>
  %x = tile.load %a : !tile.access<f32> -> f32
  tile.store %a, %x : !tile.access<f32>, f32
  tile.return
}
