// RUN: tilery-opt %s -split-input-file -verify-diagnostics
tile.kernel @k(%p: !tile.ptr<f32>) {
  %lanes = tile.range 0 to 4 : tensor<4xi32>
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<5x!tile.ptr<f32>>
  // expected-error @+1 {{same shape}}
  %q = tile.add_ptr %ps, %lanes : tensor<5x!tile.ptr<f32>>, tensor<4xi32>
  tile.return
}
// -----
tile.kernel @k(%p: !tile.ptr<f32>) {
  // expected-error @+1 {{places 'f16' at a pointer to 'f32'}}
  %a = tile.pointer_access %p : !tile.ptr<f32> -> !tile.access<f16>
  tile.return
}
// -----
tile.kernel @k(%p: !tile.ptr<f32>) {
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<4x!tile.ptr<f32>>
  %mask = arith.constant dense<true> : tensor<5xi1>
  // expected-error @+1 {{one mask bit a lane}}
  %a = tile.pointer_access %ps mask %mask : tensor<5xi1> : tensor<4x!tile.ptr<f32>> -> !tile.access<4xf32>
  tile.return
}
// -----
tile.kernel @k(%p: !tile.ptr<f32>, %n: i64) {
  // expected-error @+1 {{needs 2 bounds, has 1}}
  %a = tile.access %p, %n steps(%n) bounds [1](%n) : !tile.ptr<f32>, (i64), (i64) -> !tile.access<4xf32>
  tile.return
}
// -----
tile.kernel @k(%p: !tile.ptr<f32>, %n: i64) {
  %steps = arith.constant dense<0> : tensor<5xi64>
  // expected-error @+1 {{needs i64 or tensor<4xi64> as the step of dimension 0}}
  %a = tile.access %p, %n steps(%steps) bounds [0]() : !tile.ptr<f32>, (tensor<5xi64>), () -> !tile.access<4xf32>
  tile.return
}
// -----
tile.kernel @k(%p: !tile.ptr<f32>, %n: i64) {
  // expected-error @+1 {{needs 2 extents and strides}}
  %root = tile.root %p[%n] strides [%n] : !tile.ptr<f32> -> !tile.root<2xf32>
  tile.return
}
// -----
tile.kernel @k(%p: !tile.ptr<f32>, %n: i64) {
  %root = tile.root %p[%n] strides [%n] : !tile.ptr<f32> -> !tile.root<1xf32>
  // expected-error @+1 {{walks dimension 1 of a root of rank 1}}
  %view = tile.view %root[%n] dims [1] dilations [%n] limits [] : !tile.root<1xf32> -> !tile.view<8xf32>
  tile.return
}
// -----
tile.kernel @k(%p: !tile.ptr<f32>) {
  %a = tile.pointer_access %p : !tile.ptr<f32> -> !tile.access<f32>
  // expected-error @+1 {{reads 'f32', not 'f16'}}
  %v = tile.load %a : !tile.access<f32> -> f16
  tile.return
}
// -----
tile.kernel @k(%p: !tile.ptr<f32, const>, %v: f32) {
  %a = tile.pointer_access %p : !tile.ptr<f32, const> -> !tile.access<f32>
  // expected-error @+1 {{writes through a const pointer}}
  tile.store %a, %v : !tile.access<f32>, f32
  tile.return
}
// -----
tile.kernel @k(%p: !tile.ptr<f32>, %v: f16) {
  %a = tile.pointer_access %p : !tile.ptr<f32> -> !tile.access<f32>
  // expected-error @+1 {{writes 'f16' to a place for 'f32'}}
  tile.store %a, %v : !tile.access<f32>, f16
  tile.return
}
// -----
tile.kernel @k(%p: !tile.ptr<f32, const>) {
  // expected-error @+1 {{makes a const pointer one that can be written}}
  %q = tile.ptr_cast %p : !tile.ptr<f32, const> -> !tile.ptr<i8>
  tile.return
}
// -----
tile.kernel @k(%p: !tile.ptr<f32>) {
  // expected-error @+1 {{same shape}}
  %i = tile.ptr_to_int %p : !tile.ptr<f32> -> tensor<4xi64>
  tile.return
}
// -----
tile.kernel @k(%f: f64) {
  // expected-error @+1 {{operand #0 must be integer or tile of integers}}
  %p = tile.int_to_ptr %f : f64 -> !tile.ptr<f32>
  tile.return
}
