// RUN: tilery-translate --disjoint --target=avx512 --print=plan %s | FileCheck %s
// RUN: tilery-translate --disjoint --target=sm_90a --print=plan %s | FileCheck %s
// RUN: tilery-translate --disjoint --target=sm_90a --print=asm %s | FileCheck %s --check-prefix=PTX

// What is computed of the first sum comes behind the nest: the second sum is taken in the same walk, and threads meet once for both.
// CHECK: nest 4096
// CHECK-NEXT: reduce
// CHECK-NEXT: reduce
// CHECK-NEXT: arith.divf
// CHECK-NEXT: arith.divf
// CHECK-NEXT: nest 4096
// CHECK-NEXT: store

// PTX: .entry two_sums
// PTX-COUNT-1: bar.sync
// PTX-NOT: bar.sync
module {
  tile.kernel @two_sums(%x: !tile.ptr<f32> {tile.divisibility = 16 : i64}, %out: !tile.ptr<f32> {tile.divisibility = 16 : i64}, %n: f32) {
    %zero = arith.constant 0 : i64
    %one = arith.constant 1 : i64
    %from = tile.access %x, %zero steps(%one) bounds [0] () : !tile.ptr<f32>, (i64), () -> !tile.access<4096xf32>
    %to = tile.access %out, %zero steps(%one) bounds [0] () : !tile.ptr<f32>, (i64), () -> !tile.access<4096xf32>
    %row = tile.load %from : !tile.access<4096xf32> -> tensor<4096xf32>
    %sum = tile.reduce %row axis 0 {
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tile.yield %c : f32
    } : tensor<4096xf32> -> f32
    %mean = arith.divf %sum, %n : f32
    %squares = arith.mulf %row, %row : tensor<4096xf32>
    %sum2 = tile.reduce %squares axis 0 {
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tile.yield %c : f32
    } : tensor<4096xf32> -> f32
    %mean2 = arith.divf %sum2, %n : f32
    %t = tile.splat %mean : f32 -> tensor<4096xf32>
    %t2 = tile.splat %mean2 : f32 -> tensor<4096xf32>
    %d = arith.subf %row, %t : tensor<4096xf32>
    %e = arith.mulf %d, %t2 : tensor<4096xf32>
    tile.store %to, %e : !tile.access<4096xf32>, tensor<4096xf32>
    tile.return
  }
}
