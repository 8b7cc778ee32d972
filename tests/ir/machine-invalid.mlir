// RUN: tilery-opt %s -split-input-file -verify-diagnostics

tile.kernel @k() {
  // expected-error@+1 {{'tile.clock' op result #0 must be 64-bit signless integer, but got 'i32'}}
  %a = "tile.clock"() : () -> i32
  tile.return
}

// -----

tile.kernel @k() {
  // expected-error@+1 {{'tile.processor' op result #0 must be 32-bit signless integer, but got 'i64'}}
  %a = "tile.processor"() : () -> i64
  tile.return
}
