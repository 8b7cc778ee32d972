// RUN: tilery-opt %s -pass-pipeline='builtin.module(tile.kernel(choose-schedule,pipeline,load-ahead,canonicalize,cse))' | FileCheck %s
// RUN: env TILERY_SCHEDULE="ahead=0" tilery-opt %s -pass-pipeline='builtin.module(tile.kernel(choose-schedule,pipeline,load-ahead))' | FileCheck %s --check-prefix=LATE
// RUN: tilery-opt %s --block-pipeline | FileCheck %s --check-prefix=ROLES

// Gates of the step's rows, and a number whose place the loop carries, are loaded in the step before, where its own loads stood,
// under the loop's own condition and with their own bounds; those of the first step in front of the loop, if there is one.
// CHECK-LABEL: tile.kernel @gated
// CHECK-SAME: ahead = 1
// CHECK: %[[ANY:.*]] = arith.cmpi sgt, %[[END:.*]], %c0{{.*}} : i32
// CHECK: %[[FIRST:[0-9]*]]:2 = scf.if %[[ANY]] -> (f32, tensor<64xf32>) {
// CHECK: tile.load {{.*}} -> f32
// CHECK: tile.load {{.*}} -> tensor<64xf32>
// CHECK: scf.for %[[I:.*]] = %{{.*}} to %[[END]] step %{{.*}} iter_args({{.*}}%[[LAST:[^ ]*]] = %[[FIRST]]#0, %[[GATE:[^ ]*]] = %[[FIRST]]#1)
// CHECK: %[[J:.*]] = arith.addi %[[I]], %{{.*}} : i32
// CHECK-NEXT: %[[MORE:.*]] = arith.cmpi slt, %[[J]], %[[END]] : i32
// CHECK-NEXT: %[[NEXT:[0-9]*]]:2 = scf.if %[[MORE]] -> (f32, tensor<64xf32>) {
// CHECK: tile.load {{.*}} -> f32
// CHECK: %[[WIDE:.*]] = arith.extsi %[[J]]
// CHECK: %[[AT:.*]] = arith.muli %[[WIDE]], %c64{{.*}}
// CHECK: %[[LEFT:.*]] = arith.subi %{{.*}}, %[[AT]]
// CHECK: tile.access %{{.*}} bounds [1](%{{.*}}, %[[LEFT]])
// CHECK: tile.load {{.*}} -> tensor<64xf32>
// CHECK: } else {
// CHECK-NEXT: scf.yield %[[LAST]], %[[GATE]]
// CHECK-NOT: tile.load
// CHECK: tile.splat %[[LAST]]
// CHECK: arith.subf %{{.*}}, %[[GATE]]
// CHECK: block.write
// CHECK: block.publish
// CHECK: block.mma_start
// CHECK-NOT: tile.load
// CHECK: scf.yield {{.*}}%[[NEXT]]#0, %[[NEXT]]#1

// LATE-LABEL: tile.kernel @gated
// LATE-SAME: ahead = 0
// LATE: scf.for
// LATE: tile.load {{.*}} -> f32
// LATE: tile.load {{.*}} -> tensor<64xf32>
// LATE: block.mma_start

// The role that copies has none of it, nor does it wait for a branch.
// ROLES-LABEL: tile.kernel @gated
// ROLES: block.role @load
// ROLES-NOT: tile.load
// ROLES-NOT: scf.if
// ROLES: block.role @math
// ROLES: scf.if
// ROLES: scf.for
// ROLES: scf.if
// ROLES: block.fence
// ROLES-NEXT: block.publish
// ROLES: block.mma_start
tile.kernel @gated(%k: !tile.ptr<f16> {tile.divisibility = 16 : i64}, %v: !tile.ptr<f16> {tile.divisibility = 16 : i64}, %g: !tile.ptr<f32>, %o: !tile.ptr<f32> {tile.divisibility = 16 : i64}, %n: i32, %rows: i64) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c2 = arith.constant 2 : i64
  %c64 = arith.constant 64 : i64
  %c4096 = arith.constant 4096 : i64
  %low = arith.constant 0 : i32
  %step = arith.constant 1 : i32
  %zeros = arith.constant dense<0.0> : tensor<64x64xf32>
  %r:2 = scf.for %i = %low to %n step %step iter_args(%state = %zeros, %p = %c64) -> (tensor<64x64xf32>, i64) : i32 {
    %t = arith.extsi %i : i32 to i64
    %at = arith.muli %t, %c4096 overflow<nsw> : i64
    %row = arith.muli %t, %c64 overflow<nsw> : i64
    %left = arith.subi %rows, %row overflow<nsw> : i64
    %av = tile.access %v, %at steps(%c64, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
    %tv = tile.load %av : !tile.access<64x64xf16> -> tensor<64x64xf16>
    %al = tile.access %g, %p steps() bounds []() : <f32>, (), () -> <f32>
    %last = tile.load %al : !tile.access<f32> -> f32
    %ag = tile.access %g, %row steps(%c2) bounds [1](%c0, %left) : <f32>, (i64), (i64, i64) -> <64xf32>
    %gate = tile.load %ag : !tile.access<64xf32> -> tensor<64xf32>
    %lasts = tile.splat %last : f32 -> tensor<64xf32>
    %difference = arith.subf %lasts, %gate : tensor<64xf32>
    %column = tile.expand_dims %difference axis 1 : tensor<64xf32> -> tensor<64x1xf32>
    %all = tile.broadcast %column : tensor<64x1xf32> -> tensor<64x64xf32>
    %wide = arith.extf %tv : tensor<64x64xf16> to tensor<64x64xf32>
    %new = arith.mulf %wide, %all : tensor<64x64xf32>
    %factor = arith.truncf %new : tensor<64x64xf32> to tensor<64x64xf16>
    %ak = tile.access %k, %at steps(%c1, %c64) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
    %tk = tile.load %ak : !tile.access<64x64xf16> -> tensor<64x64xf16>
    %next = tile.dot %tk, %factor, %state : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    %q = arith.addi %p, %c2 : i64
    scf.yield %next, %q : tensor<64x64xf32>, i64
  }
  %ao = tile.access %o, %c0 steps(%c64, %c1) bounds [0, 0]() : <f32>, (i64, i64), () -> <64x64xf32>
  tile.store %ao, %r#0 : !tile.access<64x64xf32>, tensor<64x64xf32>
  tile.return
}

// A number whose place is loaded, and a volatile one, are loaded where they are used.
// CHECK-LABEL: tile.kernel @left
// CHECK-SAME: ahead = 0
// CHECK: scf.for
// CHECK-NOT: scf.if
// CHECK: tile.load {{.*}} -> i64
// CHECK: tile.load {{.*}} -> f32
// CHECK: tile.load {{.*}} -> f32
// CHECK: block.publish
tile.kernel @left(%k: !tile.ptr<f16> {tile.divisibility = 16 : i64}, %v: !tile.ptr<f16> {tile.divisibility = 16 : i64}, %g: !tile.ptr<f32>, %table: !tile.ptr<i64>, %o: !tile.ptr<f32> {tile.divisibility = 16 : i64}, %n: i32) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c64 = arith.constant 64 : i64
  %c4096 = arith.constant 4096 : i64
  %low = arith.constant 0 : i32
  %step = arith.constant 1 : i32
  %zeros = arith.constant dense<0.0> : tensor<64x64xf32>
  %r = scf.for %i = %low to %n step %step iter_args(%state = %zeros) -> (tensor<64x64xf32>) : i32 {
    %t = arith.extsi %i : i32 to i64
    %at = arith.muli %t, %c4096 overflow<nsw> : i64
    %av = tile.access %v, %at steps(%c64, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
    %tv = tile.load %av : !tile.access<64x64xf16> -> tensor<64x64xf16>
    %ai = tile.access %table, %t steps() bounds []() : <i64>, (), () -> <i64>
    %number = tile.load %ai : !tile.access<i64> -> i64
    %al = tile.access %g, %number steps() bounds []() : <f32>, (), () -> <f32>
    %scale = tile.load %al : !tile.access<f32> -> f32
    %am = tile.access %g, %t steps() bounds []() : <f32>, (), () -> <f32>
    %other = tile.load %am {is_volatile} : !tile.access<f32> -> f32
    %both = arith.mulf %scale, %other : f32
    %all = tile.splat %both : f32 -> tensor<64x64xf32>
    %wide = arith.extf %tv : tensor<64x64xf16> to tensor<64x64xf32>
    %new = arith.mulf %wide, %all : tensor<64x64xf32>
    %factor = arith.truncf %new : tensor<64x64xf32> to tensor<64x64xf16>
    %ak = tile.access %k, %at steps(%c1, %c64) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
    %tk = tile.load %ak : !tile.access<64x64xf16> -> tensor<64x64xf16>
    %next = tile.dot %tk, %factor, %state : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  %ao = tile.access %o, %c0 steps(%c64, %c1) bounds [0, 0]() : <f32>, (i64, i64), () -> <64x64xf32>
  tile.store %ao, %r : !tile.access<64x64xf32>, tensor<64x64xf32>
  tile.return
}

// What the loop stores to the argument may be what the next step loads: such a kernel does not come this far.
// CHECK-LABEL: tile.kernel @stored
// CHECK-NOT: block.
// CHECK: tile.load {{.*}} -> f32
// CHECK: tile.store
// CHECK: tile.return
tile.kernel @stored(%k: !tile.ptr<f16> {tile.divisibility = 16 : i64}, %v: !tile.ptr<f16> {tile.divisibility = 16 : i64}, %g: !tile.ptr<f32>, %o: !tile.ptr<f32> {tile.divisibility = 16 : i64}, %n: i32) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c64 = arith.constant 64 : i64
  %c4096 = arith.constant 4096 : i64
  %low = arith.constant 0 : i32
  %step = arith.constant 1 : i32
  %zeros = arith.constant dense<0.0> : tensor<64x64xf32>
  %r = scf.for %i = %low to %n step %step iter_args(%state = %zeros) -> (tensor<64x64xf32>) : i32 {
    %t = arith.extsi %i : i32 to i64
    %at = arith.muli %t, %c4096 overflow<nsw> : i64
    %av = tile.access %v, %at steps(%c64, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
    %tv = tile.load %av : !tile.access<64x64xf16> -> tensor<64x64xf16>
    %al = tile.access %g, %t steps() bounds []() : <f32>, (), () -> <f32>
    %scale = tile.load %al : !tile.access<f32> -> f32
    %as = tile.access %g, %at steps(%c64, %c1) bounds [0, 0]() : <f32>, (i64, i64), () -> <64x64xf32>
    tile.store %as, %state : !tile.access<64x64xf32>, tensor<64x64xf32>
    %all = tile.splat %scale : f32 -> tensor<64x64xf32>
    %wide = arith.extf %tv : tensor<64x64xf16> to tensor<64x64xf32>
    %new = arith.mulf %wide, %all : tensor<64x64xf32>
    %factor = arith.truncf %new : tensor<64x64xf32> to tensor<64x64xf16>
    %ak = tile.access %k, %at steps(%c1, %c64) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
    %tk = tile.load %ak : !tile.access<64x64xf16> -> tensor<64x64xf16>
    %next = tile.dot %tk, %factor, %state : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  %ao = tile.access %o, %c0 steps(%c64, %c1) bounds [0, 0]() : <f32>, (i64, i64), () -> <64x64xf32>
  tile.store %ao, %r : !tile.access<64x64xf32>, tensor<64x64xf32>
  tile.return
}
