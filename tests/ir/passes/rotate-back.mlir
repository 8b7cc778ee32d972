// RUN: tilery-opt %s --rotate-back --canonicalize --cse --split-input-file | FileCheck %s

// A turn loads for the next one, under a branch that the last turn does not take: each loads for itself.
// CHECK-LABEL: tile.kernel @under_a_branch
// CHECK-NOT:     tile.load
// CHECK:         scf.for %[[K:.*]] = %{{.*}} iter_args(%[[SUM:.*]] = %{{.*}}) -> (tensor<16x16xf32>)
// CHECK-NOT:       scf.if
// CHECK:           %[[T:.*]] = tile.load
// CHECK:           %[[D:.*]] = tile.dot %{{.*}}, %[[T]], %[[SUM]]
// CHECK:           scf.yield %[[D]]
tile.kernel @under_a_branch(%in: !tile.ptr<f16>, %out: !tile.access<16x16xf32>, %a: tensor<16x16xf16>, %n: i32, %m: i64) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %c16 = arith.constant 16 : i64
  %step = arith.constant 1 : i64
  %first = arith.constant 0 : i64
  %none = arith.constant dense<0.0> : tensor<16x16xf32>
  %from = tile.root %in[%m, %c16] strides [%c16, %step] : !tile.ptr<f16> -> !tile.root<2xf16>
  %v = tile.view %from[%first, %first] dims [0, 1] dilations [%step, %step] limits [] : !tile.root<2xf16> -> !tile.view<16x16xf16>
  %t = tile.load %v : !tile.view<16x16xf16> -> tensor<16x16xf16>
  %last = arith.subi %n, %one overflow<nsw> : i32
  %r:2 = scf.for %k = %zero to %n step %one iter_args(%sum = %none, %b = %t) -> (tensor<16x16xf32>, tensor<16x16xf16>) : i32 {
    %d = tile.dot %a, %b, %sum {precision = 1 : i32} : tensor<16x16xf16>, tensor<16x16xf16> -> tensor<16x16xf32>
    %more = arith.cmpi slt, %k, %last : i32
    %next = scf.if %more -> (tensor<16x16xf16>) {
      %after = arith.addi %k, %one overflow<nsw> : i32
      %wide = arith.extsi %after : i32 to i64
      %at = arith.muli %wide, %c16 overflow<nsw> : i64
      %w = tile.view %from[%at, %first] dims [0, 1] dilations [%step, %step] limits [] : !tile.root<2xf16> -> !tile.view<16x16xf16>
      %u = tile.load %w : !tile.view<16x16xf16> -> tensor<16x16xf16>
      scf.yield %u : tensor<16x16xf16>
    } else {
      scf.yield %b : tensor<16x16xf16>
    }
    scf.yield %d, %next : tensor<16x16xf32>, tensor<16x16xf16>
  }
  tile.store %out, %r#0 : !tile.access<16x16xf32>, tensor<16x16xf32>
  tile.return
}

// -----

// What every turn loads for the next is there behind the loop, too: of the turn that does not come.
// CHECK-LABEL: tile.kernel @always
// CHECK-NOT:     tile.load
// CHECK:         scf.for
// CHECK:           tile.load
// CHECK:           tile.dot
// CHECK:         arith.maxsi
// CHECK:         %[[T:.*]] = tile.load
// CHECK:         tile.dot %{{.*}}, %[[T]]
tile.kernel @always(%in: !tile.ptr<f16>, %out: !tile.access<16x16xf32>, %a: tensor<16x16xf16>, %n: i32, %m: i64) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %c16 = arith.constant 16 : i64
  %step = arith.constant 1 : i64
  %first = arith.constant 0 : i64
  %none = arith.constant dense<0.0> : tensor<16x16xf32>
  %from = tile.root %in[%m, %c16] strides [%c16, %step] : !tile.ptr<f16> -> !tile.root<2xf16>
  %v = tile.view %from[%first, %first] dims [0, 1] dilations [%step, %step] limits [] : !tile.root<2xf16> -> !tile.view<16x16xf16>
  %t = tile.load %v : !tile.view<16x16xf16> -> tensor<16x16xf16>
  %r:2 = scf.for %k = %zero to %n step %one iter_args(%sum = %none, %b = %t) -> (tensor<16x16xf32>, tensor<16x16xf16>) : i32 {
    %d = tile.dot %a, %b, %sum {precision = 1 : i32} : tensor<16x16xf16>, tensor<16x16xf16> -> tensor<16x16xf32>
    %after = arith.addi %k, %one overflow<nsw> : i32
    %wide = arith.extsi %after : i32 to i64
    %at = arith.muli %wide, %c16 overflow<nsw> : i64
    %w = tile.view %from[%at, %first] dims [0, 1] dilations [%step, %step] limits [] : !tile.root<2xf16> -> !tile.view<16x16xf16>
    %u = tile.load %w : !tile.view<16x16xf16> -> tensor<16x16xf16>
    scf.yield %d, %u : tensor<16x16xf32>, tensor<16x16xf16>
  }
  %e = tile.dot %a, %r#1, %r#0 {precision = 1 : i32} : tensor<16x16xf16>, tensor<16x16xf16> -> tensor<16x16xf32>
  tile.store %out, %e : !tile.access<16x16xf32>, tensor<16x16xf32>
  tile.return
}

// -----

// The first tile is another one.
// CHECK-LABEL: tile.kernel @not_alike
// CHECK:         tile.load
// CHECK:         scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}})
tile.kernel @not_alike(%in: !tile.ptr<f16>, %out: !tile.access<16x16xf32>, %a: tensor<16x16xf16>, %n: i32, %m: i64) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %c16 = arith.constant 16 : i64
  %step = arith.constant 1 : i64
  %first = arith.constant 0 : i64
  %none = arith.constant dense<0.0> : tensor<16x16xf32>
  %from = tile.root %in[%m, %c16] strides [%c16, %step] : !tile.ptr<f16> -> !tile.root<2xf16>
  %v = tile.view %from[%c16, %first] dims [0, 1] dilations [%step, %step] limits [] : !tile.root<2xf16> -> !tile.view<16x16xf16>
  %t = tile.load %v : !tile.view<16x16xf16> -> tensor<16x16xf16>
  %r:2 = scf.for %k = %zero to %n step %one iter_args(%sum = %none, %b = %t) -> (tensor<16x16xf32>, tensor<16x16xf16>) : i32 {
    %d = tile.dot %a, %b, %sum {precision = 1 : i32} : tensor<16x16xf16>, tensor<16x16xf16> -> tensor<16x16xf32>
    %after = arith.addi %k, %one overflow<nsw> : i32
    %wide = arith.extsi %after : i32 to i64
    %at = arith.muli %wide, %c16 overflow<nsw> : i64
    %w = tile.view %from[%at, %first] dims [0, 1] dilations [%step, %step] limits [] : !tile.root<2xf16> -> !tile.view<16x16xf16>
    %u = tile.load %w : !tile.view<16x16xf16> -> tensor<16x16xf16>
    scf.yield %d, %u : tensor<16x16xf32>, tensor<16x16xf16>
  }
  tile.store %out, %r#0 : !tile.access<16x16xf32>, tensor<16x16xf32>
  tile.return
}
