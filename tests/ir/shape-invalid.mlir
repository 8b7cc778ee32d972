// RUN: tilery-opt %s -split-input-file -verify-diagnostics
tile.kernel @k() {
  // expected-error @+1 {{gives 'tensor<4xi32>', not 'tensor<5xi32>'}}
  %0 = tile.range 0 to 4 : tensor<5xi32>
  tile.return
}
// -----
tile.kernel @k() {
  // expected-error @+1 {{needs start < end}}
  %0 = tile.range 4 to 4 : tensor<1xi32>
  tile.return
}
// -----
tile.kernel @k(%s: f32) {
  // expected-error @+1 {{gives 'tensor<4xf32>', not 'tensor<4xf16>'}}
  %0 = tile.splat %s : f32 -> tensor<4xf16>
  tile.return
}
// -----
tile.kernel @k() {
  %0 = tile.range 0 to 4 : tensor<4xi32>
  // expected-error @+1 {{axis 2 is outside [0, 2)}}
  %1 = tile.expand_dims %0 axis 2 : tensor<4xi32> -> tensor<4x1xi32>
  tile.return
}
// -----
tile.kernel @k() {
  %0 = arith.constant dense<0> : tensor<2x4xi32>
  // expected-error @+1 {{cannot repeat a dimension of size 2 to 4}}
  %1 = tile.broadcast %0 : tensor<2x4xi32> -> tensor<4x4xi32>
  tile.return
}
// -----
tile.kernel @k() {
  %0 = arith.constant dense<0> : tensor<2x4xi32>
  // expected-error @+1 {{same number of lanes}}
  %1 = tile.reshape %0 : tensor<2x4xi32> -> tensor<9xi32>
  tile.return
}
// -----
tile.kernel @k() {
  %0 = arith.constant dense<0> : tensor<2x4xi32>
  // expected-error @+1 {{permutation of 2 dimensions}}
  %1 = tile.permute %0 [0, 0] : tensor<2x4xi32> -> tensor<2x2xi32>
  tile.return
}
// -----
tile.kernel @k(%a: i32, %b: i64) {
  // expected-error @+1 {{two values of one type}}
  %1 = tile.join %a, %b : i32, i64 -> tensor<2xi32>
  tile.return
}
// -----
tile.kernel @k() {
  %0 = arith.constant dense<0> : tensor<2x4xi32>
  // expected-error @+1 {{last dimension of size 2}}
  %1, %2 = tile.split %0 : tensor<2x4xi32> -> tensor<2xi32>, tensor<2xi32>
  tile.return
}
// -----
tile.kernel @k() {
  %0 = arith.constant dense<0> : tensor<2x4xi32>
  %1 = arith.constant dense<0> : tensor<3x4xi32>
  // expected-error @+1 {{equal sizes except along the axis}}
  %2 = tile.cat %0, %1 axis 1 : tensor<2x4xi32>, tensor<3x4xi32> -> tensor<2x8xi32>
  tile.return
}
// -----
tile.kernel @k() {
  %0 = arith.constant dense<0> : tensor<2x4xi32>
  %1 = arith.constant dense<0> : tensor<3x4xi32>
  // expected-error @+1 {{indices of the value's sizes except along the axis}}
  %2 = tile.take %0, %1 axis 1 : tensor<2x4xi32>, tensor<3x4xi32> -> tensor<3x4xi32>
  tile.return
}
// -----
tile.kernel @k(%i: i32) {
  %0 = arith.constant dense<0> : tensor<2x4xi32>
  // expected-error @+1 {{one index a dimension}}
  %1 = tile.extract %0[%i] : tensor<2x4xi32>, i32 -> i32
  tile.return
}
// -----
tile.kernel @k(%p: !tile.ptr<i32>) {
  %0 = tile.splat %p : !tile.ptr<i32> -> tensor<4x!tile.ptr<i32>>
  // expected-error @+1 {{sorts numbers, not pointers}}
  %1 = tile.sort %0 axis 0 : tensor<4x!tile.ptr<i32>> -> tensor<4x!tile.ptr<i32>>
  tile.return
}
// -----
tile.kernel @k() {
  %0 = arith.constant dense<0> : tensor<4x2xi32>
  // expected-error @+1 {{gives 'tensor<4x2xi32>', not 'tensor<5x2xi32>'}}
  %1 = tile.sort %0 axis 0 : tensor<4x2xi32> -> tensor<5x2xi32>
  tile.return
}
