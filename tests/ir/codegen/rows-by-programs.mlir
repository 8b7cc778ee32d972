// RUN: tilery-translate --disjoint --target=sm_90a --print=plan %s | FileCheck %s --check-prefix=PLAN
// RUN: tilery-translate --disjoint --target=sm_90a --print=asm %s | FileCheck %s --check-prefix=PTX
// RUN: sed s/16384/4096/g %s | tilery-translate --disjoint --target=sm_90a --print=plan | FileCheck %s --check-prefix=SMALL
// RUN: tilery-translate --target=sm_90a --print=plan %s | FileCheck %s --check-prefix=ALIASED
// Two rows of 64 KiB in, one out: one block a multiprocessor, which copies the next program's rows while it computes. Not where several
// blocks run side by side, nor where the results may be what a later program reads.

// PLAN: threads 512
// PLAN-NEXT: fetches 1 turn of 131072 bytes ahead
// SMALL-NOT: fetches
// ALIASED-NOT: fetches

// PTX: .entry k
// PTX-COUNT-16: cp.async.cg.shared.global
// PTX-COUNT-16: cp.async.wait_group{{.*}} 15;
module {
  tile.kernel @k(%x: !tile.ptr<f32> {tile.divisibility = 16 : i64}, %y: !tile.ptr<f32> {tile.divisibility = 16 : i64}, %more: !tile.ptr<f32>,
               %out: !tile.ptr<f32> {tile.divisibility = 16 : i64}, %n: i32 {tile.divisibility = 4 : i64}) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %missing = arith.constant dense<0.0> : tensor<16384xf32>
  %px = tile.program_id 0
  %py = tile.program_id 1
  %width = tile.num_programs 0
  %above = arith.muli %py, %width overflow<nsw> : i32
  %program = arith.addi %above, %px overflow<nsw> : i32
  %row = arith.extsi %program : i32 to i64
  %columns = arith.extsi %n : i32 to i64
  %begin = arith.muli %row, %columns overflow<nsw> : i64
  %from = tile.access %x, %begin steps(%one) bounds [1](%zero, %columns) : !tile.ptr<f32>, (i64), (i64, i64) -> !tile.access<16384xf32>
  %values = tile.load %from other %missing : tensor<16384xf32> : !tile.access<16384xf32> -> tensor<16384xf32>
  %beside = tile.access %y, %begin steps(%one) bounds [1](%zero, %columns) : !tile.ptr<f32>, (i64), (i64, i64) -> !tile.access<16384xf32>
  %others = tile.load %beside other %missing : tensor<16384xf32> : !tile.access<16384xf32> -> tensor<16384xf32>
  %at = tile.access %more, %row steps() bounds []() : !tile.ptr<f32>, (), () -> !tile.access<f32>
  %number = tile.load %at : !tile.access<f32> -> f32
  %products = arith.mulf %values, %others : tensor<16384xf32>
  %sum = tile.reduce %products axis 0 {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    tile.yield %s : f32
  } : tensor<16384xf32> -> f32
  %less = arith.subf %number, %sum : f32
  %each = tile.splat %less : f32 -> tensor<16384xf32>
  %both = arith.subf %values, %others : tensor<16384xf32>
  %result = arith.addf %both, %each : tensor<16384xf32>
  %to = tile.access %out, %begin steps(%one) bounds [1](%zero, %columns) : !tile.ptr<f32>, (i64), (i64, i64) -> !tile.access<16384xf32>
  tile.store %to, %result : !tile.access<16384xf32>, tensor<16384xf32>
  tile.return
}
}
