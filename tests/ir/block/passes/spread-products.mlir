// RUN: env TILERY_SCHEDULE="hold_operands=0 spread=1" tilery-opt %s -pass-pipeline='builtin.module(tile.kernel(choose-schedule,pipeline,spread-products,canonicalize,cse))' | FileCheck %s
// RUN: env TILERY_SCHEDULE="hold_operands=0 spread=1" tilery-opt %s -pass-pipeline='builtin.module(tile.kernel(choose-schedule,pipeline,spread-products,overlap-products,canonicalize,cse))' | FileCheck %s --check-prefix=LATE
// RUN: env TILERY_SCHEDULE="spread=0" tilery-opt %s -pass-pipeline='builtin.module(tile.kernel(choose-schedule,pipeline,spread-products,canonicalize,cse))' | FileCheck %s --check-prefix=LEFT
// RUN: env TILERY_SCHEDULE="hold_operands=1" tilery-opt %s -pass-pipeline='builtin.module(tile.kernel(choose-schedule,pipeline,canonicalize,cse))' | FileCheck %s --check-prefix=HELD

// The gradients of keys and values: both products of loaded factors start where the step begins, with the copies that they need; results
// are waited for where they are used, or where the next computed factor wants registers, and slots are released behind the last of their
// products. The row comes through a ring, and is read where it is computed with; its slot is released behind a wait, where threads need not
// meet for that.
// Sums that a product from zero is added to go on in it.
// CHECK-LABEL: tile.kernel @gradients
// CHECK: %[[ROWS:.*]] = block.ring takers 1 : <{{.*}}, [64xf32]>
// CHECK: scf.for {{.*}} iter_args(%[[SV:[^ ]*]] =
// CHECK: block.take %[[Q:.*]][
// CHECK: %[[S:.*]] = block.mma_start
// CHECK: block.take %[[D:.*]][
// CHECK: %[[DP:.*]] = block.mma_start
// CHECK: block.mma_wait %[[S]]
// CHECK: %[[ROW:.*]] = block.take %[[ROWS]][
// CHECK: block.part %[[ROW]]
// CHECK: block.read
// CHECK: math.exp2
// CHECK: %[[DV:.*]] = block.mma_start %[[SV]],
// CHECK: block.mma_wait %[[DP]]
// CHECK: block.release %[[ROW]]
// CHECK: arith.mulf
// CHECK: block.mma_wait %[[DV]]
// CHECK: block.release
// CHECK: %[[DK:.*]] = block.mma_start
// CHECK: block.mma_wait %[[DK]]
// CHECK: block.release
// CHECK: scf.yield

// The last product of a computed factor is a step late: it starts behind the next step's first ones.
// LATE-LABEL: tile.kernel @gradients
// LATE: scf.if
// LATE-COUNT-3: block.mma_start
// LATE: scf.for
// LATE: %[[S:.*]] = block.mma_start
// LATE: %[[DP:.*]] = block.mma_start
// LATE: %[[DK:.*]] = block.mma_start
// LATE: block.mma_wait %[[S]]
// LATE: %[[DV:.*]] = block.mma_start
// LATE: block.mma_wait %[[DP]]
// LATE: block.mma_wait %[[DV]]
// LATE: block.mma_wait %[[DK]]
// LATE: scf.yield
// LATE: block.mma_start
// LATE: block.mma_wait
// LATE: } else {

// First factors that stay are read into registers, and free their slots.
// HELD-LABEL: tile.kernel @gradients
// HELD-COUNT-2: block.read %{{.*}} : <64x64xf16> -> tensor<64x64xf16>
// HELD: scf.for
// HELD: block.mma_start %{{.*}}, %{{.*}}, %{{.*}} clear %true : {{.*}}, tensor<64x64xf16>, <64x64xf16>

// LEFT-LABEL: tile.kernel @gradients
// LEFT: scf.for
// LEFT-COUNT-4: block.mma_wait
// LEFT: scf.yield
tile.kernel @gradients(%q: !tile.ptr<f16> {tile.divisibility = 16 : i64}, %k: !tile.ptr<f16> {tile.divisibility = 16 : i64},
                       %v: !tile.ptr<f16> {tile.divisibility = 16 : i64}, %do: !tile.ptr<f16> {tile.divisibility = 16 : i64},
                       %rows: !tile.ptr<f32> {tile.divisibility = 16 : i64}, %o: !tile.ptr<f16> {tile.divisibility = 16 : i64},
                       %length: i64) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c64 = arith.constant 64 : i64
  %zeros = arith.constant dense<0.0> : tensor<64x64xf32>
  %ak = tile.access %k, %c0 steps(%c64, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
  %tk = tile.load %ak : !tile.access<64x64xf16> -> tensor<64x64xf16>
  %av = tile.access %v, %c0 steps(%c64, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
  %tv = tile.load %av : !tile.access<64x64xf16> -> tensor<64x64xf16>
  %dv, %dk = scf.for %i = %c0 to %length step %c64 iter_args(%sv = %zeros, %sk = %zeros) -> (tensor<64x64xf32>, tensor<64x64xf32>) : i64 {
    %at = arith.muli %i, %c64 overflow<nsw> : i64
    %aq = tile.access %q, %at steps(%c64, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
    %tq = tile.load %aq : !tile.access<64x64xf16> -> tensor<64x64xf16>
    %qt = tile.permute %tq [1, 0] : tensor<64x64xf16> -> tensor<64x64xf16>
    %s = tile.dot %tk, %qt, %zeros : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    %ar = tile.access %rows, %i steps(%c1) bounds [0]() : <f32>, (i64), () -> <64xf32>
    %r = tile.load %ar : !tile.access<64xf32> -> tensor<64xf32>
    %line = tile.expand_dims %r axis 0 : tensor<64xf32> -> tensor<1x64xf32>
    %lines = tile.broadcast %line : tensor<1x64xf32> -> tensor<64x64xf32>
    %less = arith.subf %s, %lines : tensor<64x64xf32>
    %p = math.exp2 %less : tensor<64x64xf32>
    %p16 = arith.truncf %p : tensor<64x64xf32> to tensor<64x64xf16>
    %ad = tile.access %do, %at steps(%c64, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
    %td = tile.load %ad : !tile.access<64x64xf16> -> tensor<64x64xf16>
    %pd = tile.dot %p16, %td, %zeros : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    %nv = arith.addf %sv, %pd : tensor<64x64xf32>
    %dt = tile.permute %td [1, 0] : tensor<64x64xf16> -> tensor<64x64xf16>
    %dp = tile.dot %tv, %dt, %zeros : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    %ds = arith.mulf %p, %dp : tensor<64x64xf32>
    %ds16 = arith.truncf %ds : tensor<64x64xf32> to tensor<64x64xf16>
    %nk = tile.dot %ds16, %tq, %sk : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    scf.yield %nv, %nk : tensor<64x64xf32>, tensor<64x64xf32>
  }
  %both = arith.addf %dv, %dk : tensor<64x64xf32>
  %h = arith.truncf %both : tensor<64x64xf32> to tensor<64x64xf16>
  %ao = tile.access %o, %c0 steps(%c64, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
  tile.store %ao, %h : !tile.access<64x64xf16>, tensor<64x64xf16>
  tile.return
}
