// RUN: tilery-opt %s -split-input-file -verify-diagnostics
tile.kernel @k(%i: i32) {
  // expected-error @+1 {{one entry of is_signed a value}}
  tile.print "i", %i : i32 {is_signed = array<i1>}
  tile.return
}
// -----
tile.kernel @k(%b: i1) {
  %m = arith.constant dense<true> : tensor<4xi1>
  // expected-error @+1 {{mask of the condition's shape}}
  tile.assert %b mask %m : tensor<4xi1>, "no" : i1
  tile.return
}
// -----
tile.kernel @k(%i: i32) {
  // expected-error @+1 {{must be boolean or tile of booleans}}
  tile.assert %i, "no" : i32
  tile.return
}
