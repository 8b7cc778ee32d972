// RUN: tilery-opt %s -pass-pipeline='builtin.module(tile.kernel(open-returns))' | FileCheck %s

// A branch around all products, which nothing stands behind, is an early return.
// CHECK-LABEL: tile.kernel @early
// CHECK: %[[NONE:.*]] = arith.cmpi sge
// CHECK-NEXT: block.return_if %[[NONE]]
// CHECK-NOT: scf.if
// CHECK: tile.dot
// CHECK: tile.dot
// CHECK: tile.store
// CHECK-NEXT: tile.return
tile.kernel @early(%a: !tile.ptr<f16>, %lengths: !tile.ptr<i32>, %o: !tile.ptr<f32>) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c64 = arith.constant 64 : i64
  %zeros = arith.constant dense<0.0> : tensor<64x64xf32>
  %x = tile.program_id 0
  %al = tile.access %lengths, %c0 steps() bounds []() : <i32>, (), () -> <i32>
  %length = tile.load %al : !tile.access<i32> -> i32
  %none = arith.cmpi sge, %x, %length : i32
  scf.if %none {
  } else {
    %aa = tile.access %a, %c0 steps(%c64, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
    %ta = tile.load %aa : !tile.access<64x64xf16> -> tensor<64x64xf16>
    %s = tile.dot %ta, %ta, %zeros : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    %h = arith.truncf %s : tensor<64x64xf32> to tensor<64x64xf16>
    %r = tile.dot %h, %ta, %zeros : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    %ao = tile.access %o, %c0 steps(%c64, %c1) bounds [0, 0]() : <f32>, (i64, i64), () -> <64x64xf32>
    tile.store %ao, %r : !tile.access<64x64xf32>, tensor<64x64xf32>
  }
  tile.return
}

// CHECK-LABEL: tile.kernel @where_it_holds
// CHECK: %[[SOME:.*]] = arith.cmpi slt
// CHECK: %[[NONE:.*]] = arith.xori %[[SOME]], %true
// CHECK-NEXT: block.return_if %[[NONE]]
// CHECK: tile.dot
// CHECK-NOT: scf.if
tile.kernel @where_it_holds(%a: !tile.ptr<f16>, %n: i32, %o: !tile.ptr<f32>) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c64 = arith.constant 64 : i64
  %zeros = arith.constant dense<0.0> : tensor<64x64xf32>
  %x = tile.program_id 0
  %some = arith.cmpi slt, %x, %n : i32
  scf.if %some {
    %aa = tile.access %a, %c0 steps(%c64, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
    %ta = tile.load %aa : !tile.access<64x64xf16> -> tensor<64x64xf16>
    %s = tile.dot %ta, %ta, %zeros : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    %r = tile.dot %ta, %ta, %s : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    %ao = tile.access %o, %c0 steps(%c64, %c1) bounds [0, 0]() : <f32>, (i64, i64), () -> <64x64xf32>
    tile.store %ao, %r : !tile.access<64x64xf32>, tensor<64x64xf32>
  }
  tile.return
}

// What is done in any case, a product alone, and branches of two sides stay.
// CHECK-LABEL: tile.kernel @stores_before
// CHECK: scf.if
// CHECK-NOT: block.return_if
tile.kernel @stores_before(%a: !tile.ptr<f16>, %n: i32, %o: !tile.ptr<f32>) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c64 = arith.constant 64 : i64
  %zeros = arith.constant dense<0.0> : tensor<64x64xf32>
  %x = tile.program_id 0
  %some = arith.cmpi slt, %x, %n : i32
  %ao = tile.access %o, %c0 steps(%c64, %c1) bounds [0, 0]() : <f32>, (i64, i64), () -> <64x64xf32>
  tile.store %ao, %zeros : !tile.access<64x64xf32>, tensor<64x64xf32>
  scf.if %some {
    %aa = tile.access %a, %c0 steps(%c64, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
    %ta = tile.load %aa : !tile.access<64x64xf16> -> tensor<64x64xf16>
    %s = tile.dot %ta, %ta, %zeros : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    %r = tile.dot %ta, %ta, %s : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    tile.store %ao, %r : !tile.access<64x64xf32>, tensor<64x64xf32>
  }
  tile.return
}
// CHECK-LABEL: tile.kernel @one_product
// CHECK: scf.if
// CHECK-NOT: block.return_if
tile.kernel @one_product(%a: !tile.ptr<f16>, %n: i32, %o: !tile.ptr<f32>) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c64 = arith.constant 64 : i64
  %zeros = arith.constant dense<0.0> : tensor<64x64xf32>
  %x = tile.program_id 0
  %some = arith.cmpi slt, %x, %n : i32
  scf.if %some {
    %aa = tile.access %a, %c0 steps(%c64, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
    %ta = tile.load %aa : !tile.access<64x64xf16> -> tensor<64x64xf16>
    %s = tile.dot %ta, %ta, %zeros : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    %ao = tile.access %o, %c0 steps(%c64, %c1) bounds [0, 0]() : <f32>, (i64, i64), () -> <64x64xf32>
    tile.store %ao, %s : !tile.access<64x64xf32>, tensor<64x64xf32>
  }
  tile.return
}
// CHECK-LABEL: tile.kernel @two_sides
// CHECK: scf.if
// CHECK-NOT: block.return_if
tile.kernel @two_sides(%a: !tile.ptr<f16>, %n: i32, %o: !tile.ptr<f32>) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c64 = arith.constant 64 : i64
  %zeros = arith.constant dense<0.0> : tensor<64x64xf32>
  %x = tile.program_id 0
  %some = arith.cmpi slt, %x, %n : i32
  %ao = tile.access %o, %c0 steps(%c64, %c1) bounds [0, 0]() : <f32>, (i64, i64), () -> <64x64xf32>
  scf.if %some {
    %aa = tile.access %a, %c0 steps(%c64, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
    %ta = tile.load %aa : !tile.access<64x64xf16> -> tensor<64x64xf16>
    %s = tile.dot %ta, %ta, %zeros : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    %r = tile.dot %ta, %ta, %s : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    tile.store %ao, %r : !tile.access<64x64xf32>, tensor<64x64xf32>
  } else {
    tile.store %ao, %zeros : !tile.access<64x64xf32>, tensor<64x64xf32>
  }
  tile.return
}
