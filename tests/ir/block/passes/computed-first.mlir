// RUN: tilery-opt %s -pass-pipeline='builtin.module(tile.kernel(choose-schedule,pipeline,canonicalize,cse))' | FileCheck %s

// What a first factor is computed from, with no product of the step before it, comes through a ring (else threads would wait for memory in each
// step); a product beside the loop runs under another block.
// CHECK-LABEL: tile.kernel @in_front
// CHECK-SAME: resident = 2
// CHECK: block.mma_start
// CHECK: scf.for
// CHECK-NOT: tile.load
// CHECK: %[[X:.*]] = block.read {{.*}} -> tensor<64x64xf16>
// CHECK: %[[WIDE:.*]] = arith.extf %[[X]]
// CHECK: %[[SQUARE:.*]] = arith.mulf %[[WIDE]], %[[WIDE]]
// CHECK: %[[A:.*]] = arith.truncf %[[SQUARE]]
// CHECK-NOT: tile.load
// CHECK: block.mma_start %{{.*}}, %[[A]],
// CHECK: scf.yield
tile.kernel @in_front(%k: !tile.ptr<f16> {tile.divisibility = 16 : i64}, %v: !tile.ptr<f16> {tile.divisibility = 16 : i64}, %w: !tile.ptr<f16> {tile.divisibility = 16 : i64}, %o: !tile.ptr<f32> {tile.divisibility = 16 : i64}, %n: i32) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c64 = arith.constant 64 : i64
  %c4096 = arith.constant 4096 : i64
  %low = arith.constant 0 : i32
  %step = arith.constant 1 : i32
  %zeros = arith.constant dense<0.0> : tensor<64x64xf32>
  %aw = tile.access %w, %c0 steps(%c64, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
  %tw = tile.load %aw : !tile.access<64x64xf16> -> tensor<64x64xf16>
  %aw2 = tile.access %w, %c4096 steps(%c64, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
  %tw2 = tile.load %aw2 : !tile.access<64x64xf16> -> tensor<64x64xf16>
  %first = tile.dot %tw, %tw2, %zeros : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  %r = scf.for %i = %low to %n step %step iter_args(%sum = %first) -> (tensor<64x64xf32>) : i32 {
    %t = arith.extsi %i : i32 to i64
    %at = arith.muli %t, %c4096 overflow<nsw> : i64
    %av = tile.access %v, %at steps(%c64, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
    %tv = tile.load %av : !tile.access<64x64xf16> -> tensor<64x64xf16>
    %wide = arith.extf %tv : tensor<64x64xf16> to tensor<64x64xf32>
    %new = arith.mulf %wide, %wide : tensor<64x64xf32>
    %factor = arith.truncf %new : tensor<64x64xf32> to tensor<64x64xf16>
    %ak = tile.access %k, %at steps(%c64, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
    %tk = tile.load %ak : !tile.access<64x64xf16> -> tensor<64x64xf16>
    %next = tile.dot %factor, %tk, %sum : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  %ao = tile.access %o, %c0 steps(%c64, %c1) bounds [0, 0]() : <f32>, (i64, i64), () -> <64x64xf32>
  tile.store %ao, %r : !tile.access<64x64xf32>, tensor<64x64xf32>
  tile.return
}

// Behind a product of the step, threads load it: that and other blocks hide it, and the ring's memory is others'.
// CHECK-LABEL: tile.kernel @behind
// CHECK-SAME: resident = 3
// CHECK: scf.for
// CHECK: block.mma_wait
// CHECK: tile.load
// CHECK: scf.yield
tile.kernel @behind(%q: !tile.ptr<f16> {tile.divisibility = 16 : i64}, %k: !tile.ptr<f16> {tile.divisibility = 16 : i64}, %v: !tile.ptr<f16> {tile.divisibility = 16 : i64}, %w: !tile.ptr<f16> {tile.divisibility = 16 : i64}, %o: !tile.ptr<f32> {tile.divisibility = 16 : i64}, %n: i32) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c64 = arith.constant 64 : i64
  %c4096 = arith.constant 4096 : i64
  %low = arith.constant 0 : i32
  %step = arith.constant 1 : i32
  %zeros = arith.constant dense<0.0> : tensor<64x64xf32>
  %aq = tile.access %q, %c0 steps(%c64, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
  %tq = tile.load %aq : !tile.access<64x64xf16> -> tensor<64x64xf16>
  %r = scf.for %i = %low to %n step %step iter_args(%sum = %zeros) -> (tensor<64x64xf32>) : i32 {
    %t = arith.extsi %i : i32 to i64
    %at = arith.muli %t, %c4096 overflow<nsw> : i64
    %ak = tile.access %k, %at steps(%c1, %c64) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
    %tk = tile.load %ak : !tile.access<64x64xf16> -> tensor<64x64xf16>
    %s = tile.dot %tq, %tk, %zeros : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    %aw = tile.access %w, %at steps(%c64, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
    %tw = tile.load %aw : !tile.access<64x64xf16> -> tensor<64x64xf16>
    %wide = arith.extf %tw : tensor<64x64xf16> to tensor<64x64xf32>
    %new = arith.mulf %wide, %s : tensor<64x64xf32>
    %factor = arith.truncf %new : tensor<64x64xf32> to tensor<64x64xf16>
    %av = tile.access %v, %at steps(%c64, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
    %tv = tile.load %av : !tile.access<64x64xf16> -> tensor<64x64xf16>
    %next = tile.dot %factor, %tv, %sum : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  %ao = tile.access %o, %c0 steps(%c64, %c1) bounds [0, 0]() : <f32>, (i64, i64), () -> <64x64xf32>
  tile.store %ao, %r : !tile.access<64x64xf32>, tensor<64x64xf32>
  tile.return
}

// A program of few steps, whose begin and end take much of its time, and one whose steps may be left out.
// CHECK-LABEL: tile.kernel @few
// CHECK-SAME: resident = 3
tile.kernel @few(%q: !tile.ptr<f16> {tile.divisibility = 16 : i64}, %k: !tile.ptr<f16> {tile.divisibility = 16 : i64}, %v: !tile.ptr<f16> {tile.divisibility = 16 : i64}, %w: !tile.ptr<f16> {tile.divisibility = 16 : i64}, %o: !tile.ptr<f32> {tile.divisibility = 16 : i64}, %n: i32) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c64 = arith.constant 64 : i64
  %c4096 = arith.constant 4096 : i64
  %low = arith.constant 0 : i32
  %step = arith.constant 1 : i32
  %last = arith.constant 16 : i32
  %zeros = arith.constant dense<0.0> : tensor<64x64xf32>
  %aq = tile.access %q, %c0 steps(%c64, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
  %tq = tile.load %aq : !tile.access<64x64xf16> -> tensor<64x64xf16>
  %r = scf.for %i = %low to %last step %step iter_args(%sum = %zeros) -> (tensor<64x64xf32>) : i32 {
    %t = arith.extsi %i : i32 to i64
    %at = arith.muli %t, %c4096 overflow<nsw> : i64
    %ak = tile.access %k, %at steps(%c1, %c64) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
    %tk = tile.load %ak : !tile.access<64x64xf16> -> tensor<64x64xf16>
    %s = tile.dot %tq, %tk, %zeros : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    %aw = tile.access %w, %at steps(%c64, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
    %tw = tile.load %aw : !tile.access<64x64xf16> -> tensor<64x64xf16>
    %wide = arith.extf %tw : tensor<64x64xf16> to tensor<64x64xf32>
    %new = arith.mulf %wide, %s : tensor<64x64xf32>
    %factor = arith.truncf %new : tensor<64x64xf32> to tensor<64x64xf16>
    %av = tile.access %v, %at steps(%c64, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
    %tv = tile.load %av : !tile.access<64x64xf16> -> tensor<64x64xf16>
    %next = tile.dot %factor, %tv, %sum : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    scf.yield %next : tensor<64x64xf32>
  }
  %ao = tile.access %o, %c0 steps(%c64, %c1) bounds [0, 0]() : <f32>, (i64, i64), () -> <64x64xf32>
  tile.store %ao, %r : !tile.access<64x64xf32>, tensor<64x64xf32>
  tile.return
}

// CHECK-LABEL: tile.kernel @left_out
// CHECK-SAME: resident = 2
tile.kernel @left_out(%q: !tile.ptr<f16> {tile.divisibility = 16 : i64}, %k: !tile.ptr<f16> {tile.divisibility = 16 : i64}, %v: !tile.ptr<f16> {tile.divisibility = 16 : i64}, %w: !tile.ptr<f16> {tile.divisibility = 16 : i64}, %o: !tile.ptr<f32> {tile.divisibility = 16 : i64}, %p: !tile.ptr<i32>, %n: i32) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c64 = arith.constant 64 : i64
  %c4096 = arith.constant 4096 : i64
  %low = arith.constant 0 : i32
  %step = arith.constant 1 : i32
  %zeros = arith.constant dense<0.0> : tensor<64x64xf32>
  %aq = tile.access %q, %c0 steps(%c64, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
  %tq = tile.load %aq : !tile.access<64x64xf16> -> tensor<64x64xf16>
  %r:2 = scf.for %i = %low to %n step %step iter_args(%sum = %zeros, %count = %low) -> (tensor<64x64xf32>, i32) : i32 {
    %t = arith.extsi %i : i32 to i64
    %at = arith.muli %t, %c4096 overflow<nsw> : i64
    %ap = tile.access %p, %t steps() bounds []() : <i32>, (), () -> <i32>
    %number = tile.load %ap : !tile.access<i32> -> i32
    %taken = arith.cmpi sge, %number, %low : i32
    %part:2 = scf.if %taken -> (tensor<64x64xf32>, i32) {
      %ak = tile.access %k, %at steps(%c1, %c64) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
      %tk = tile.load %ak : !tile.access<64x64xf16> -> tensor<64x64xf16>
      %s = tile.dot %tq, %tk, %zeros : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
      %aw = tile.access %w, %at steps(%c64, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
      %tw = tile.load %aw : !tile.access<64x64xf16> -> tensor<64x64xf16>
      %wide = arith.extf %tw : tensor<64x64xf16> to tensor<64x64xf32>
      %new = arith.mulf %wide, %s : tensor<64x64xf32>
      %factor = arith.truncf %new : tensor<64x64xf32> to tensor<64x64xf16>
      %av = tile.access %v, %at steps(%c64, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
      %tv = tile.load %av : !tile.access<64x64xf16> -> tensor<64x64xf16>
      %next = tile.dot %factor, %tv, %sum : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
      %more = arith.addi %count, %step : i32
      scf.yield %next, %more : tensor<64x64xf32>, i32
    } else {
      scf.yield %sum, %count : tensor<64x64xf32>, i32
    }
    scf.yield %part#0, %part#1 : tensor<64x64xf32>, i32
  }
  %ao = tile.access %o, %c0 steps(%c64, %c1) bounds [0, 0]() : <f32>, (i64, i64), () -> <64x64xf32>
  tile.store %ao, %r#0 : !tile.access<64x64xf32>, tensor<64x64xf32>
  tile.return
}
