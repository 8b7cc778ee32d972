// RUN: tilery-opt %s -split-input-file -verify-diagnostics
tile.kernel @k(%f: f32) {
  // expected-error @+1 {{operand #0 must be integer or tile of integers}}
  %0 = tile.div trunc %f, %f : f32
  tile.return
}
// -----
tile.kernel @k(%a: i32) {
  // expected-error @+1 {{expected string or keyword containing one of the following enum values for attribute 'mode' [trunc, floor, unsigned]}}
  %0 = tile.rem up %a, %a : i32
  tile.return
}
// -----
tile.kernel @k() {
  %0 = arith.constant dense<0.0> : tensor<4xf32>
  // expected-error @+1 {{shape}}
  %1 = tile.fp_to_int %0 : tensor<4xf32> -> tensor<5xi32>
  tile.return
}
// -----
tile.kernel @k(%f: f32) {
  // expected-error @+1 {{operand #0 must be integer or tile of integers}}
  %0 = tile.shift left %f, %f : f32
  tile.return
}
// -----
tile.kernel @k(%f: f32) {
  // expected-error @+1 {{operand #0 must be integer or tile of integers}}
  %0 = tile.mul_high %f, %f : f32
  tile.return
}
