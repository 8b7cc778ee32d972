// RUN: tilery-translate --disjoint --target=avx2 --print=llvm %s | FileCheck %s
// RUN: tilery-translate --disjoint --target=sm_80 --print=llvm %s | FileCheck %s
// The lowest bit of a number that a factor's place hangs on is no condition that always holds.

// CHECK-LABEL: define {{.*}}@halves
// CHECK: and i{{[0-9]+}} %{{.*}}, 4096
tile.kernel @halves(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>, %o: !tile.ptr<f32>, %numbers: !tile.ptr<i32>) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %width = arith.constant 32 : i64
  %half = arith.constant 4096 : i64
  %bit = arith.constant 1 : i32
  %none = arith.constant dense<0.0> : tensor<32x32xf32>
  %number = tile.access %numbers, %zero steps() bounds []() : <i32>, (), () -> <i32>
  %n = tile.load %number : !tile.access<i32> -> i32
  %low = arith.andi %n, %bit : i32
  %wide = arith.extsi %low : i32 to i64
  %at = arith.muli %wide, %half overflow<nsw> : i64
  %a = tile.access %x, %at steps(%width, %one) bounds [0, 0]() : <f32>, (i64, i64), () -> <32x32xf32>
  %left = tile.load %a : !tile.access<32x32xf32> -> tensor<32x32xf32>
  %b = tile.access %y, %zero steps(%width, %one) bounds [0, 0]() : <f32>, (i64, i64), () -> <32x32xf32>
  %right = tile.load %b : !tile.access<32x32xf32> -> tensor<32x32xf32>
  %s = tile.dot %left, %right, %none {precision = 1 : i32} : tensor<32x32xf32>, tensor<32x32xf32> -> tensor<32x32xf32>
  %c = tile.access %o, %zero steps(%width, %one) bounds [0, 0]() : <f32>, (i64, i64), () -> <32x32xf32>
  tile.store %c, %s : !tile.access<32x32xf32>, tensor<32x32xf32>
  tile.return
}
