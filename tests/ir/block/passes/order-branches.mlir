// RUN: tilery-opt %s -pass-pipeline='builtin.module(tile.kernel(order-programs))' | FileCheck %s

// Programs that multiply on one side of a branch only: the ring's position comes from the branch, whichever side that is.
// CHECK-LABEL: tile.kernel @otherwise
// CHECK: block.programs grid iter(
// CHECK: ^bb0({{.*}}, %[[FIRST:[a-z0-9]+]]: i32):
// CHECK: %[[BEHIND:.*]] = scf.if
// CHECK-NEXT: scf.yield %[[FIRST]] : i32
// CHECK-NEXT: } else {
// CHECK: block.yield %[[BEHIND]] : i32
// CHECK-LABEL: tile.kernel @then
// CHECK: block.programs grid iter(
// CHECK: ^bb0({{.*}}, %[[FIRST2:[a-z0-9]+]]: i32):
// CHECK: %[[BEHIND2:.*]] = scf.if
// CHECK: } else {
// CHECK-NEXT: scf.yield %[[FIRST2]] : i32
// CHECK: block.yield %[[BEHIND2]] : i32
tile.kernel @otherwise(%steps: i32, %idle: i1) attributes {block.schedule = {split_columns = 0 : i64, partial_columns = 0 : i64, branch = 0 : i64, cluster = 0 : i64, consumers = 1 : i64, delay = 0 : i64, early = 0 : i64,
    fetchers = 2 : i64, general = 0 : i64, group = 1 : i64, hold_operands = 0 : i64, joined = 0 : i64, k = 64 : i64, load_registers = 0 : i64,
    longest = 0 : i64, math_registers = 0 : i64, overlap = 0 : i64, partial = 0 : i64, resident = 0 : i64, computed_slots = 0 : i64,
    spread = 0 : i64, stage_output = 0 : i64, stages = 4 : i64}} {
  %none = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %zeros = arith.constant dense<0.0> : tensor<64x64xf16>
  %ring = block.ring takers 1 : <4, [64x64xf16]>
  %behind = scf.if %idle -> (i32) {
    scf.yield %none : i32
  } else {
    %end = scf.for %i = %none to %steps step %one iter_args(%at = %none) -> (i32) : i32 {
      %slot = block.acquire %ring[%at] : <4, [64x64xf16]>
      %part = block.part %slot[0] : <[64x64xf16]>
      block.write %part, %zeros : <64x64xf16>, tensor<64x64xf16>
      block.publish %slot : <[64x64xf16]>
      %taken = block.take %ring[%at] : <4, [64x64xf16]>
      block.release %taken : <[64x64xf16]>
      %next = arith.addi %at, %one : i32
      scf.yield %next : i32
    }
    scf.yield %end : i32
  }
  tile.return
}

tile.kernel @then(%steps: i32, %busy: i1) attributes {block.schedule = {split_columns = 0 : i64, partial_columns = 0 : i64, branch = 0 : i64, cluster = 0 : i64, consumers = 1 : i64, delay = 0 : i64, early = 0 : i64,
    fetchers = 2 : i64, general = 0 : i64, group = 1 : i64, hold_operands = 0 : i64, joined = 0 : i64, k = 64 : i64, load_registers = 0 : i64,
    longest = 0 : i64, math_registers = 0 : i64, overlap = 0 : i64, partial = 0 : i64, resident = 0 : i64, computed_slots = 0 : i64,
    spread = 0 : i64, stage_output = 0 : i64, stages = 4 : i64}} {
  %none = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %zeros = arith.constant dense<0.0> : tensor<64x64xf16>
  %ring = block.ring takers 1 : <4, [64x64xf16]>
  %behind = scf.if %busy -> (i32) {
    %end = scf.for %i = %none to %steps step %one iter_args(%at = %none) -> (i32) : i32 {
      %slot = block.acquire %ring[%at] : <4, [64x64xf16]>
      %part = block.part %slot[0] : <[64x64xf16]>
      block.write %part, %zeros : <64x64xf16>, tensor<64x64xf16>
      block.publish %slot : <[64x64xf16]>
      %taken = block.take %ring[%at] : <4, [64x64xf16]>
      block.release %taken : <[64x64xf16]>
      %next = arith.addi %at, %one : i32
      scf.yield %next : i32
    }
    scf.yield %end : i32
  } else {
    scf.yield %none : i32
  }
  tile.return
}
