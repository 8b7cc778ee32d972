// RUN: tilery-opt %s -split-input-file -verify-diagnostics
tile.kernel @k() {
  // expected-error @+1 {{attribute 'axis' failed to satisfy constraint}}
  %0 = tile.program_id 3
  tile.return
}
// -----
// expected-error @+1 {{returns nothing}}
tile.kernel @k(%n: i32) {
  tile.return %n : i32
}
// -----
// expected-error @+1 {{gives nothing}}
tile.kernel @k(%n: i32) -> i32 {
  tile.return %n : i32
}
// -----
tile.kernel @k() {
  // expected-error @+1 {{attribute 'axis' failed to satisfy constraint}}
  %0 = tile.num_programs 3
  tile.return
}
// -----
// expected-error @+1 {{is one block that ends with tile.return}}
tile.kernel @k(%n: i32) {
}
