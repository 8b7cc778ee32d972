// RUN: tilery-translate --disjoint --target=sm_80 --print=plan %s | FileCheck %s
// RUN: tilery-translate --disjoint --target=sm_80 --print=asm %s | FileCheck %s --check-prefix=ASM
// Gathered rows that one product takes turned and another as they lie are loaded once, 16 bytes at a time: a bound that every lane is within
// keeps no lanes apart.

// CHECK-LABEL: plan @scores
// CHECK: scf.for
// CHECK: nest 32 256
// CHECK-NEXT: define
// CHECK-NOT: nest 256 32
// CHECK: tile.dot
// CHECK-NOT: define
// CHECK: tile.dot

// ASM-LABEL: .entry scores
// ASM-NOT: @{{.*}} ld.global.b16
// ASM-COUNT-8: @{{.*}} ld.global.v4.b32
// ASM-NOT: @{{.*}} ld.global.b16
tile.kernel @scores(%q: !tile.ptr<bf16> {tile.divisibility = 16 : i64}, %k: !tile.ptr<bf16> {tile.divisibility = 16 : i64},
                    %rows: !tile.ptr<i32> {tile.divisibility = 16 : i64}, %o: !tile.ptr<f32> {tile.divisibility = 16 : i64},
                    %stride: i64 {tile.divisibility = 16 : i64}, %count: i64, %most: i32) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %width = arith.constant 256 : i64
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c4 = arith.constant 4 : i32
  %none = arith.constant dense<0.0> : tensor<32x32xf32>
  %zeros = arith.constant dense<0.0> : tensor<32x256xf32>
  %limit = arith.constant dense<4096> : tensor<32xi64>
  %end = arith.constant dense<300> : tensor<256xi64>
  %lanes = tile.range 0 to 256 : tensor<256xi32>
  %wide = arith.extsi %lanes : tensor<256xi32> to tensor<256xi64>
  %inside = arith.cmpi ult, %wide, %end : tensor<256xi64>
  %mosts = tile.splat %most : i32 -> tensor<32xi32>
  %strides = tile.splat %stride : i64 -> tensor<32xi64>
  %a = tile.access %q, %zero steps(%width, %one) bounds [0, 0]() : <bf16>, (i64, i64), () -> <32x256xbf16>
  %left = tile.load %a : !tile.access<32x256xbf16> -> tensor<32x256xbf16>
  %a2 = tile.access %q, %width steps(%width, %one) bounds [0, 0]() : <bf16>, (i64, i64), () -> <32x256xbf16>
  %other = tile.load %a2 : !tile.access<32x256xbf16> -> tensor<32x256xbf16>
  %sum = scf.for %i = %c0 to %c4 step %c1 iter_args(%before = %zeros) -> (tensor<32x256xf32>) : i32 {
    %step = arith.extsi %i : i32 to i64
    %at = arith.muli %step, %width overflow<nsw> : i64
    %n = tile.access %rows, %at steps(%one) bounds [1](%zero, %count) : <i32>, (i64), (i64, i64) -> <32xi32>
    %numbers = tile.load %n : !tile.access<32xi32> -> tensor<32xi32>
    %index = arith.extsi %numbers : tensor<32xi32> to tensor<32xi64>
    %places = arith.muli %index, %strides overflow<nsw> : tensor<32xi64>
    %below = arith.cmpi ult, %index, %limit : tensor<32xi64>
    %asked = arith.cmpi sle, %numbers, %mosts : tensor<32xi32>
    %there = arith.andi %below, %asked : tensor<32xi1>
    %b = tile.access %k, %zero steps(%places, %one) bounds [2, 2](%there, %inside) : <bf16>, (tensor<32xi64>, i64), (tensor<32xi1>, tensor<256xi1>) -> <32x256xbf16>
    %keys = tile.load %b : !tile.access<32x256xbf16> -> tensor<32x256xbf16>
    %turned = tile.permute %keys [1, 0] : tensor<32x256xbf16> -> tensor<256x32xbf16>
    %s = tile.dot %left, %turned, %none {precision = 1 : i32} : tensor<32x256xbf16>, tensor<256x32xbf16> -> tensor<32x32xf32>
    %t = tile.dot %other, %turned, %s {precision = 1 : i32} : tensor<32x256xbf16>, tensor<256x32xbf16> -> tensor<32x32xf32>
    %p = arith.truncf %t : tensor<32x32xf32> to tensor<32x32xbf16>
    %next = tile.dot %p, %keys, %before {precision = 1 : i32} : tensor<32x32xbf16>, tensor<32x256xbf16> -> tensor<32x256xf32>
    scf.yield %next : tensor<32x256xf32>
  }
  %c = tile.access %o, %zero steps(%width, %one) bounds [0, 0]() : <f32>, (i64, i64), () -> <32x256xf32>
  tile.store %c, %sum : !tile.access<32x256xf32>, tensor<32x256xf32>
  tile.return
}
