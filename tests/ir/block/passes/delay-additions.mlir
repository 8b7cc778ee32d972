// RUN: env TILERY_SCHEDULE="delay=1 hold_operands=0" tilery-opt %s -pass-pipeline='builtin.module(tile.kernel(choose-schedule,pipeline,spread-products,delay-additions,canonicalize,cse))' | FileCheck %s
// RUN: env TILERY_SCHEDULE="delay=0 hold_operands=0" tilery-opt %s -pass-pipeline='builtin.module(tile.kernel(choose-schedule,pipeline,spread-products,delay-additions,canonicalize,cse))' | FileCheck %s --check-prefix=LEFT
// RUN: tilery-opt %s --block-pipeline | FileCheck %s --check-prefix=ROLES

// All three gradients in one loop. dS turned goes through a ring that its own role fills; what comes of it is added to memory by the copy
// engine, a step late: beside the step's first product. The second one starts when the sums have gone out.
// CHECK-LABEL: tile.kernel @all
// CHECK: %[[DS:.*]] = block.ring takers 1 : <2, [64x64xf16]>
// CHECK: %[[SUMS:.*]] = block.alloc : <64x64xf32>
// CHECK: scf.if
// CHECK-COUNT-4: block.mma_start
// CHECK-NOT: block.mma_start
// CHECK: scf.for
// CHECK: %[[S:.*]] = block.mma_start
// CHECK: %[[SLOT:.*]] = block.take %[[DS]][
// CHECK: %[[PART:.*]] = block.part %[[SLOT]]
// CHECK: %[[TURNED:.*]] = block.transpose %[[PART]]
// CHECK: %[[DQ:.*]] = block.mma_start %{{.*}}, %[[TURNED]],
// CHECK: block.mma_wait %[[S]]
// CHECK: %[[DV:.*]] = block.mma_start
// CHECK: %[[RESULT:.*]] = block.mma_wait %[[DQ]]
// CHECK: block.release %[[SLOT]]
// CHECK: block.write %[[SUMS]], %[[RESULT]]
// CHECK: block.store_box %[[SUMS]] {{.*}} add
// CHECK: %[[DP:.*]] = block.mma_start
// CHECK: block.mma_wait %[[DP]]
// CHECK: %[[FILLED:.*]] = block.acquire %[[DS]][
// CHECK: block.publish %[[FILLED]]
// CHECK: block.mma_wait %[[DV]]
// CHECK: %[[DK:.*]] = block.mma_start
// CHECK: block.mma_wait %[[DK]]
// CHECK: scf.yield
// CHECK: %[[LAST:.*]] = block.mma_start
// CHECK: block.mma_wait %[[LAST]]
// CHECK: block.store_box %[[SUMS]] {{.*}} add
// CHECK: } else {

// LEFT-NOT: scf.if
// LEFT: scf.for
// LEFT-COUNT-5: block.mma_start
// LEFT: scf.yield
// LEFT-NOT: block.mma_start

// The role that loads knows nothing of that ring; the one that multiplies fills and takes it.
// ROLES: block.role @load
// ROLES-NOT: block.write
// ROLES: block.role @math
// ROLES: %[[FILLED:.*]] = block.acquire
// ROLES: block.write
// ROLES: block.fence
// ROLES: block.publish %[[FILLED]]
tile.kernel @all(%q: !tile.ptr<f16> {tile.divisibility = 16 : i64}, %k: !tile.ptr<f16> {tile.divisibility = 16 : i64},
                       %v: !tile.ptr<f16> {tile.divisibility = 16 : i64}, %do: !tile.ptr<f16> {tile.divisibility = 16 : i64},
                       %rows: !tile.ptr<f32> {tile.divisibility = 16 : i64}, %o: !tile.ptr<f16> {tile.divisibility = 16 : i64},
                       %sums: !tile.ptr<f32> {tile.divisibility = 16 : i64}, %length: i64) {
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
    %dst = tile.permute %ds16 [1, 0] : tensor<64x64xf16> -> tensor<64x64xf16>
    %part = tile.dot %dst, %tk, %zeros : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    %asum = tile.access %sums, %at steps(%c64, %c1) bounds [0, 0]() : <f32>, (i64, i64), () -> <64x64xf32>
    %old = tile.atomic_rmw fadd %asum, %part {order = 0 : i32} : !tile.access<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    %nk = tile.dot %ds16, %tq, %sk : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    scf.yield %nv, %nk : tensor<64x64xf32>, tensor<64x64xf32>
  }
  %both = arith.addf %dv, %dk : tensor<64x64xf32>
  %h = arith.truncf %both : tensor<64x64xf32> to tensor<64x64xf16>
  %ao = tile.access %o, %c0 steps(%c64, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
  tile.store %ao, %h : !tile.access<64x64xf16>, tensor<64x64xf16>
  tile.return
}
