// RUN: tilery-opt %s -split-input-file -verify-diagnostics
tile.kernel @k() {
  %a = arith.constant dense<1.0> : tensor<4x8xf16>
  %b = arith.constant dense<1.0> : tensor<7x6xf16>
  %c = arith.constant dense<0.0> : tensor<4x6xf32>
  // expected-error @+1 {{shapes do not match: 'tensor<4x8xf16>' times 'tensor<7x6xf16>' into 'tensor<4x6xf32>'}}
  %0 = tile.dot %a, %b, %c : tensor<4x8xf16>, tensor<7x6xf16> -> tensor<4x6xf32>
  tile.return
}
// -----
tile.kernel @k() {
  %a = arith.constant dense<1> : tensor<4x8xi8>
  %b = arith.constant dense<1> : tensor<8x6xi8>
  %c = arith.constant dense<0.0> : tensor<4x6xf32>
  // expected-error @+1 {{mixes floats and integers}}
  %0 = tile.dot %a, %b, %c : tensor<4x8xi8>, tensor<8x6xi8> -> tensor<4x6xf32>
  tile.return
}
// -----
tile.kernel @k() {
  %a = arith.constant dense<1.0> : tensor<8xf32>
  // expected-error @+1 {{three tiles of rank 2, or three of rank 3}}
  %0 = tile.dot %a, %a, %a : tensor<8xf32>, tensor<8xf32> -> tensor<8xf32>
  tile.return
}
// -----
tile.kernel @k(%n: i64) {
  %a = arith.constant dense<1.0> : tensor<8x8xf32>
  // expected-error @+1 {{region with one i64 argument}}
  %0 = tile.contract %n, %a {
    tile.yield %a, %a : tensor<8x8xf32>, tensor<8x8xf32>
  } : tensor<8x8xf32>
  tile.return
}
// -----
tile.kernel @k(%n: i64, %p: !tile.ptr<f32>, %v: f32) {
  %a = arith.constant dense<1.0> : tensor<8x8xf32>
  // expected-error @+1 {{region that only reads}}
  %0 = tile.contract %n, %a {
  ^bb0(%s: i64):
    %pa = tile.pointer_access %p : !tile.ptr<f32> -> !tile.access<f32>
    tile.store %pa, %v : !tile.access<f32>, f32
    tile.yield %a, %a : tensor<8x8xf32>, tensor<8x8xf32>
  } : tensor<8x8xf32>
  tile.return
}
// -----
tile.kernel @k(%n: i64) {
  %a = arith.constant dense<1.0> : tensor<8x8xf32>
  // expected-error @+1 {{needs two live extents (rows, columns) or none}}
  %0 = tile.dot %a, %a, %a live [%n] : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
  tile.return
}
