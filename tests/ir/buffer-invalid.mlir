// RUN: tilery-opt %s -split-input-file -verify-diagnostics
tile.kernel @k(%i: i32) {
  %b = tile.alloc : !tile.buffer<8x4xf16, shared>
  // expected-error @+1 {{one offset for each dimension}}
  %w = tile.subview %b[%i] dims [0] : !tile.buffer<8x4xf16, shared>, i32 -> !tile.buffer<8xf16, shared>
  tile.return
}
// -----
tile.kernel @k(%i: i32) {
  %b = tile.alloc : !tile.buffer<8x4xf16, shared>
  // expected-error @+1 {{larger than its buffer along dimension 1}}
  %w = tile.subview %b[%i, %i] dims [1] : !tile.buffer<8x4xf16, shared>, i32, i32 -> !tile.buffer<8xf16, shared>
  tile.return
}
// -----
tile.kernel @k() {
  %b = tile.alloc : !tile.buffer<8xf16, shared>
  // expected-error @+1 {{same number of bits}}
  %w = tile.reinterpret %b : !tile.buffer<8xf16, shared> -> !tile.buffer<8xf32, shared>
  tile.return
}
// -----
tile.kernel @k() {
  %b = tile.alloc : !tile.buffer<8xf16, shared>
  // expected-error @+1 {{reads 'tensor<8xf16>', not 'tensor<8xf32>'}}
  %v = tile.buffer_load %b : !tile.buffer<8xf16, shared> -> tensor<8xf32>
  tile.return
}
// -----
tile.kernel @k(%v: f16) {
  %b = tile.alloc : !tile.buffer<8xf16, shared>
  // expected-error @+1 {{writes 'f16' to a buffer for 'tensor<8xf16>'}}
  tile.buffer_store %b, %v : !tile.buffer<8xf16, shared>, f16
  tile.return
}
// -----
tile.kernel @k(%i: i32) {
  %b = tile.alloc : !tile.buffer<8xf16, shared>
  // expected-error @+1 {{one index a dimension}}
  %v = tile.element_load %b[%i, %i] : !tile.buffer<8xf16, shared>, i32, i32 -> f16
  tile.return
}
// -----
tile.kernel @k(%i: i32, %v: f32) {
  %b = tile.alloc : !tile.buffer<8xf16, shared>
  // expected-error @+1 {{works on 'f16', not 'f32'}}
  tile.element_store %b[%i], %v : !tile.buffer<8xf16, shared>, (i32), f32
  tile.return
}
