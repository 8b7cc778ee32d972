// RUN: tilery-opt %s | tilery-opt | FileCheck %s
// CHECK-LABEL: tile.kernel @shapes
tile.kernel @shapes(%s: f32, %i: i32) {
  // CHECK: tile.range 3 to 10 : tensor<7xi32>
  %range = tile.range 3 to 10 : tensor<7xi32>
  // CHECK: tile.splat %{{.*}} : f32 -> tensor<7x2xf32>
  %splat = tile.splat %s : f32 -> tensor<7x2xf32>
  // CHECK: tile.expand_dims %{{.*}} axis 1 : tensor<7xi32> -> tensor<7x1xi32>
  %column = tile.expand_dims %range axis 1 : tensor<7xi32> -> tensor<7x1xi32>
  // CHECK: tile.broadcast %{{.*}} : tensor<7x1xi32> -> tensor<7x3xi32>
  %wide = tile.broadcast %column : tensor<7x1xi32> -> tensor<7x3xi32>
  // CHECK: tile.reshape %{{.*}} : tensor<7x3xi32> -> tensor<21xi32>
  %flat = tile.reshape %wide : tensor<7x3xi32> -> tensor<21xi32>
  // CHECK: tile.reshape %{{.*}} : f32 -> tensor<1x1xf32>
  %one = tile.reshape %s : f32 -> tensor<1x1xf32>
  // CHECK: tile.reshape %{{.*}} : tensor<1x1xf32> -> f32
  %back = tile.reshape %one : tensor<1x1xf32> -> f32
  // CHECK: tile.permute %{{.*}} [1, 0] : tensor<7x3xi32> -> tensor<3x7xi32>
  %turned = tile.permute %wide [1, 0] : tensor<7x3xi32> -> tensor<3x7xi32>
  // CHECK: tile.join %{{.*}}, %{{.*}} : tensor<7xi32>, tensor<7xi32> -> tensor<7x2xi32>
  %pairs = tile.join %range, %range : tensor<7xi32>, tensor<7xi32> -> tensor<7x2xi32>
  // CHECK: tile.join %{{.*}}, %{{.*}} : f32, f32 -> tensor<2xf32>
  %pair = tile.join %s, %s : f32, f32 -> tensor<2xf32>
  // CHECK: tile.split %{{.*}} : tensor<7x2xi32> -> tensor<7xi32>, tensor<7xi32>
  %left, %right = tile.split %pairs : tensor<7x2xi32> -> tensor<7xi32>, tensor<7xi32>
  // CHECK: tile.split %{{.*}} : tensor<2xf32> -> f32, f32
  %a, %b = tile.split %pair : tensor<2xf32> -> f32, f32
  // CHECK: tile.cat %{{.*}}, %{{.*}} axis 1 : tensor<7x2xi32>, tensor<7x3xi32> -> tensor<7x5xi32>
  %cat = tile.cat %pairs, %wide axis 1 : tensor<7x2xi32>, tensor<7x3xi32> -> tensor<7x5xi32>
  %index = arith.constant dense<[[0], [6], [-1]]> : tensor<3x1xi64>
  // CHECK: tile.take %{{.*}}, %{{.*}} axis 0 : tensor<7x1xi32>, tensor<3x1xi64> -> tensor<3x1xi32>
  %take = tile.take %column, %index axis 0 : tensor<7x1xi32>, tensor<3x1xi64> -> tensor<3x1xi32>
  // CHECK: tile.extract %{{.*}}[%{{.*}}, %{{.*}}] : tensor<7x3xi32>, i32, i32 -> i32
  %lane = tile.extract %wide[%i, %i] : tensor<7x3xi32>, i32, i32 -> i32
  // CHECK: tile.sort %{{.*}} axis 1 {descending} : tensor<7x2xf32> -> tensor<7x2xf32>
  %sorted = tile.sort %splat axis 1 {descending} : tensor<7x2xf32> -> tensor<7x2xf32>
  // CHECK: tile.sort %{{.*}} axis 0 : tensor<7x2xf32> -> tensor<3x2xf32>
  %least = tile.sort %splat axis 0 : tensor<7x2xf32> -> tensor<3x2xf32>
  tile.return
}
