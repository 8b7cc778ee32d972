// RUN: tilery-opt --pass-pipeline='builtin.module(tile.kernel(roll-steps{least=10 iteration=4},canonicalize,cse))' %s | FileCheck %s

// Three operations a step with what is constant, four steps an iteration; a step stands before the loop, and what is left over
// behind it. A constant that grows by one is computed from the iteration's number.
// CHECK-LABEL: tile.kernel @counts
// CHECK: %[[FIRST:.*]] = arith.addf
// CHECK: %[[LOOP:.*]] = scf.for %[[T:.*]] = %c0_i32 to %c2_i32 step %c1_i32 iter_args(%[[A:.*]] = %[[FIRST]])
// CHECK: %[[N:.*]] = arith.muli %[[T]], %c4_i32
// CHECK: %[[K:.*]] = arith.addi %[[N]], %c1_i32
// CHECK: arith.sitofp %[[K]] : i32 to f32
// CHECK-COUNT-3: math.sin
// CHECK: scf.yield
// CHECK: math.sin %[[LOOP]]
// CHECK-NOT: math.sin
// CHECK: tile.store
tile.kernel @counts(%place: !tile.access<8xf32>, %n: i32) {
  %v = tile.load %place : !tile.access<8xf32> -> tensor<8xf32>
  %s0 = math.sin %v : tensor<8xf32>
  %k0 = arith.constant dense<0.0> : tensor<8xf32>
  %a0 = arith.addf %s0, %k0 : tensor<8xf32>
  %s1 = math.sin %a0 : tensor<8xf32>
  %k1 = arith.constant dense<1.0> : tensor<8xf32>
  %a1 = arith.addf %s1, %k1 : tensor<8xf32>
  %s2 = math.sin %a1 : tensor<8xf32>
  %k2 = arith.constant dense<2.0> : tensor<8xf32>
  %a2 = arith.addf %s2, %k2 : tensor<8xf32>
  %s3 = math.sin %a2 : tensor<8xf32>
  %k3 = arith.constant dense<3.0> : tensor<8xf32>
  %a3 = arith.addf %s3, %k3 : tensor<8xf32>
  %s4 = math.sin %a3 : tensor<8xf32>
  %k4 = arith.constant dense<4.0> : tensor<8xf32>
  %a4 = arith.addf %s4, %k4 : tensor<8xf32>
  %s5 = math.sin %a4 : tensor<8xf32>
  %k5 = arith.constant dense<5.0> : tensor<8xf32>
  %a5 = arith.addf %s5, %k5 : tensor<8xf32>
  %s6 = math.sin %a5 : tensor<8xf32>
  %k6 = arith.constant dense<6.0> : tensor<8xf32>
  %a6 = arith.addf %s6, %k6 : tensor<8xf32>
  %s7 = math.sin %a6 : tensor<8xf32>
  %k7 = arith.constant dense<7.0> : tensor<8xf32>
  %a7 = arith.addf %s7, %k7 : tensor<8xf32>
  %s8 = math.sin %a7 : tensor<8xf32>
  %k8 = arith.constant dense<8.0> : tensor<8xf32>
  %a8 = arith.addf %s8, %k8 : tensor<8xf32>
  %s9 = math.sin %a8 : tensor<8xf32>
  %k9 = arith.constant dense<9.0> : tensor<8xf32>
  %a9 = arith.addf %s9, %k9 : tensor<8xf32>
  tile.store %place, %a9 : !tile.access<8xf32>, tensor<8xf32>
  tile.return
}

// Each step takes the results of two steps before it, the store those of the last two: the loop carries both.
// CHECK-LABEL: tile.kernel @two_back
// CHECK: %[[L:.*]]:2 = scf.for {{.*}} iter_args(%[[A:.*]] = %{{.*}}, %[[B:.*]] = %{{.*}})
// CHECK: %[[C:.*]] = arith.addf %[[B]], %[[A]]
// CHECK: scf.yield
// CHECK: %[[S:.*]] = arith.subf %[[L]]#0, %[[L]]#1
// CHECK: tile.store %{{.*}}, %[[S]]
tile.kernel @two_back(%place: !tile.access<8xf32>, %n: i32) {
  %v = tile.load %place : !tile.access<8xf32> -> tensor<8xf32>
  %e0 = math.exp %v : tensor<8xf32>
  %f0 = arith.addf %v, %e0 : tensor<8xf32>
  %m0 = arith.addf %e0, %f0 : tensor<8xf32>
  %r0 = math.sin %m0 : tensor<8xf32>
  %m1 = arith.addf %f0, %r0 : tensor<8xf32>
  %r1 = math.sin %m1 : tensor<8xf32>
  %m2 = arith.addf %r0, %r1 : tensor<8xf32>
  %r2 = math.sin %m2 : tensor<8xf32>
  %m3 = arith.addf %r1, %r2 : tensor<8xf32>
  %r3 = math.sin %m3 : tensor<8xf32>
  %m4 = arith.addf %r2, %r3 : tensor<8xf32>
  %r4 = math.sin %m4 : tensor<8xf32>
  %m5 = arith.addf %r3, %r4 : tensor<8xf32>
  %r5 = math.sin %m5 : tensor<8xf32>
  %m6 = arith.addf %r4, %r5 : tensor<8xf32>
  %r6 = math.sin %m6 : tensor<8xf32>
  %m7 = arith.addf %r5, %r6 : tensor<8xf32>
  %r7 = math.sin %m7 : tensor<8xf32>
  %m8 = arith.addf %r6, %r7 : tensor<8xf32>
  %r8 = math.sin %m8 : tensor<8xf32>
  %m9 = arith.addf %r7, %r8 : tensor<8xf32>
  %r9 = math.sin %m9 : tensor<8xf32>
  %d = arith.subf %r9, %r8 : tensor<8xf32>
  tile.store %place, %d : !tile.access<8xf32>, tensor<8xf32>
  tile.return
}

// Constants that go on in no way are chosen by the iteration's number; equal ones stay constants.
// CHECK-LABEL: tile.kernel @listed
// CHECK: scf.for %[[T:.*]] = %c0_i32 to %c3_i32
// CHECK: %[[LATE:.*]] = arith.cmpi slt, %[[T]], %c2_i32
// CHECK: %[[HIGH:.*]] = arith.select %[[LATE]], %cst{{.*}}, %cst{{.*}} : f32
// CHECK: %[[LOW:.*]] = arith.cmpi slt, %[[T]], %c1_i32
// CHECK: arith.select %[[LOW]], %cst{{.*}}, %[[HIGH]] : f32
// CHECK-COUNT-3: math.sin
// CHECK: scf.yield
tile.kernel @listed(%place: !tile.access<8xf32>, %n: i32) {
  %v = tile.load %place : !tile.access<8xf32> -> tensor<8xf32>
  %s0 = math.sin %v : tensor<8xf32>
  %h0 = arith.constant dense<0.5> : tensor<8xf32>
  %k0 = arith.constant dense<0.5> : tensor<8xf32>
  %b0 = arith.mulf %s0, %h0 : tensor<8xf32>
  %a0 = arith.addf %b0, %k0 : tensor<8xf32>
  %s1 = math.sin %a0 : tensor<8xf32>
  %h1 = arith.constant dense<0.5> : tensor<8xf32>
  %k1 = arith.constant dense<0.25> : tensor<8xf32>
  %b1 = arith.mulf %s1, %h1 : tensor<8xf32>
  %a1 = arith.addf %b1, %k1 : tensor<8xf32>
  %s2 = math.sin %a1 : tensor<8xf32>
  %h2 = arith.constant dense<0.5> : tensor<8xf32>
  %k2 = arith.constant dense<7.5> : tensor<8xf32>
  %b2 = arith.mulf %s2, %h2 : tensor<8xf32>
  %a2 = arith.addf %b2, %k2 : tensor<8xf32>
  %s3 = math.sin %a2 : tensor<8xf32>
  %h3 = arith.constant dense<0.5> : tensor<8xf32>
  %k3 = arith.constant dense<3.0> : tensor<8xf32>
  %b3 = arith.mulf %s3, %h3 : tensor<8xf32>
  %a3 = arith.addf %b3, %k3 : tensor<8xf32>
  %s4 = math.sin %a3 : tensor<8xf32>
  %h4 = arith.constant dense<0.5> : tensor<8xf32>
  %k4 = arith.constant dense<0.3> : tensor<8xf32>
  %b4 = arith.mulf %s4, %h4 : tensor<8xf32>
  %a4 = arith.addf %b4, %k4 : tensor<8xf32>
  %s5 = math.sin %a4 : tensor<8xf32>
  %h5 = arith.constant dense<0.5> : tensor<8xf32>
  %k5 = arith.constant dense<11.0> : tensor<8xf32>
  %b5 = arith.mulf %s5, %h5 : tensor<8xf32>
  %a5 = arith.addf %b5, %k5 : tensor<8xf32>
  %s6 = math.sin %a5 : tensor<8xf32>
  %h6 = arith.constant dense<0.5> : tensor<8xf32>
  %k6 = arith.constant dense<1.25> : tensor<8xf32>
  %b6 = arith.mulf %s6, %h6 : tensor<8xf32>
  %a6 = arith.addf %b6, %k6 : tensor<8xf32>
  %s7 = math.sin %a6 : tensor<8xf32>
  %h7 = arith.constant dense<0.5> : tensor<8xf32>
  %k7 = arith.constant dense<9.5> : tensor<8xf32>
  %b7 = arith.mulf %s7, %h7 : tensor<8xf32>
  %a7 = arith.addf %b7, %k7 : tensor<8xf32>
  %s8 = math.sin %a7 : tensor<8xf32>
  %h8 = arith.constant dense<0.5> : tensor<8xf32>
  %k8 = arith.constant dense<2.75> : tensor<8xf32>
  %b8 = arith.mulf %s8, %h8 : tensor<8xf32>
  %a8 = arith.addf %b8, %k8 : tensor<8xf32>
  %s9 = math.sin %a8 : tensor<8xf32>
  %h9 = arith.constant dense<0.5> : tensor<8xf32>
  %k9 = arith.constant dense<4.5> : tensor<8xf32>
  %b9 = arith.mulf %s9, %h9 : tensor<8xf32>
  %a9 = arith.addf %b9, %k9 : tensor<8xf32>
  %s10 = math.sin %a9 : tensor<8xf32>
  %h10 = arith.constant dense<0.5> : tensor<8xf32>
  %k10 = arith.constant dense<13.0> : tensor<8xf32>
  %b10 = arith.mulf %s10, %h10 : tensor<8xf32>
  %a10 = arith.addf %b10, %k10 : tensor<8xf32>
  %s11 = math.sin %a10 : tensor<8xf32>
  %h11 = arith.constant dense<0.5> : tensor<8xf32>
  %k11 = arith.constant dense<0.125> : tensor<8xf32>
  %b11 = arith.mulf %s11, %h11 : tensor<8xf32>
  %a11 = arith.addf %b11, %k11 : tensor<8xf32>
  %s12 = math.sin %a11 : tensor<8xf32>
  %h12 = arith.constant dense<0.5> : tensor<8xf32>
  %k12 = arith.constant dense<6.5> : tensor<8xf32>
  %b12 = arith.mulf %s12, %h12 : tensor<8xf32>
  %a12 = arith.addf %b12, %k12 : tensor<8xf32>
  %s13 = math.sin %a12 : tensor<8xf32>
  %h13 = arith.constant dense<0.5> : tensor<8xf32>
  %k13 = arith.constant dense<8.0> : tensor<8xf32>
  %b13 = arith.mulf %s13, %h13 : tensor<8xf32>
  %a13 = arith.addf %b13, %k13 : tensor<8xf32>
  tile.store %place, %a13 : !tile.access<8xf32>, tensor<8xf32>
  tile.return
}

// Constants in branches of a step count as the step's.
// CHECK-LABEL: tile.kernel @nested
// CHECK: scf.for %[[T:.*]] = %c0_i32 to %c2_i32
// CHECK: scf.if
// CHECK: scf.if
// CHECK: scf.if
// CHECK: scf.if
// CHECK: scf.yield
// CHECK: scf.if
tile.kernel @nested(%place: !tile.access<8xf32>, %n: i32) {
  %v = tile.load %place : !tile.access<8xf32> -> tensor<8xf32>
  %k0 = arith.constant 0 : i32
  %c0 = arith.cmpi slt, %n, %k0 : i32
  %a0 = scf.if %c0 -> (tensor<8xf32>) {
    %s0 = math.sin %v : tensor<8xf32>
    scf.yield %s0 : tensor<8xf32>
  } else {
    %i0 = arith.constant dense<0.0> : tensor<8xf32>
    %t0 = arith.addf %v, %i0 : tensor<8xf32>
    scf.yield %t0 : tensor<8xf32>
  }
  %k1 = arith.constant 3 : i32
  %c1 = arith.cmpi slt, %n, %k1 : i32
  %a1 = scf.if %c1 -> (tensor<8xf32>) {
    %s1 = math.sin %a0 : tensor<8xf32>
    scf.yield %s1 : tensor<8xf32>
  } else {
    %i1 = arith.constant dense<1.0> : tensor<8xf32>
    %t1 = arith.addf %a0, %i1 : tensor<8xf32>
    scf.yield %t1 : tensor<8xf32>
  }
  %k2 = arith.constant 6 : i32
  %c2 = arith.cmpi slt, %n, %k2 : i32
  %a2 = scf.if %c2 -> (tensor<8xf32>) {
    %s2 = math.sin %a1 : tensor<8xf32>
    scf.yield %s2 : tensor<8xf32>
  } else {
    %i2 = arith.constant dense<2.0> : tensor<8xf32>
    %t2 = arith.addf %a1, %i2 : tensor<8xf32>
    scf.yield %t2 : tensor<8xf32>
  }
  %k3 = arith.constant 9 : i32
  %c3 = arith.cmpi slt, %n, %k3 : i32
  %a3 = scf.if %c3 -> (tensor<8xf32>) {
    %s3 = math.sin %a2 : tensor<8xf32>
    scf.yield %s3 : tensor<8xf32>
  } else {
    %i3 = arith.constant dense<3.0> : tensor<8xf32>
    %t3 = arith.addf %a2, %i3 : tensor<8xf32>
    scf.yield %t3 : tensor<8xf32>
  }
  %k4 = arith.constant 12 : i32
  %c4 = arith.cmpi slt, %n, %k4 : i32
  %a4 = scf.if %c4 -> (tensor<8xf32>) {
    %s4 = math.sin %a3 : tensor<8xf32>
    scf.yield %s4 : tensor<8xf32>
  } else {
    %i4 = arith.constant dense<4.0> : tensor<8xf32>
    %t4 = arith.addf %a3, %i4 : tensor<8xf32>
    scf.yield %t4 : tensor<8xf32>
  }
  %k5 = arith.constant 15 : i32
  %c5 = arith.cmpi slt, %n, %k5 : i32
  %a5 = scf.if %c5 -> (tensor<8xf32>) {
    %s5 = math.sin %a4 : tensor<8xf32>
    scf.yield %s5 : tensor<8xf32>
  } else {
    %i5 = arith.constant dense<5.0> : tensor<8xf32>
    %t5 = arith.addf %a4, %i5 : tensor<8xf32>
    scf.yield %t5 : tensor<8xf32>
  }
  %k6 = arith.constant 18 : i32
  %c6 = arith.cmpi slt, %n, %k6 : i32
  %a6 = scf.if %c6 -> (tensor<8xf32>) {
    %s6 = math.sin %a5 : tensor<8xf32>
    scf.yield %s6 : tensor<8xf32>
  } else {
    %i6 = arith.constant dense<6.0> : tensor<8xf32>
    %t6 = arith.addf %a5, %i6 : tensor<8xf32>
    scf.yield %t6 : tensor<8xf32>
  }
  %k7 = arith.constant 21 : i32
  %c7 = arith.cmpi slt, %n, %k7 : i32
  %a7 = scf.if %c7 -> (tensor<8xf32>) {
    %s7 = math.sin %a6 : tensor<8xf32>
    scf.yield %s7 : tensor<8xf32>
  } else {
    %i7 = arith.constant dense<7.0> : tensor<8xf32>
    %t7 = arith.addf %a6, %i7 : tensor<8xf32>
    scf.yield %t7 : tensor<8xf32>
  }
  %k8 = arith.constant 24 : i32
  %c8 = arith.cmpi slt, %n, %k8 : i32
  %a8 = scf.if %c8 -> (tensor<8xf32>) {
    %s8 = math.sin %a7 : tensor<8xf32>
    scf.yield %s8 : tensor<8xf32>
  } else {
    %i8 = arith.constant dense<8.0> : tensor<8xf32>
    %t8 = arith.addf %a7, %i8 : tensor<8xf32>
    scf.yield %t8 : tensor<8xf32>
  }
  %k9 = arith.constant 27 : i32
  %c9 = arith.cmpi slt, %n, %k9 : i32
  %a9 = scf.if %c9 -> (tensor<8xf32>) {
    %s9 = math.sin %a8 : tensor<8xf32>
    scf.yield %s9 : tensor<8xf32>
  } else {
    %i9 = arith.constant dense<9.0> : tensor<8xf32>
    %t9 = arith.addf %a8, %i9 : tensor<8xf32>
    scf.yield %t9 : tensor<8xf32>
  }
  tile.store %place, %a9 : !tile.access<8xf32>, tensor<8xf32>
  tile.return
}

// Steps that only store hand nothing on.
// CHECK-LABEL: tile.kernel @stores
// CHECK: scf.for %[[T:.*]] = %c0_i32 to %c2_i32 step %c1_i32 : i32 {
// CHECK-COUNT-4: tile.store
// CHECK-NOT: scf.yield
// CHECK: }
// CHECK: tile.store
// CHECK: tile.return
tile.kernel @stores(%place: !tile.access<8xf32>, %n: i32) {
  %v = tile.load %place : !tile.access<8xf32> -> tensor<8xf32>
  %k0 = arith.constant dense<0.0> : tensor<8xf32>
  %a0 = arith.addf %v, %k0 : tensor<8xf32>
  tile.store %place, %a0 : !tile.access<8xf32>, tensor<8xf32>
  %k1 = arith.constant dense<1.0> : tensor<8xf32>
  %a1 = arith.addf %v, %k1 : tensor<8xf32>
  tile.store %place, %a1 : !tile.access<8xf32>, tensor<8xf32>
  %k2 = arith.constant dense<2.0> : tensor<8xf32>
  %a2 = arith.addf %v, %k2 : tensor<8xf32>
  tile.store %place, %a2 : !tile.access<8xf32>, tensor<8xf32>
  %k3 = arith.constant dense<3.0> : tensor<8xf32>
  %a3 = arith.addf %v, %k3 : tensor<8xf32>
  tile.store %place, %a3 : !tile.access<8xf32>, tensor<8xf32>
  %k4 = arith.constant dense<4.0> : tensor<8xf32>
  %a4 = arith.addf %v, %k4 : tensor<8xf32>
  tile.store %place, %a4 : !tile.access<8xf32>, tensor<8xf32>
  %k5 = arith.constant dense<5.0> : tensor<8xf32>
  %a5 = arith.addf %v, %k5 : tensor<8xf32>
  tile.store %place, %a5 : !tile.access<8xf32>, tensor<8xf32>
  %k6 = arith.constant dense<6.0> : tensor<8xf32>
  %a6 = arith.addf %v, %k6 : tensor<8xf32>
  tile.store %place, %a6 : !tile.access<8xf32>, tensor<8xf32>
  %k7 = arith.constant dense<7.0> : tensor<8xf32>
  %a7 = arith.addf %v, %k7 : tensor<8xf32>
  tile.store %place, %a7 : !tile.access<8xf32>, tensor<8xf32>
  %k8 = arith.constant dense<8.0> : tensor<8xf32>
  %a8 = arith.addf %v, %k8 : tensor<8xf32>
  tile.store %place, %a8 : !tile.access<8xf32>, tensor<8xf32>
  %k9 = arith.constant dense<9.0> : tensor<8xf32>
  %a9 = arith.addf %v, %k9 : tensor<8xf32>
  tile.store %place, %a9 : !tile.access<8xf32>, tensor<8xf32>
  tile.store %place, %v : !tile.access<8xf32>, tensor<8xf32>
  tile.return
}

// Steps whose branches do the same with other values are not alike: every second one subtracts the other way around.
// CHECK-LABEL: tile.kernel @wired
// CHECK-NOT: scf.for
// CHECK: tile.store
tile.kernel @wired(%place: !tile.access<8xf32>, %n: i32) {
  %v = tile.load %place : !tile.access<8xf32> -> tensor<8xf32>
  %c0 = arith.cmpi slt, %n, %n : i32
  %a0 = scf.if %c0 -> (tensor<8xf32>) {
    %s0 = math.sin %v : tensor<8xf32>
    %e0 = math.exp %v : tensor<8xf32>
    %t0 = arith.subf %e0, %s0 : tensor<8xf32>
    scf.yield %t0 : tensor<8xf32>
  } else {
    scf.yield %v : tensor<8xf32>
  }
  %c1 = arith.cmpi slt, %n, %n : i32
  %a1 = scf.if %c1 -> (tensor<8xf32>) {
    %s1 = math.sin %a0 : tensor<8xf32>
    %e1 = math.exp %a0 : tensor<8xf32>
    %t1 = arith.subf %s1, %e1 : tensor<8xf32>
    scf.yield %t1 : tensor<8xf32>
  } else {
    scf.yield %a0 : tensor<8xf32>
  }
  %c2 = arith.cmpi slt, %n, %n : i32
  %a2 = scf.if %c2 -> (tensor<8xf32>) {
    %s2 = math.sin %a1 : tensor<8xf32>
    %e2 = math.exp %a1 : tensor<8xf32>
    %t2 = arith.subf %e2, %s2 : tensor<8xf32>
    scf.yield %t2 : tensor<8xf32>
  } else {
    scf.yield %a1 : tensor<8xf32>
  }
  %c3 = arith.cmpi slt, %n, %n : i32
  %a3 = scf.if %c3 -> (tensor<8xf32>) {
    %s3 = math.sin %a2 : tensor<8xf32>
    %e3 = math.exp %a2 : tensor<8xf32>
    %t3 = arith.subf %s3, %e3 : tensor<8xf32>
    scf.yield %t3 : tensor<8xf32>
  } else {
    scf.yield %a2 : tensor<8xf32>
  }
  %c4 = arith.cmpi slt, %n, %n : i32
  %a4 = scf.if %c4 -> (tensor<8xf32>) {
    %s4 = math.sin %a3 : tensor<8xf32>
    %e4 = math.exp %a3 : tensor<8xf32>
    %t4 = arith.subf %e4, %s4 : tensor<8xf32>
    scf.yield %t4 : tensor<8xf32>
  } else {
    scf.yield %a3 : tensor<8xf32>
  }
  %c5 = arith.cmpi slt, %n, %n : i32
  %a5 = scf.if %c5 -> (tensor<8xf32>) {
    %s5 = math.sin %a4 : tensor<8xf32>
    %e5 = math.exp %a4 : tensor<8xf32>
    %t5 = arith.subf %s5, %e5 : tensor<8xf32>
    scf.yield %t5 : tensor<8xf32>
  } else {
    scf.yield %a4 : tensor<8xf32>
  }
  tile.store %place, %a5 : !tile.access<8xf32>, tensor<8xf32>
  tile.return
}

// Each step's result is used behind all of them.
// CHECK-LABEL: tile.kernel @kept
// CHECK-NOT: scf.for
// CHECK: tile.store
tile.kernel @kept(%place: !tile.access<8xf32>, %n: i32) {
  %v = tile.load %place : !tile.access<8xf32> -> tensor<8xf32>
  %s0 = math.sin %v : tensor<8xf32>
  %a0 = arith.mulf %s0, %v : tensor<8xf32>
  %s1 = math.sin %a0 : tensor<8xf32>
  %a1 = arith.mulf %s1, %a0 : tensor<8xf32>
  %s2 = math.sin %a1 : tensor<8xf32>
  %a2 = arith.mulf %s2, %a1 : tensor<8xf32>
  %s3 = math.sin %a2 : tensor<8xf32>
  %a3 = arith.mulf %s3, %a2 : tensor<8xf32>
  %s4 = math.sin %a3 : tensor<8xf32>
  %a4 = arith.mulf %s4, %a3 : tensor<8xf32>
  %s5 = math.sin %a4 : tensor<8xf32>
  %a5 = arith.mulf %s5, %a4 : tensor<8xf32>
  %s6 = math.sin %a5 : tensor<8xf32>
  %a6 = arith.mulf %s6, %a5 : tensor<8xf32>
  %s7 = math.sin %a6 : tensor<8xf32>
  %a7 = arith.mulf %s7, %a6 : tensor<8xf32>
  %s8 = math.sin %a7 : tensor<8xf32>
  %a8 = arith.mulf %s8, %a7 : tensor<8xf32>
  %s9 = math.sin %a8 : tensor<8xf32>
  %a9 = arith.mulf %s9, %a8 : tensor<8xf32>
  %q0 = arith.addf %v, %a0 : tensor<8xf32>
  %q1 = arith.subf %q0, %a1 : tensor<8xf32>
  %q2 = arith.mulf %q1, %a2 : tensor<8xf32>
  %q3 = arith.mulf %q2, %a3 : tensor<8xf32>
  %q4 = arith.subf %q3, %a4 : tensor<8xf32>
  %q5 = arith.addf %q4, %a5 : tensor<8xf32>
  %q6 = arith.subf %q5, %a6 : tensor<8xf32>
  %q7 = arith.mulf %q6, %a7 : tensor<8xf32>
  %q8 = arith.mulf %q7, %a8 : tensor<8xf32>
  %q9 = arith.subf %q8, %a9 : tensor<8xf32>
  tile.store %place, %q9 : !tile.access<8xf32>, tensor<8xf32>
  tile.return
}

// A window of 4 x 5, of which a step stands before the loop: a row's length an iteration, so that numbers are computed, where four steps an
// iteration would choose them.
// CHECK-LABEL: tile.kernel @rows
// CHECK: scf.for %[[T:.*]] = %c0_i32 to %c3_i32 step %c1_i32
// CHECK-NOT: arith.select
// CHECK-COUNT-5: math.sin
// CHECK-NOT: {{arith.select|math.sin}}
// CHECK: scf.yield
// CHECK-COUNT-4: math.sin
// CHECK: tile.store
tile.kernel @rows(%place: !tile.access<8xf32>) {
  %a0 = tile.load %place : !tile.access<8xf32> -> tensor<8xf32>
  %s0 = math.sin %a0 : tensor<8xf32>
  %i0 = arith.constant dense<0.0> : tensor<8xf32>
  %b0 = arith.addf %s0, %i0 : tensor<8xf32>
  %j0 = arith.constant dense<3.0> : tensor<8xf32>
  %a1 = arith.mulf %b0, %j0 : tensor<8xf32>
  %s1 = math.sin %a1 : tensor<8xf32>
  %i1 = arith.constant dense<0.0> : tensor<8xf32>
  %b1 = arith.addf %s1, %i1 : tensor<8xf32>
  %j1 = arith.constant dense<1.0> : tensor<8xf32>
  %a2 = arith.mulf %b1, %j1 : tensor<8xf32>
  %s2 = math.sin %a2 : tensor<8xf32>
  %i2 = arith.constant dense<0.0> : tensor<8xf32>
  %b2 = arith.addf %s2, %i2 : tensor<8xf32>
  %j2 = arith.constant dense<4.0> : tensor<8xf32>
  %a3 = arith.mulf %b2, %j2 : tensor<8xf32>
  %s3 = math.sin %a3 : tensor<8xf32>
  %i3 = arith.constant dense<0.0> : tensor<8xf32>
  %b3 = arith.addf %s3, %i3 : tensor<8xf32>
  %j3 = arith.constant dense<1.0> : tensor<8xf32>
  %a4 = arith.mulf %b3, %j3 : tensor<8xf32>
  %s4 = math.sin %a4 : tensor<8xf32>
  %i4 = arith.constant dense<0.0> : tensor<8xf32>
  %b4 = arith.addf %s4, %i4 : tensor<8xf32>
  %j4 = arith.constant dense<5.0> : tensor<8xf32>
  %a5 = arith.mulf %b4, %j4 : tensor<8xf32>
  %s5 = math.sin %a5 : tensor<8xf32>
  %i5 = arith.constant dense<1.0> : tensor<8xf32>
  %b5 = arith.addf %s5, %i5 : tensor<8xf32>
  %j5 = arith.constant dense<3.0> : tensor<8xf32>
  %a6 = arith.mulf %b5, %j5 : tensor<8xf32>
  %s6 = math.sin %a6 : tensor<8xf32>
  %i6 = arith.constant dense<1.0> : tensor<8xf32>
  %b6 = arith.addf %s6, %i6 : tensor<8xf32>
  %j6 = arith.constant dense<1.0> : tensor<8xf32>
  %a7 = arith.mulf %b6, %j6 : tensor<8xf32>
  %s7 = math.sin %a7 : tensor<8xf32>
  %i7 = arith.constant dense<1.0> : tensor<8xf32>
  %b7 = arith.addf %s7, %i7 : tensor<8xf32>
  %j7 = arith.constant dense<4.0> : tensor<8xf32>
  %a8 = arith.mulf %b7, %j7 : tensor<8xf32>
  %s8 = math.sin %a8 : tensor<8xf32>
  %i8 = arith.constant dense<1.0> : tensor<8xf32>
  %b8 = arith.addf %s8, %i8 : tensor<8xf32>
  %j8 = arith.constant dense<1.0> : tensor<8xf32>
  %a9 = arith.mulf %b8, %j8 : tensor<8xf32>
  %s9 = math.sin %a9 : tensor<8xf32>
  %i9 = arith.constant dense<1.0> : tensor<8xf32>
  %b9 = arith.addf %s9, %i9 : tensor<8xf32>
  %j9 = arith.constant dense<5.0> : tensor<8xf32>
  %a10 = arith.mulf %b9, %j9 : tensor<8xf32>
  %s10 = math.sin %a10 : tensor<8xf32>
  %i10 = arith.constant dense<2.0> : tensor<8xf32>
  %b10 = arith.addf %s10, %i10 : tensor<8xf32>
  %j10 = arith.constant dense<3.0> : tensor<8xf32>
  %a11 = arith.mulf %b10, %j10 : tensor<8xf32>
  %s11 = math.sin %a11 : tensor<8xf32>
  %i11 = arith.constant dense<2.0> : tensor<8xf32>
  %b11 = arith.addf %s11, %i11 : tensor<8xf32>
  %j11 = arith.constant dense<1.0> : tensor<8xf32>
  %a12 = arith.mulf %b11, %j11 : tensor<8xf32>
  %s12 = math.sin %a12 : tensor<8xf32>
  %i12 = arith.constant dense<2.0> : tensor<8xf32>
  %b12 = arith.addf %s12, %i12 : tensor<8xf32>
  %j12 = arith.constant dense<4.0> : tensor<8xf32>
  %a13 = arith.mulf %b12, %j12 : tensor<8xf32>
  %s13 = math.sin %a13 : tensor<8xf32>
  %i13 = arith.constant dense<2.0> : tensor<8xf32>
  %b13 = arith.addf %s13, %i13 : tensor<8xf32>
  %j13 = arith.constant dense<1.0> : tensor<8xf32>
  %a14 = arith.mulf %b13, %j13 : tensor<8xf32>
  %s14 = math.sin %a14 : tensor<8xf32>
  %i14 = arith.constant dense<2.0> : tensor<8xf32>
  %b14 = arith.addf %s14, %i14 : tensor<8xf32>
  %j14 = arith.constant dense<5.0> : tensor<8xf32>
  %a15 = arith.mulf %b14, %j14 : tensor<8xf32>
  %s15 = math.sin %a15 : tensor<8xf32>
  %i15 = arith.constant dense<3.0> : tensor<8xf32>
  %b15 = arith.addf %s15, %i15 : tensor<8xf32>
  %j15 = arith.constant dense<3.0> : tensor<8xf32>
  %a16 = arith.mulf %b15, %j15 : tensor<8xf32>
  %s16 = math.sin %a16 : tensor<8xf32>
  %i16 = arith.constant dense<3.0> : tensor<8xf32>
  %b16 = arith.addf %s16, %i16 : tensor<8xf32>
  %j16 = arith.constant dense<1.0> : tensor<8xf32>
  %a17 = arith.mulf %b16, %j16 : tensor<8xf32>
  %s17 = math.sin %a17 : tensor<8xf32>
  %i17 = arith.constant dense<3.0> : tensor<8xf32>
  %b17 = arith.addf %s17, %i17 : tensor<8xf32>
  %j17 = arith.constant dense<4.0> : tensor<8xf32>
  %a18 = arith.mulf %b17, %j17 : tensor<8xf32>
  %s18 = math.sin %a18 : tensor<8xf32>
  %i18 = arith.constant dense<3.0> : tensor<8xf32>
  %b18 = arith.addf %s18, %i18 : tensor<8xf32>
  %j18 = arith.constant dense<1.0> : tensor<8xf32>
  %a19 = arith.mulf %b18, %j18 : tensor<8xf32>
  %s19 = math.sin %a19 : tensor<8xf32>
  %i19 = arith.constant dense<3.0> : tensor<8xf32>
  %b19 = arith.addf %s19, %i19 : tensor<8xf32>
  %j19 = arith.constant dense<5.0> : tensor<8xf32>
  %a20 = arith.mulf %b19, %j19 : tensor<8xf32>
  tile.store %place, %a20 : !tile.access<8xf32>, tensor<8xf32>
  tile.return
}
