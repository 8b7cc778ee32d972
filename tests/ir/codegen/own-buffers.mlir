// RUN: tilery-translate --target=sm_90a --print=asm %s | FileCheck %s
// Points of a parallel loop run in several threads: a buffer that each of them stores before it loads is each thread's own, not the block's.

// CHECK-LABEL: .entry own
// CHECK-NOT: st.shared
// CHECK: ret;
tile.kernel @own(%x: !tile.ptr<f16>, %y: !tile.ptr<f32>, %n: i32) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %four = arith.constant 4 : i32
  %count = arith.constant 32 : i32
  %held = tile.alloc : <4xf16, local>
  scf.for %turn = %zero to %four step %one : i32 {
    tile.parallel(%count) {
    ^bb0(%j: i32):
      %there = arith.cmpi slt, %j, %n : i32
      scf.if %there {
        %first = arith.muli %j, %four : i32
        scf.for %i = %zero to %four step %one : i32 {
          %place = arith.addi %first, %i : i32
          %at = arith.extsi %place : i32 to i64
          %index = arith.extsi %i : i32 to i64
          %from = tile.access %x, %at steps() bounds []() : <f16>, (), () -> <f16>
          %v = tile.load %from : !tile.access<f16> -> f16
          tile.element_store %held[%index], %v : <4xf16, local>, (i64), f16
        }
        scf.for %i = %zero to %four step %one : i32 {
          %place = arith.addi %first, %i : i32
          %at = arith.extsi %place : i32 to i64
          %index = arith.extsi %i : i32 to i64
          %v = tile.element_load %held[%index] : <4xf16, local>, i64 -> f16
          %w = arith.extf %v : f16 to f32
          %to = tile.access %y, %at steps() bounds []() : <f32>, (), () -> <f32>
          tile.store %to, %w : !tile.access<f32>, f32
        }
      }
    } : i32
  }
  tile.return
}

// A value that goes from one loop to another is the block's.
// CHECK-LABEL: .entry passed
// CHECK: st.shared.b32
// CHECK: ld.shared.b32
// CHECK: ret;
tile.kernel @passed(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>, %places: !tile.ptr<i32>) {
  %one = arith.constant 1 : i32
  %count = arith.constant 32 : i32
  %first = arith.constant 0 : i64
  %held = tile.alloc : <1xf32, local>
  tile.parallel(%one) {
  ^bb0(%j: i32):
    %from = tile.access %places, %first steps() bounds []() : <i32>, (), () -> <i32>
    %place = tile.load %from : !tile.access<i32> -> i32
    %at = arith.extsi %place : i32 to i64
    %value = tile.access %x, %at steps() bounds []() : <f32>, (), () -> <f32>
    %v = tile.load %value : !tile.access<f32> -> f32
    tile.element_store %held[%first], %v : <1xf32, local>, (i64), f32
  } : i32
  tile.parallel(%count) {
  ^bb0(%j: i32):
    %index = arith.extsi %j : i32 to i64
    %from = tile.access %places, %index steps() bounds []() : <i32>, (), () -> <i32>
    %place = tile.load %from : !tile.access<i32> -> i32
    %at = arith.extsi %place : i32 to i64
    %v = tile.element_load %held[%first] : <1xf32, local>, i64 -> f32
    %to = tile.access %y, %at steps() bounds []() : <f32>, (), () -> <f32>
    tile.store %to, %v : !tile.access<f32>, f32
  } : i32
  tile.return
}
