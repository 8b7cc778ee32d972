// RUN: tilery-opt %s -split-input-file -verify-diagnostics
tile.kernel @k() {
  %x = arith.constant dense<1.0> : tensor<4x8xf32>
  // expected-error @+1 {{axis 2 is outside [0, 2)}}
  %sum = tile.reduce %x axis 2 {
  ^bb0(%a: f32, %b: f32):
    tile.yield %a : f32
  } : tensor<4x8xf32> -> tensor<4xf32>
  tile.return
}
// -----
tile.kernel @k() {
  %x = arith.constant dense<1.0> : tensor<4x8xf32>
  // expected-error @+1 {{gives 'tensor<4xf32>', not 'tensor<8xf32>'}}
  %sum = tile.reduce %x axis 1 {
  ^bb0(%a: f32, %b: f32):
    tile.yield %a : f32
  } : tensor<4x8xf32> -> tensor<8xf32>
  tile.return
}
// -----
tile.kernel @k() {
  %x = arith.constant dense<1.0> : tensor<4x8xf32>
  // expected-error @+1 {{region of 2 scalars that yields 1}}
  %sum = tile.reduce %x axis 1 {
  ^bb0(%a: f32):
    tile.yield %a : f32
  } : tensor<4x8xf32> -> tensor<4xf32>
  tile.return
}
// -----
tile.kernel @k() {
  %x = arith.constant dense<1.0> : tensor<8xf32>
  // expected-error @+1 {{region that combines two 'f32' for operand 0}}
  %sum = tile.scan %x axis 0 {
  ^bb0(%a: f32, %b: i32):
    tile.yield %a : f32
  } : tensor<8xf32> -> tensor<8xf32>
  tile.return
}
// -----
tile.kernel @k() {
  %x = arith.constant dense<1.0> : tensor<8xf32>
  // expected-error @+1 {{counts integers in integers}}
  %h = tile.histogram %x : tensor<8xf32> -> tensor<4xi32>
  tile.return
}
