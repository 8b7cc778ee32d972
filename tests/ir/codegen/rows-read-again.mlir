// RUN: tilery-translate --disjoint --target=sm_90a --print=plan %s | FileCheck %s --check-prefix=PLAN
// RUN: tilery-translate --disjoint --target=sm_90a --print=asm %s | FileCheck %s --check-prefix=PTX
// A row in pieces, twice: the sum, then what is less by it, in place. The first loop's ring keeps its last vectors, the second one runs
// backwards from them.

// PLAN-LABEL: plan @less
// PLAN: fetches and keeps [[#]] vectors a thread of turns of 4
// PLAN-NEXT: runs backwards and begins with what the loop before has kept
// PLAN-LABEL: plan @carries
// PLAN-NOT: keeps
// PLAN: fetches {{.*}} ahead
// PLAN-NEXT: fetches {{.*}} ahead
// PLAN-NOT: backwards
// PLAN-LABEL: plan @changed
// PLAN-NOT: keeps
// PLAN-LABEL: plan @mirrored
// PLAN: fetches and keeps 64 vectors a thread of turns of 4
// PLAN-NEXT: runs backwards and begins with what the loop before has kept
// PLAN-LABEL: plan @beside
// PLAN-NOT: keeps

// Places in a vector are compared with that of the target there, in 32 bits; whether it has more is asked once.
// PTX: .entry less
// PTX-COUNT-4: setp.{{eq|ne}}.b32 	{{%p[0-9]+, %r[0-9]+}}, {{[0-3]}};
// PTX: .entry carries
module {
  tile.kernel @less(%x: !tile.ptr<f32> {tile.divisibility = 16 : i64}, %target: i64, %n: i32 {tile.divisibility = 16 : i64}) {
    %c0 = arith.constant 0 : i32
    %piece = arith.constant 4096 : i32
    %zero = arith.constant 0 : i64
    %one = arith.constant 1 : i64
    %none = arith.constant 0.0 : f32
    %columns = arith.extsi %n : i32 to i64
    %sum = scf.for %start = %c0 to %n step %piece iter_args(%before = %none) -> (f32) : i32 {
      %at = arith.extsi %start : i32 to i64
      %left = arith.subi %columns, %at overflow<nsw> : i64
      %place = tile.access %x, %at steps(%one) bounds [1](%zero, %left) : !tile.ptr<f32>, (i64), (i64, i64) -> !tile.access<4096xf32>
      %values = tile.load %place : !tile.access<4096xf32> -> tensor<4096xf32>
      %part = tile.reduce %values axis 0 {
      ^bb0(%a: f32, %b: f32):
        %s = arith.addf %a, %b : f32
        tile.yield %s : f32
      } : tensor<4096xf32> -> f32
      %now = arith.addf %before, %part : f32
      scf.yield %now : f32
    }
    %each = tile.splat %sum : f32 -> tensor<4096xf32>
    %targets = tile.splat %target : i64 -> tensor<4096xi64>
    scf.for %start = %c0 to %n step %piece : i32 {
      %at = arith.extsi %start : i32 to i64
      %left = arith.subi %columns, %at overflow<nsw> : i64
      %place = tile.access %x, %at steps(%one) bounds [1](%zero, %left) : !tile.ptr<f32>, (i64), (i64, i64) -> !tile.access<4096xf32>
      %values = tile.load %place : !tile.access<4096xf32> -> tensor<4096xf32>
      %less = arith.subf %values, %each : tensor<4096xf32>
      %lanes = tile.range 0 to 4096 : tensor<4096xi32>
      %from = tile.splat %start : i32 -> tensor<4096xi32>
      %here = arith.addi %from, %lanes : tensor<4096xi32>
      %wide = arith.extsi %here : tensor<4096xi32> to tensor<4096xi64>
      %is = arith.cmpi eq, %wide, %targets : tensor<4096xi64>
      %result = arith.select %is, %values, %less : tensor<4096xi1>, tensor<4096xf32>
      tile.store %place, %result : !tile.access<4096xf32>, tensor<4096xf32>
    }
    tile.return
  }

  // The second loop carries a sum of its own: its order is fixed.
  tile.kernel @carries(%x: !tile.ptr<f32> {tile.divisibility = 16 : i64}, %out: !tile.ptr<f32>, %n: i32 {tile.divisibility = 16 : i64}) {
    %c0 = arith.constant 0 : i32
    %piece = arith.constant 4096 : i32
    %zero = arith.constant 0 : i64
    %one = arith.constant 1 : i64
    %none = arith.constant 0.0 : f32
    %columns = arith.extsi %n : i32 to i64
    %sum = scf.for %start = %c0 to %n step %piece iter_args(%before = %none) -> (f32) : i32 {
      %at = arith.extsi %start : i32 to i64
      %left = arith.subi %columns, %at overflow<nsw> : i64
      %place = tile.access %x, %at steps(%one) bounds [1](%zero, %left) : !tile.ptr<f32>, (i64), (i64, i64) -> !tile.access<4096xf32>
      %values = tile.load %place : !tile.access<4096xf32> -> tensor<4096xf32>
      %part = tile.reduce %values axis 0 {
      ^bb0(%a: f32, %b: f32):
        %s = arith.addf %a, %b : f32
        tile.yield %s : f32
      } : tensor<4096xf32> -> f32
      %now = arith.addf %before, %part : f32
      scf.yield %now : f32
    }
    %each = tile.splat %sum : f32 -> tensor<4096xf32>
    %squares = scf.for %start = %c0 to %n step %piece iter_args(%before = %none) -> (f32) : i32 {
      %at = arith.extsi %start : i32 to i64
      %left = arith.subi %columns, %at overflow<nsw> : i64
      %place = tile.access %x, %at steps(%one) bounds [1](%zero, %left) : !tile.ptr<f32>, (i64), (i64, i64) -> !tile.access<4096xf32>
      %values = tile.load %place : !tile.access<4096xf32> -> tensor<4096xf32>
      %less = arith.subf %values, %each : tensor<4096xf32>
      %square = arith.mulf %less, %less : tensor<4096xf32>
      %part = tile.reduce %square axis 0 {
      ^bb0(%a: f32, %b: f32):
        %s = arith.addf %a, %b : f32
        tile.yield %s : f32
      } : tensor<4096xf32> -> f32
      %now = arith.addf %before, %part : f32
      scf.yield %now : f32
    }
    %to = tile.access %out, %zero steps() bounds []() : !tile.ptr<f32>, (), () -> !tile.access<f32>
    tile.store %to, %squares : !tile.access<f32>, f32
    tile.return
  }

  // Between the loops a number of the row is written.
  tile.kernel @changed(%x: !tile.ptr<f32> {tile.divisibility = 16 : i64}, %out: !tile.ptr<f32> {tile.divisibility = 16 : i64}, %n: i32 {tile.divisibility = 16 : i64}) {
    %c0 = arith.constant 0 : i32
    %piece = arith.constant 4096 : i32
    %zero = arith.constant 0 : i64
    %one = arith.constant 1 : i64
    %none = arith.constant 0.0 : f32
    %columns = arith.extsi %n : i32 to i64
    %sum = scf.for %start = %c0 to %n step %piece iter_args(%before = %none) -> (f32) : i32 {
      %at = arith.extsi %start : i32 to i64
      %left = arith.subi %columns, %at overflow<nsw> : i64
      %place = tile.access %x, %at steps(%one) bounds [1](%zero, %left) : !tile.ptr<f32>, (i64), (i64, i64) -> !tile.access<4096xf32>
      %values = tile.load %place : !tile.access<4096xf32> -> tensor<4096xf32>
      %part = tile.reduce %values axis 0 {
      ^bb0(%a: f32, %b: f32):
        %s = arith.addf %a, %b : f32
        tile.yield %s : f32
      } : tensor<4096xf32> -> f32
      %now = arith.addf %before, %part : f32
      scf.yield %now : f32
    }
    %first = tile.access %x, %zero steps() bounds []() : !tile.ptr<f32>, (), () -> !tile.access<f32>
    tile.store %first, %sum : !tile.access<f32>, f32
    scf.for %start = %c0 to %n step %piece : i32 {
      %at = arith.extsi %start : i32 to i64
      %left = arith.subi %columns, %at overflow<nsw> : i64
      %place = tile.access %x, %at steps(%one) bounds [1](%zero, %left) : !tile.ptr<f32>, (i64), (i64, i64) -> !tile.access<4096xf32>
      %values = tile.load %place : !tile.access<4096xf32> -> tensor<4096xf32>
      %to = tile.access %out, %at steps(%one) bounds [1](%zero, %left) : !tile.ptr<f32>, (i64), (i64, i64) -> !tile.access<4096xf32>
      tile.store %to, %values : !tile.access<4096xf32>, tensor<4096xf32>
    }
    tile.return
  }

  // The last piece first, in blocks that hold all of a row.
  tile.kernel @mirrored(%x: !tile.ptr<f32> {tile.divisibility = 16 : i64}, %out: !tile.ptr<f32> {tile.divisibility = 16 : i64}) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c16 = arith.constant 16 : i32
    %last = arith.constant 15 : i32
    %piece = arith.constant 512 : i32
    %zero = arith.constant 0 : i64
    %one = arith.constant 1 : i64
    %columns = arith.constant 8192 : i64
    %none = arith.constant dense<0.0> : tensor<512xf32>
    %sums = scf.for %i = %c0 to %c16 step %c1 iter_args(%before = %none) -> (tensor<512xf32>) : i32 {
      %start = arith.muli %i, %piece overflow<nsw> : i32
      %at = arith.extsi %start : i32 to i64
      %left = arith.subi %columns, %at overflow<nsw> : i64
      %place = tile.access %x, %at steps(%one) bounds [1](%zero, %left) : !tile.ptr<f32>, (i64), (i64, i64) -> !tile.access<512xf32>
      %values = tile.load %place : !tile.access<512xf32> -> tensor<512xf32>
      %now = arith.addf %before, %values : tensor<512xf32>
      scf.yield %now : tensor<512xf32>
    }
    %sum = tile.reduce %sums axis 0 {
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %b : f32
      tile.yield %s : f32
    } : tensor<512xf32> -> f32
    %each = tile.splat %sum : f32 -> tensor<512xf32>
    scf.for %i = %c0 to %c16 step %c1 : i32 {
      %turn = arith.subi %last, %i overflow<nsw> : i32
      %start = arith.muli %turn, %piece overflow<nsw> : i32
      %at = arith.extsi %start : i32 to i64
      %left = arith.subi %columns, %at overflow<nsw> : i64
      %place = tile.access %x, %at steps(%one) bounds [1](%zero, %left) : !tile.ptr<f32>, (i64), (i64, i64) -> !tile.access<512xf32>
      %values = tile.load %place : !tile.access<512xf32> -> tensor<512xf32>
      %less = arith.subf %values, %each : tensor<512xf32>
      %to = tile.access %out, %at steps(%one) bounds [1](%zero, %left) : !tile.ptr<f32>, (i64), (i64, i64) -> !tile.access<512xf32>
      tile.store %to, %less : !tile.access<512xf32>, tensor<512xf32>
    }
    tile.return
  }

  // One piece further: the first turn has nothing to load.
  tile.kernel @beside(%x: !tile.ptr<f32> {tile.divisibility = 16 : i64}, %out: !tile.ptr<f32> {tile.divisibility = 16 : i64}) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c16 = arith.constant 16 : i32
    %last = arith.constant 16 : i32
    %piece = arith.constant 512 : i32
    %zero = arith.constant 0 : i64
    %one = arith.constant 1 : i64
    %columns = arith.constant 8192 : i64
    %none = arith.constant dense<0.0> : tensor<512xf32>
    %sums = scf.for %i = %c0 to %c16 step %c1 iter_args(%before = %none) -> (tensor<512xf32>) : i32 {
      %start = arith.muli %i, %piece overflow<nsw> : i32
      %at = arith.extsi %start : i32 to i64
      %left = arith.subi %columns, %at overflow<nsw> : i64
      %place = tile.access %x, %at steps(%one) bounds [1](%zero, %left) : !tile.ptr<f32>, (i64), (i64, i64) -> !tile.access<512xf32>
      %values = tile.load %place : !tile.access<512xf32> -> tensor<512xf32>
      %now = arith.addf %before, %values : tensor<512xf32>
      scf.yield %now : tensor<512xf32>
    }
    %sum = tile.reduce %sums axis 0 {
    ^bb0(%a: f32, %b: f32):
      %s = arith.addf %a, %b : f32
      tile.yield %s : f32
    } : tensor<512xf32> -> f32
    %each = tile.splat %sum : f32 -> tensor<512xf32>
    scf.for %i = %c0 to %c16 step %c1 : i32 {
      %turn = arith.subi %last, %i overflow<nsw> : i32
      %start = arith.muli %turn, %piece overflow<nsw> : i32
      %at = arith.extsi %start : i32 to i64
      %left = arith.subi %columns, %at overflow<nsw> : i64
      %place = tile.access %x, %at steps(%one) bounds [1](%zero, %left) : !tile.ptr<f32>, (i64), (i64, i64) -> !tile.access<512xf32>
      %values = tile.load %place : !tile.access<512xf32> -> tensor<512xf32>
      %less = arith.subf %values, %each : tensor<512xf32>
      %to = tile.access %out, %at steps(%one) bounds [1](%zero, %left) : !tile.ptr<f32>, (i64), (i64, i64) -> !tile.access<512xf32>
      tile.store %to, %less : !tile.access<512xf32>, tensor<512xf32>
    }
    tile.return
  }
}
