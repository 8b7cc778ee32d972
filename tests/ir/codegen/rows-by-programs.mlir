// RUN: tilery-translate --disjoint --target=sm_90a --print=plan %s | FileCheck %s --check-prefix=PLAN
// RUN: tilery-translate --disjoint --target=sm_90a --print=asm %s | FileCheck %s --check-prefix=PTX --implicit-check-not=ld.global.v4
// RUN: sed s/16384/4096/g %s | tilery-translate --disjoint --target=sm_90a --print=plan | FileCheck %s --check-prefix=ALONE
// RUN: sed s/bf16/f32/g %s | tilery-translate --disjoint --target=sm_90a --print=plan | FileCheck %s --check-prefix=ALONE
// RUN: tilery-translate --target=sm_90a --print=plan %s | FileCheck %s --check-prefix=ALONE
// Two rows of 32 KiB in, one out, a sum that waits for another: one block a multiprocessor, which copies the next program's rows while it
// computes, and has what all rows are multiplied by copied once. Not where several blocks run side by side, nor of four bytes an element,
// nor where the results may be what a later program reads.

// PLAN: threads 512
// PLAN: fetches 1 turn of 65536 bytes ahead, keeps 32768
// ALONE: threads
// ALONE-NOT: fetches

// PTX: .entry k
// PTX-COUNT-12: cp.async.cg.shared.global
// PTX-COUNT-8: cp.async.wait_group{{.*}} 7;
module {
  tile.kernel @k(%x: !tile.ptr<bf16> {tile.divisibility = 16 : i64}, %y: !tile.ptr<bf16> {tile.divisibility = 16 : i64},
               %w: !tile.ptr<bf16> {tile.divisibility = 16 : i64}, %more: !tile.ptr<f32>,
               %out: !tile.ptr<bf16> {tile.divisibility = 16 : i64}, %n: i32 {tile.divisibility = 8 : i64}) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %missing = arith.constant dense<0.0> : tensor<16384xbf16>
  %program = tile.program_id 0
  %row = arith.extsi %program : i32 to i64
  %columns = arith.extsi %n : i32 to i64
  %begin = arith.muli %row, %columns overflow<nsw> : i64
  %from = tile.access %x, %begin steps(%one) bounds [1](%zero, %columns) : !tile.ptr<bf16>, (i64), (i64, i64) -> !tile.access<16384xbf16>
  %values = tile.load %from other %missing : tensor<16384xbf16> : !tile.access<16384xbf16> -> tensor<16384xbf16>
  %beside = tile.access %y, %begin steps(%one) bounds [1](%zero, %columns) : !tile.ptr<bf16>, (i64), (i64, i64) -> !tile.access<16384xbf16>
  %others = tile.load %beside other %missing : tensor<16384xbf16> : !tile.access<16384xbf16> -> tensor<16384xbf16>
  %same = tile.access %w, %zero steps(%one) bounds [1](%zero, %columns) : !tile.ptr<bf16>, (i64), (i64, i64) -> !tile.access<16384xbf16>
  %factors = tile.load %same other %missing : tensor<16384xbf16> : !tile.access<16384xbf16> -> tensor<16384xbf16>
  %at = tile.access %more, %row steps() bounds []() : !tile.ptr<f32>, (), () -> !tile.access<f32>
  %number = tile.load %at : !tile.access<f32> -> f32
  %products = arith.mulf %values, %others : tensor<16384xbf16>
  %sum = tile.reduce %products axis 0 {
  ^bb0(%a: bf16, %b: bf16):
    %s = arith.addf %a, %b : bf16
    tile.yield %s : bf16
  } : tensor<16384xbf16> -> bf16
  %each = tile.splat %sum : bf16 -> tensor<16384xbf16>
  %scaled = arith.mulf %others, %factors : tensor<16384xbf16>
  %less = arith.subf %scaled, %each : tensor<16384xbf16>
  %second = tile.reduce %less axis 0 {
  ^bb0(%a: bf16, %b: bf16):
    %s = arith.addf %a, %b : bf16
    tile.yield %s : bf16
  } : tensor<16384xbf16> -> bf16
  %rest = tile.splat %second : bf16 -> tensor<16384xbf16>
  %both = arith.subf %values, %rest : tensor<16384xbf16>
  %result = arith.addf %both, %less : tensor<16384xbf16>
  %to = tile.access %out, %begin steps(%one) bounds [1](%zero, %columns) : !tile.ptr<bf16>, (i64), (i64, i64) -> !tile.access<16384xbf16>
  tile.store %to, %result : !tile.access<16384xbf16>, tensor<16384xbf16>
  tile.return
}
}
