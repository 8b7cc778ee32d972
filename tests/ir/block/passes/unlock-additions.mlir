// RUN: tilery-opt %s -pass-pipeline='builtin.module(tile.kernel(unlock-additions))' | FileCheck %s
// What is added to a tile of memory under a lock, and nothing besides, is added without it. Rows that begin again behind the last are apart
// where the mask ends before they do.

// CHECK-LABEL: tile.kernel @adds
// CHECK-NOT: atomic_cas
// CHECK: %[[PLACE:.*]] = tile.access %arg0
// CHECK-NOT: tile.load
// CHECK: tile.atomic_rmw fadd %[[PLACE]], %arg4 {order = 0 : i32}
// CHECK-NOT: exchange
// CHECK: tile.return
tile.kernel @adds(%a: !tile.ptr<f32>, %lock: !tile.ptr<i32>, %rows: i32, %stride: i64, %x: tensor<64x32xf32>) {
  %c0_i32 = arith.constant 0 : i32
  %c1_i32 = arith.constant 1 : i32
  %c64_i32 = arith.constant 64 : i32
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %zeros = arith.constant dense<0.0> : tensor<64x32xf32>
  %program = tile.program_id 0
  %first = arith.muli %program, %c64_i32 overflow<nsw> : i32
  %range = tile.range 0 to 64 : tensor<64xi32>
  %start = tile.splat %first : i32 -> tensor<64xi32>
  %numbers = arith.addi %start, %range overflow<nsw> : tensor<64xi32>
  %end = tile.splat %rows : i32 -> tensor<64xi32>
  %wrapped = tile.rem trunc %numbers, %end : tensor<64xi32>
  %wide = arith.extsi %wrapped : tensor<64xi32> to tensor<64xi64>
  %strides = tile.splat %stride : i64 -> tensor<64xi64>
  %steps = arith.muli %wide, %strides overflow<nsw> : tensor<64xi64>
  %wideRows = arith.extsi %rows : i32 to i64
  %wideFirst = arith.extsi %first : i32 to i64
  %left = arith.subi %wideRows, %wideFirst overflow<nsw> : i64
  %at = tile.access %lock, %c0 steps() bounds []() : <i32>, (), () -> <i32>
  scf.while : () -> () {
    %old = tile.atomic_cas %at, %c0_i32, %c1_i32 : !tile.access<i32>, i32 -> i32
    %held = arith.cmpi eq, %old, %c1_i32 : i32
    scf.condition(%held)
  } do {
    scf.yield
  }
  %place = tile.access %a, %c0 steps(%steps, %c1) bounds [1, 0](%c0, %left) : <f32>, (tensor<64xi64>, i64), (i64, i64) -> <64x32xf32>
  %memory = tile.load %place other %zeros : tensor<64x32xf32> : !tile.access<64x32xf32> -> tensor<64x32xf32>
  %sum = arith.addf %x, %memory : tensor<64x32xf32>
  tile.store %place, %sum : !tile.access<64x32xf32>, tensor<64x32xf32>
  %free = tile.atomic_rmw exchange %at, %c0_i32 : !tile.access<i32>, i32 -> i32
  tile.return
}

// Rows that begin again may lie in one place; so do lanes of a step of 0, of which one store is left.
// CHECK-LABEL: tile.kernel @again
// CHECK: atomic_cas
// CHECK: tile.store
tile.kernel @again(%a: !tile.ptr<f32>, %lock: !tile.ptr<i32>, %rows: i32, %x: tensor<64xf32>) {
  %c0_i32 = arith.constant 0 : i32
  %c1_i32 = arith.constant 1 : i32
  %c0 = arith.constant 0 : i64
  %range = tile.range 0 to 64 : tensor<64xi32>
  %end = tile.splat %rows : i32 -> tensor<64xi32>
  %wrapped = tile.rem trunc %range, %end : tensor<64xi32>
  %steps = arith.extsi %wrapped : tensor<64xi32> to tensor<64xi64>
  %at = tile.access %lock, %c0 steps() bounds []() : <i32>, (), () -> <i32>
  scf.while : () -> () {
    %old = tile.atomic_cas %at, %c0_i32, %c1_i32 : !tile.access<i32>, i32 -> i32
    %held = arith.cmpi ne, %old, %c0_i32 : i32
    scf.condition(%held)
  } do {
    scf.yield
  }
  %place = tile.access %a, %c0 steps(%steps) bounds [0]() : <f32>, (tensor<64xi64>), () -> <64xf32>
  %memory = tile.load %place : !tile.access<64xf32> -> tensor<64xf32>
  %sum = arith.addf %x, %memory : tensor<64xf32>
  tile.store %place, %sum : !tile.access<64xf32>, tensor<64xf32>
  %free = tile.atomic_rmw exchange %at, %c0_i32 : !tile.access<i32>, i32 -> i32
  tile.return
}

// CHECK-LABEL: tile.kernel @still
// CHECK: atomic_cas
// CHECK: tile.store
tile.kernel @still(%a: !tile.ptr<f32>, %lock: !tile.ptr<i32>, %x: tensor<64xf32>) {
  %c0_i32 = arith.constant 0 : i32
  %c1_i32 = arith.constant 1 : i32
  %c0 = arith.constant 0 : i64
  %at = tile.access %lock, %c0 steps() bounds []() : <i32>, (), () -> <i32>
  scf.while : () -> () {
    %old = tile.atomic_cas %at, %c0_i32, %c1_i32 : !tile.access<i32>, i32 -> i32
    %held = arith.cmpi eq, %old, %c1_i32 : i32
    scf.condition(%held)
  } do {
    scf.yield
  }
  %place = tile.access %a, %c0 steps(%c0) bounds [0]() : <f32>, (i64), () -> <64xf32>
  %memory = tile.load %place : !tile.access<64xf32> -> tensor<64xf32>
  %sum = arith.addf %x, %memory : tensor<64xf32>
  tile.store %place, %sum : !tile.access<64xf32>, tensor<64xf32>
  %free = tile.atomic_rmw exchange %at, %c0_i32 : !tile.access<i32>, i32 -> i32
  tile.return
}

// A number beside the tile, under the same lock; what is added to is read elsewhere; a lock that is not given back with what it was free by.
// CHECK-LABEL: tile.kernel @counts
// CHECK: atomic_cas
// CHECK: tile.store
tile.kernel @counts(%a: !tile.ptr<f32>, %lock: !tile.ptr<i32>, %count: !tile.ptr<i32>, %x: tensor<64xf32>) {
  %c0_i32 = arith.constant 0 : i32
  %c1_i32 = arith.constant 1 : i32
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %at = tile.access %lock, %c0 steps() bounds []() : <i32>, (), () -> <i32>
  %number = tile.access %count, %c0 steps() bounds []() : <i32>, (), () -> <i32>
  scf.while : () -> () {
    %old = tile.atomic_cas %at, %c0_i32, %c1_i32 : !tile.access<i32>, i32 -> i32
    %held = arith.cmpi eq, %old, %c1_i32 : i32
    scf.condition(%held)
  } do {
    scf.yield
  }
  %place = tile.access %a, %c0 steps(%c1) bounds [0]() : <f32>, (i64), () -> <64xf32>
  %memory = tile.load %place : !tile.access<64xf32> -> tensor<64xf32>
  %sum = arith.addf %x, %memory : tensor<64xf32>
  tile.store %place, %sum : !tile.access<64xf32>, tensor<64xf32>
  tile.store %number, %c1_i32 : !tile.access<i32>, i32
  %free = tile.atomic_rmw exchange %at, %c0_i32 : !tile.access<i32>, i32 -> i32
  tile.return
}

// CHECK-LABEL: tile.kernel @reads
// CHECK: atomic_cas
// CHECK: tile.store
tile.kernel @reads(%a: !tile.ptr<f32>, %lock: !tile.ptr<i32>, %b: !tile.ptr<f32>, %x: tensor<64xf32>) {
  %c0_i32 = arith.constant 0 : i32
  %c1_i32 = arith.constant 1 : i32
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %at = tile.access %lock, %c0 steps() bounds []() : <i32>, (), () -> <i32>
  scf.while : () -> () {
    %old = tile.atomic_cas %at, %c0_i32, %c1_i32 : !tile.access<i32>, i32 -> i32
    %held = arith.cmpi eq, %old, %c1_i32 : i32
    scf.condition(%held)
  } do {
    scf.yield
  }
  %place = tile.access %a, %c0 steps(%c1) bounds [0]() : <f32>, (i64), () -> <64xf32>
  %memory = tile.load %place : !tile.access<64xf32> -> tensor<64xf32>
  %sum = arith.addf %x, %memory : tensor<64xf32>
  tile.store %place, %sum : !tile.access<64xf32>, tensor<64xf32>
  %free = tile.atomic_rmw exchange %at, %c0_i32 : !tile.access<i32>, i32 -> i32
  %result = tile.access %b, %c0 steps(%c1) bounds [0]() : <f32>, (i64), () -> <64xf32>
  %all = tile.load %place : !tile.access<64xf32> -> tensor<64xf32>
  tile.store %result, %all : !tile.access<64xf32>, tensor<64xf32>
  tile.return
}

// CHECK-LABEL: tile.kernel @kept
// CHECK: atomic_cas
// CHECK: tile.store
tile.kernel @kept(%a: !tile.ptr<f32>, %lock: !tile.ptr<i32>, %x: tensor<64xf32>) {
  %c0_i32 = arith.constant 0 : i32
  %c1_i32 = arith.constant 1 : i32
  %c2_i32 = arith.constant 2 : i32
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %at = tile.access %lock, %c0 steps() bounds []() : <i32>, (), () -> <i32>
  scf.while : () -> () {
    %old = tile.atomic_cas %at, %c0_i32, %c1_i32 : !tile.access<i32>, i32 -> i32
    %held = arith.cmpi eq, %old, %c1_i32 : i32
    scf.condition(%held)
  } do {
    scf.yield
  }
  %place = tile.access %a, %c0 steps(%c1) bounds [0]() : <f32>, (i64), () -> <64xf32>
  %memory = tile.load %place : !tile.access<64xf32> -> tensor<64xf32>
  %sum = arith.addf %x, %memory : tensor<64xf32>
  tile.store %place, %sum : !tile.access<64xf32>, tensor<64xf32>
  %free = tile.atomic_rmw exchange %at, %c2_i32 : !tile.access<i32>, i32 -> i32
  tile.return
}
