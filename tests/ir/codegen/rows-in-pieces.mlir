// RUN: tilery-translate --disjoint --target=sm_90a --print=plan %s | FileCheck %s --check-prefix=PLAN
// RUN: tilery-translate --disjoint --target=sm_90a --print=asm %s | FileCheck %s --check-prefix=PTX
// A row's largest element in pieces: what the loop counts is a multiple of the piece, so that accesses are of 16 bytes, and a turn's are
// copied while the turn before computes.

// PLAN: threads 256
// PLAN-NEXT: fetches 1 turn of 8192 bytes ahead
// PLAN-NEXT: tiles of 4096: 2 vectors of 8 a thread

// Each thread reads what it copied: the only meetings are those of the maximum, one of them because slower threads may still read the
// maximum of the turn before.
// PTX: .entry largest
// PTX-NOT: ld.global
// PTX-COUNT-2: cp.async.cg.shared.global
// PTX: cp.async.commit_group
// PTX: cp.async.wait_group{{.*}} 1;
// PTX: ld.shared.v4
// PTX: cp.async.cg.shared.global
// PTX: cp.async.commit_group
// PTX: cp.async.wait_group{{.*}} 1;
// PTX: ld.shared.v4
// PTX: cp.async.cg.shared.global
// PTX-NOT: ld.global
module {
  tile.kernel @largest(%x: !tile.ptr<bf16> {tile.divisibility = 16 : i64}, %out: !tile.ptr<f32>, %n: i32 {tile.divisibility = 16 : i64}) {
    %c0 = arith.constant 0 : i32
    %piece = arith.constant 4096 : i32
    %zero = arith.constant 0 : i64
    %one = arith.constant 1 : i64
    %least = arith.constant dense<0xFF80> : tensor<4096xbf16>
    %none = arith.constant 0xFF800000 : f32
    %program = tile.program_id 0
    %row = arith.extsi %program : i32 to i64
    %columns = arith.extsi %n : i32 to i64
    %begin = arith.muli %row, %columns overflow<nsw> : i64
    %result = scf.for %start = %c0 to %n step %piece iter_args(%before = %none) -> (f32) : i32 {
      %wide = arith.extsi %start : i32 to i64
      %at = arith.addi %begin, %wide overflow<nsw> : i64
      %left = arith.subi %columns, %wide overflow<nsw> : i64
      %place = tile.access %x, %at steps(%one) bounds [1](%zero, %left) : !tile.ptr<bf16>, (i64), (i64, i64) -> !tile.access<4096xbf16>
      %values = tile.load %place other %least : tensor<4096xbf16> : !tile.access<4096xbf16> -> tensor<4096xbf16>
      %floats = arith.extf %values : tensor<4096xbf16> to tensor<4096xf32>
      %most = tile.reduce %floats axis 0 {
      ^bb0(%a: f32, %b: f32):
        %m = arith.maxnumf %a, %b : f32
        tile.yield %m : f32
      } : tensor<4096xf32> -> f32
      %now = arith.maxnumf %before, %most : f32
      scf.yield %now : f32
    }
    %to = tile.access %out, %row steps() bounds []() : !tile.ptr<f32>, (), () -> !tile.access<f32>
    tile.store %to, %result : !tile.access<f32>, f32
    tile.return
  }
}
