// RUN: tilery-opt %s -pass-pipeline='builtin.module(tile.kernel(open-extracts))' | FileCheck %s

// A lane of what is computed from a loaded tile is a number that is loaded: 0 outside of the tile, and where the tile's bounds leave it out.
// CHECK-LABEL: tile.kernel @lane
// CHECK-NOT: tile.extract
// CHECK: %[[IN:.*]] = arith.andi
// CHECK: scf.if %[[IN]] -> (i8)
// CHECK: scf.if %{{.*}} -> (i8)
// CHECK: tile.load %{{.*}} : !tile.access<i8> -> i8
// CHECK: arith.cmpi ne, %{{.*}}, %{{.*}} : i8
tile.kernel @lane(%mask: !tile.ptr<i8>, %n: i64, %k: i64, %o: !tile.ptr<i8>) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %none = arith.constant dense<0> : tensor<8xi8>
  %p = tile.access %mask, %n steps(%c1) bounds [1](%c0, %n) : <i8>, (i64), (i64, i64) -> <8xi8>
  %row = tile.load %p : !tile.access<8xi8> -> tensor<8xi8>
  %set = arith.cmpi ne, %row, %none : tensor<8xi8>
  %wide = arith.extui %set : tensor<8xi1> to tensor<8xi8>
  %one = tile.extract %wide[%k] : tensor<8xi8>, i64 -> i8
  %q = tile.access %o, %c0 steps() bounds []() : <i8>, (), () -> <i8>
  tile.store %q, %one : !tile.access<i8>, i8
  tile.return
}

// What the kernel stores may change what is loaded later.
// CHECK-LABEL: tile.kernel @stored
// CHECK: tile.extract
tile.kernel @stored(%mask: !tile.ptr<i8>, %k: i64) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %p = tile.access %mask, %c0 steps(%c1) bounds [0]() : <i8>, (i64), () -> <8xi8>
  %row = tile.load %p : !tile.access<8xi8> -> tensor<8xi8>
  %q = tile.access %mask, %c1 steps() bounds []() : <i8>, (), () -> <i8>
  %one = tile.extract %row[%k] : tensor<8xi8>, i64 -> i8
  tile.store %q, %one : !tile.access<i8>, i8
  tile.return
}

// Nothing of it is loaded.
// CHECK-LABEL: tile.kernel @computed
// CHECK: tile.extract
tile.kernel @computed(%o: !tile.ptr<i32>, %k: i64) {
  %c0 = arith.constant 0 : i64
  %range = tile.range 0 to 8 : tensor<8xi32>
  %one = tile.extract %range[%k] : tensor<8xi32>, i64 -> i32
  %q = tile.access %o, %c0 steps() bounds []() : <i32>, (), () -> <i32>
  tile.store %q, %one : !tile.access<i32>, i32
  tile.return
}

// A tile of one lane that a number became is the number again.
// CHECK-LABEL: tile.kernel @total
// CHECK: %[[TOTAL:.*]] = tile.reduce
// CHECK-NOT: tile.reshape
// CHECK-NOT: tile.extract
// CHECK: %[[TWICE:.*]] = arith.addf %[[TOTAL]], %[[TOTAL]] : f32
// CHECK: tile.splat %[[TWICE]]
tile.kernel @total(%x: !tile.ptr<f32>) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %place = tile.access %x, %c0 steps(%c1) bounds [0]() : <f32>, (i64), () -> <64xf32>
  %line = tile.load %place : !tile.access<64xf32> -> tensor<64xf32>
  %sum = tile.reduce %line axis 0 {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  } : tensor<64xf32> -> f32
  %one = tile.reshape %sum : f32 -> tensor<1xf32>
  %twice = arith.addf %one, %one : tensor<1xf32>
  %number = tile.extract %twice[%c0] : tensor<1xf32>, i64 -> f32
  %all = tile.splat %number : f32 -> tensor<64xf32>
  tile.store %place, %all : !tile.access<64xf32>, tensor<64xf32>
  tile.return
}
