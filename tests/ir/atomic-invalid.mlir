// RUN: tilery-opt %s -split-input-file -verify-diagnostics
tile.kernel @k(%q: !tile.ptr<i32>, %i: i32) {
  %qa = tile.pointer_access %q : !tile.ptr<i32> -> !tile.access<i32>
  // expected-error @+1 {{`fadd` does not work on 'i32'}}
  %0 = tile.atomic_rmw fadd %qa, %i : !tile.access<i32>, i32 -> i32
  tile.return
}
// -----
tile.kernel @k(%q: !tile.ptr<f32>, %f: f32) {
  %qa = tile.pointer_access %q : !tile.ptr<f32> -> !tile.access<f32>
  // expected-error @+1 {{`umax` does not work on 'f32'}}
  %0 = tile.atomic_rmw umax %qa, %f : !tile.access<f32>, f32 -> f32
  tile.return
}
// -----
tile.kernel @k(%q: !tile.ptr<i32, const>, %i: i32) {
  %qa = tile.pointer_access %q : !tile.ptr<i32, const> -> !tile.access<i32>
  // expected-error @+1 {{writes through a const pointer}}
  %0 = tile.atomic_cas %qa, %i, %i : !tile.access<i32>, i32 -> i32
  tile.return
}
// -----
tile.kernel @k(%i: i32, %f: f16) {
  %b = tile.alloc : !tile.buffer<8xf16, shared>
  // expected-error @+1 {{needs one index a dimension}}
  %0 = tile.element_update fadd %b[%i, %i], %f : !tile.buffer<8xf16, shared>, (i32, i32), f16
  tile.return
}
// -----
tile.kernel @k(%i: i32, %f: f32) {
  %b = tile.alloc : !tile.buffer<8xf16, shared>
  // expected-error @+1 {{works on 'f16', not 'f32'}}
  %0 = tile.element_update fadd %b[%i], %f : !tile.buffer<8xf16, shared>, (i32), f32
  tile.return
}
// -----
tile.kernel @k(%i: i32, %f: f16) {
  %b = tile.alloc : !tile.buffer<8xf16, shared>
  // expected-error @+1 {{`add` does not work on 'f16'}}
  %0 = tile.element_update add %b[%i], %f : !tile.buffer<8xf16, shared>, (i32), f16
  tile.return
}
