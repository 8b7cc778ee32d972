// RUN: tilery-opt %s -split-input-file -verify-diagnostics
tile.kernel @k(%p: !tile.ptr<f32>, %n: i64) {
  %c = arith.cmpi slt, %n, %n : i64
  scf.if %c {
    // expected-error @+1 {{stands in the kernel's entry block}}
    %m = block.map %p, [%n], [] : !tile.ptr<f32> -> !block.map<64xf32, 16>
  }
  tile.return
}
// -----
tile.kernel @k(%p: !tile.ptr<f32>, %n: i64) {
  %i = tile.program_id 0
  %x = arith.extsi %i : i32 to i64
  // expected-error @+1 {{the host cannot compute}}
  %m = block.map %p, [%x], [] : !tile.ptr<f32> -> !block.map<64xf32, 16>
  tile.return
}
// -----
tile.kernel @k(%p: !tile.ptr<f32>, %n: i64) {
  // expected-error @+1 {{maps elements of type 'bf16' at a pointer to 'f32'}}
  %m = block.map %p, [%n], [] : !tile.ptr<f32> -> !block.map<64xbf16, 16>
  tile.return
}
// -----
tile.kernel @k(%p: !tile.ptr<f32>, %n: i64) {
  // expected-error @+1 {{needs 2 extents, and a stride for each dimension but the innermost}}
  %m = block.map %p, [%n, %n], [%n, %n] : !tile.ptr<f32> -> !block.map<8x64xf32, 16>
  tile.return
}
// -----
tile.kernel @k(%p: !tile.ptr<f32>, %n: i64) {
  %s = arith.constant 6 : i64
  // expected-error @+1 {{a stride is a multiple of 16 bytes below 2^40, not 24}}
  %m = block.map %p, [%n, %n], [%s] : !tile.ptr<f32> -> !block.map<8x64xf32, 16>
  tile.return
}
// -----
tile.kernel @k(%p: !tile.ptr<f32>, %n: i64) {
  %s = arith.constant 274877906944 : i64
  // expected-error @+1 {{a stride is a multiple of 16 bytes below 2^40, not 1099511627776}}
  %m = block.map %p, [%n, %n], [%s] : !tile.ptr<f32> -> !block.map<8x64xf32, 16>
  tile.return
}
// -----
// expected-error @+1 {{rank 1 to 5, not 6}}
tile.kernel @k(%m: !block.map<1x1x1x1x1x64xf32, 16>) {
  tile.return
}
// -----
// expected-error @+1 {{1 to 256 elements a dimension, not 512}}
tile.kernel @k(%m: !block.map<512x64xf32, 16>) {
  tile.return
}
// -----
// expected-error @+1 {{a row of 256 bytes does not fit the swizzle of 128}}
tile.kernel @k(%m: !block.map<8x64xf32, 128>) {
  tile.return
}
// -----
// expected-error @+1 {{a row of a box is a multiple of 16 bytes, not 12}}
tile.kernel @k(%m: !block.map<8x3xf32, 16>) {
  tile.return
}
// -----
// expected-error @+1 {{swizzles are of 32, 64 or 128 bytes, 16 is none; not 48}}
tile.kernel @k(%m: !block.map<8x8xf32, 48>) {
  tile.return
}
// -----
// expected-error @+1 {{the copy engine moves numbers}}
tile.kernel @k(%m: !block.map<8x8x!tile.ptr<f32>, 16>) {
  tile.return
}
// -----
tile.kernel @k(%p: !tile.ptr<f32>, %n: i64, %x: i32) {
  %m = block.map %p, [%n], [] : !tile.ptr<f32> -> !block.map<64xf32, 16>
  %out = block.alloc : !block.shared<64xf32>
  // expected-error @+1 {{makes a map for copies and stores of the same role, not for block.store_box}}
  %r = block.remap %m, %p, [%n], [] : !block.map<64xf32, 16>, !tile.ptr<f32>
  block.roles {
    block.role @store warps 1 {
      %t = arith.constant dense<0.0> : tensor<64xf32>
      block.write %out, %t : !block.shared<64xf32>, tensor<64xf32>
      block.store_box %out -> %r[%x] : !block.shared<64xf32>, !block.map<64xf32, 16>
    }
  }
  tile.return
}
