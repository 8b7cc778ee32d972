// RUN: tilery-opt %s -split-input-file -verify-diagnostics
// expected-error @+1 {{takes tensors and scalars, not 'tensor<4xf32>'}}
tile.host @call(%n: i64, %x: tensor<4xf32>) {
  tile.return
}
// -----
tile.host @call(%n: i64) {
  // expected-error @+1 {{there is no kernel @missing}}
  tile.launch @missing grid(%n) args(%n) : i64
  tile.return
}
// -----
tile.kernel @k(%n: i64) {
  tile.return
}
tile.host @call(%n: i64, %i: i32) {
  // expected-error @+1 {{gives arguments that are not those of @k}}
  tile.launch @k grid(%n) args(%i) : i32
  tile.return
}
// -----
tile.kernel @k(%n: i64) {
  tile.return
}
tile.host @call(%n: i64) {
  // expected-error @+1 {{grid of one to three extents}}
  tile.launch @k grid(%n, %n, %n, %n) args(%n) : i64
  tile.return
}
// -----
tile.host @call(%x: !tile.tensor_arg<2xf32>) {
  // expected-error @+1 {{dimension 2 of a tensor of rank 2}}
  %0 = tile.host_extent %x, 2 : !tile.tensor_arg<2xf32>
  tile.return
}
// -----
tile.host @call(%n: i64) {
  // expected-error @+1 {{one extent a dimension}}
  %0 = tile.host_empty[%n] : !tile.tensor_arg<2xf32>
  tile.return
}
// -----
// expected-error @+1 {{returns what its type says}}
tile.host @call(%n: i64) -> i64 {
  tile.return
}
// -----
tile.host @call(%x: !tile.tensor_arg<2xf32>) {
  // expected-error @+1 {{dimension 2 of a tensor of rank 2}}
  %0 = tile.host_stride %x, 2 : !tile.tensor_arg<2xf32>
  tile.return
}
// -----
// expected-error @+1 {{is one block that ends with tile.return}}
tile.host @h(%n: i32) {
}
