// RUN: tilery-opt %s | tilery-opt | FileCheck %s
// CHECK-LABEL: tile.kernel @arith
tile.kernel @arith(%a: i32, %b: i32, %f: f32) {
  // CHECK: tile.div trunc %{{.*}}, %{{.*}} : i32
  %0 = tile.div trunc %a, %b : i32
  // CHECK: tile.div floor
  %1 = tile.div floor %a, %b : i32
  // CHECK: tile.rem unsigned
  %2 = tile.rem unsigned %a, %b : i32
  // CHECK: tile.shift right_signed
  %3 = tile.shift right_signed %a, %b : i32
  // CHECK: tile.shift left %{{.*}}, %{{.*}} : tensor<4xi8>
  %bytes = arith.constant dense<1> : tensor<4xi8>
  %4 = tile.shift left %bytes, %bytes : tensor<4xi8>
  // CHECK: tile.fp_to_int %{{.*}} {is_unsigned} : f32 -> i8
  %5 = tile.fp_to_int %f {is_unsigned} : f32 -> i8
  // CHECK: tile.mul_high
  %6 = tile.mul_high %a, %b : i32
  tile.return
}
