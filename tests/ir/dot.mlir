// RUN: tilery-opt %s | tilery-opt | FileCheck %s
// CHECK-LABEL: tile.kernel @dots
tile.kernel @dots(%p: !tile.ptr<f16>, %n: i64, %clear: i1) {
  %a = arith.constant dense<1.0> : tensor<4x8xf16>
  %b = arith.constant dense<1.0> : tensor<8x6xf16>
  %c = arith.constant dense<0.0> : tensor<4x6xf32>
  // CHECK: tile.dot %{{.*}}, %{{.*}}, %{{.*}} : tensor<4x8xf16>, tensor<8x6xf16> -> tensor<4x6xf32>
  %0 = tile.dot %a, %b, %c : tensor<4x8xf16>, tensor<8x6xf16> -> tensor<4x6xf32>
  // CHECK: tile.dot %{{.*}}, %{{.*}}, %{{.*}} clear %{{.*}} {precision = 1 : i32}
  %1 = tile.dot %a, %b, %c clear %clear {precision = 1 : i32} : tensor<4x8xf16>, tensor<8x6xf16> -> tensor<4x6xf32>
  // CHECK: tile.dot %{{.*}}, %{{.*}}, %{{.*}} clear %{{.*}} live[%{{.*}}, %{{.*}}] : tensor<4x8xf16>
  %part = tile.dot %a, %b, %c clear %clear live [%n, %n] : tensor<4x8xf16>, tensor<8x6xf16> -> tensor<4x6xf32>
  %x = arith.constant dense<1> : tensor<2x4x8xi8>
  %y = arith.constant dense<1> : tensor<2x8x3xi8>
  %z = arith.constant dense<1> : tensor<2x4x3xi32>
  // CHECK: tile.dot %{{.*}}, %{{.*}}, %{{.*}} {a_unsigned} : tensor<2x4x8xi8>, tensor<2x8x3xi8> -> tensor<2x4x3xi32>
  %2 = tile.dot %x, %y, %z {a_unsigned} : tensor<2x4x8xi8>, tensor<2x8x3xi8> -> tensor<2x4x3xi32>
  // CHECK: tile.contract %{{.*}}, %{{.*}} {
  %3 = tile.contract %n, %c {
  ^bb0(%step: i64):
    %pa = tile.access %p, %step steps(%n, %n) bounds [0, 0]() : !tile.ptr<f16>, (i64, i64), () -> !tile.access<4x8xf16>
    %ta = tile.load %pa : !tile.access<4x8xf16> -> tensor<4x8xf16>
    // CHECK: tile.yield %{{.*}}, %{{.*}} : tensor<4x8xf16>, tensor<8x6xf16>
    tile.yield %ta, %b : tensor<4x8xf16>, tensor<8x6xf16>
  // CHECK: } : tensor<4x6xf32>
  } : tensor<4x6xf32>
  // CHECK: tile.contract %{{.*}}, %{{.*}} live[%{{.*}}, %{{.*}}] {
  %4 = tile.contract %n, %c live [%n, %n] {
  ^bb0(%step: i64):
    tile.yield %a, %b : tensor<4x8xf16>, tensor<8x6xf16>
  } : tensor<4x6xf32>
  tile.return
}
