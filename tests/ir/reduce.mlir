// RUN: tilery-opt %s | tilery-opt | FileCheck %s
// CHECK-LABEL: tile.kernel @reductions
tile.kernel @reductions() {
  %x = arith.constant dense<1.0> : tensor<4x8xf32>
  %i = arith.constant dense<1> : tensor<4x8xi32>
  // CHECK: tile.reduce %{{.*}} axis 1 {
  %sum = tile.reduce %x axis 1 {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    // CHECK: tile.yield %{{.*}} : f32
    tile.yield %s : f32
  // CHECK: } : tensor<4x8xf32> -> tensor<4xf32>
  } : tensor<4x8xf32> -> tensor<4xf32>
  // CHECK: tile.reduce %{{.*}}, %{{.*}} axis 0 {
  %max:2 = tile.reduce %x, %i axis 0 {
  ^bb0(%a: f32, %ai: i32, %b: f32, %bi: i32):
    %c = arith.cmpf ogt, %a, %b : f32
    %v = arith.select %c, %a, %b : f32
    %vi = arith.select %c, %ai, %bi : i32
    tile.yield %v, %vi : f32, i32
  // CHECK: } : tensor<4x8xf32>, tensor<4x8xi32> -> tensor<8xf32>, tensor<8xi32>
  } : tensor<4x8xf32>, tensor<4x8xi32> -> tensor<8xf32>, tensor<8xi32>
  // CHECK: tile.reduce %{{.*}} axis 0 {
  %scalar = tile.reduce %sum axis 0 {
  ^bb0(%a: f32, %b: f32):
    %s = arith.mulf %a, %b : f32
    tile.yield %s : f32
  // CHECK: } : tensor<4xf32> -> f32
  } : tensor<4xf32> -> f32
  // CHECK: tile.scan %{{.*}} axis 1 {
  %scan = tile.scan %i axis 1 {
  ^bb0(%a: i32, %b: i32):
    %s = arith.addi %a, %b : i32
    tile.yield %s : i32
  // CHECK: } {reverse} : tensor<4x8xi32> -> tensor<4x8xi32>
  } {reverse} : tensor<4x8xi32> -> tensor<4x8xi32>
  %mask = arith.constant dense<true> : tensor<4x8xi1>
  // CHECK: tile.histogram %{{.*}} mask %{{.*}} : tensor<4x8xi1> : tensor<4x8xi32> -> tensor<16xi32>
  %h = tile.histogram %i mask %mask : tensor<4x8xi1> : tensor<4x8xi32> -> tensor<16xi32>
  tile.return
}
