// RUN: tilery-opt %s -pass-pipeline='builtin.module(tile.kernel(open-contractions))' | FileCheck %s

// Two contractions over the same steps become one loop, which loads once what both take.
// CHECK-LABEL: tile.kernel @two
// CHECK: %[[LOOP:.*]]:2 = scf.for
// CHECK-COUNT-3: tile.load
// CHECK-NOT: tile.load
// CHECK: scf.yield
// CHECK-NOT: tile.contract
// CHECK: tile.store %{{.*}}, %[[LOOP]]#0
// CHECK: tile.store %{{.*}}, %[[LOOP]]#1
tile.kernel @two(%a: !tile.ptr<f16>, %b: !tile.ptr<f16>, %o: !tile.ptr<f32>, %n: i64) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c64 = arith.constant 64 : i64
  %zeros = arith.constant dense<0.0> : tensor<64x64xf32>
  %x = tile.contract %n, %zeros {
  ^bb0(%s: i64):
    %at = arith.muli %s, %c64 : i64
    %aa = tile.access %a, %at steps(%c64, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
    %ta = tile.load %aa : !tile.access<64x64xf16> -> tensor<64x64xf16>
    %ab = tile.access %b, %at steps(%c64, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
    %tb = tile.load %ab : !tile.access<64x64xf16> -> tensor<64x64xf16>
    tile.yield %ta, %tb : tensor<64x64xf16>, tensor<64x64xf16>
  } : tensor<64x64xf32>
  %y = tile.contract %n, %zeros {
  ^bb0(%s: i64):
    %at = arith.muli %s, %c64 : i64
    %aa = tile.access %a, %at steps(%c64, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
    %ta = tile.load %aa : !tile.access<64x64xf16> -> tensor<64x64xf16>
    %ab = tile.access %b, %at steps(%c1, %c64) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
    %tb = tile.load %ab : !tile.access<64x64xf16> -> tensor<64x64xf16>
    tile.yield %ta, %tb : tensor<64x64xf16>, tensor<64x64xf16>
  } : tensor<64x64xf32>
  %ao = tile.access %o, %c0 steps(%c64, %c1) bounds [0, 0]() : <f32>, (i64, i64), () -> <64x64xf32>
  tile.store %ao, %x : !tile.access<64x64xf32>, tensor<64x64xf32>
  %ay = tile.access %o, %c64 steps(%c64, %c1) bounds [0, 0]() : <f32>, (i64, i64), () -> <64x64xf32>
  tile.store %ay, %y : !tile.access<64x64xf32>, tensor<64x64xf32>
  tile.return
}

// One that starts from the other's result has a loop of its own.
// CHECK-LABEL: tile.kernel @one_behind_the_other
// CHECK: %[[FIRST:.*]] = scf.for
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %[[FIRST]])
tile.kernel @one_behind_the_other(%a: !tile.ptr<f16>, %o: !tile.ptr<f32>, %n: i64) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c64 = arith.constant 64 : i64
  %zeros = arith.constant dense<0.0> : tensor<64x64xf32>
  %x = tile.contract %n, %zeros {
  ^bb0(%s: i64):
    %aa = tile.access %a, %s steps(%c64, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
    %ta = tile.load %aa : !tile.access<64x64xf16> -> tensor<64x64xf16>
    tile.yield %ta, %ta : tensor<64x64xf16>, tensor<64x64xf16>
  } : tensor<64x64xf32>
  %y = tile.contract %n, %x {
  ^bb0(%s: i64):
    %aa = tile.access %a, %s steps(%c1, %c64) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
    %ta = tile.load %aa : !tile.access<64x64xf16> -> tensor<64x64xf16>
    tile.yield %ta, %ta : tensor<64x64xf16>, tensor<64x64xf16>
  } : tensor<64x64xf32>
  %ao = tile.access %o, %c0 steps(%c64, %c1) bounds [0, 0]() : <f32>, (i64, i64), () -> <64x64xf32>
  tile.store %ao, %y : !tile.access<64x64xf32>, tensor<64x64xf32>
  tile.return
}

// A product alone stays whole.
// CHECK-LABEL: tile.kernel @alone
// CHECK: tile.contract
// CHECK-NOT: scf.for
tile.kernel @alone(%a: !tile.ptr<f16>, %o: !tile.ptr<f32>, %n: i64) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c64 = arith.constant 64 : i64
  %zeros = arith.constant dense<0.0> : tensor<64x64xf32>
  %x = tile.contract %n, %zeros {
  ^bb0(%s: i64):
    %aa = tile.access %a, %s steps(%c64, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
    %ta = tile.load %aa : !tile.access<64x64xf16> -> tensor<64x64xf16>
    tile.yield %ta, %ta : tensor<64x64xf16>, tensor<64x64xf16>
  } : tensor<64x64xf32>
  %ao = tile.access %o, %c0 steps(%c64, %c1) bounds [0, 0]() : <f32>, (i64, i64), () -> <64x64xf32>
  tile.store %ao, %x : !tile.access<64x64xf32>, tensor<64x64xf32>
  tile.return
}
