// RUN: tilery-opt %s -split-input-file -verify-diagnostics
// expected-error @+1 {{a ring has at least one slot, not 0}}
tile.kernel @k(%r: !block.ring<0, [8x8xf32]>) {
  tile.return
}
// -----
// expected-error @+1 {{a slot holds at least one tile}}
tile.kernel @k(%r: !block.ring<2, []>) {
  tile.return
}
// -----
tile.kernel @k(%x: i32) {
  // expected-error @+1 {{asks for more shared memory than a block has: 262144 bytes so far, of 232448}}
  %r = block.ring takers 1 : !block.ring<4, [128x128xf32]>
  tile.return
}
// -----
tile.kernel @k(%x: i32) {
  // expected-error @+1 {{is filled by two roles}}
  %ring = block.ring takers 1 : !block.ring<2, [8x32xf32]>
  block.roles {
    block.role @a warps 1 {
      %s = block.acquire %ring[%x] : !block.ring<2, [8x32xf32]>
      block.publish %s : !block.slot<[8x32xf32]>
    }
    block.role @b warps 1 {
      %s = block.acquire %ring[%x] : !block.ring<2, [8x32xf32]>
      block.publish %s : !block.slot<[8x32xf32]>
    }
  }
  tile.return
}
// -----
tile.kernel @k(%x: i32) {
  // expected-error @+1 {{counts 1 takers, but its roles release a slot by 8 arrivals}}
  %ring = block.ring takers 1 : !block.ring<2, [8x32xf32]>
  block.roles {
    block.role @rows warps 8 {
      %s = block.take %ring[%x] : !block.ring<2, [8x32xf32]>
      %t = block.part %s[0] : !block.slot<[8x32xf32]>
      %v = block.read %t : !block.shared<8x32xf32> -> tensor<8x32xf32>
      block.release %s : !block.slot<[8x32xf32]>
    }
  }
  tile.return
}
// -----
tile.kernel @k(%x: i32) {
  %ring = block.ring takers 1 : !block.ring<2, [8x32xf32]>
  // expected-error @+1 {{needs one `publish` of its slot on each path}}
  %s = block.acquire %ring[%x] : !block.ring<2, [8x32xf32]>
  tile.return
}
// -----
tile.kernel @k(%x: i32, %b: i1) {
  %ring = block.ring takers 1 : !block.ring<2, [8x32xf32]>
  // expected-error @+1 {{needs one `publish` of its slot on each path}}
  %s = block.acquire %ring[%x] : !block.ring<2, [8x32xf32]>
  scf.if %b {
    block.publish %s : !block.slot<[8x32xf32]>
  }
  tile.return
}
// -----
tile.kernel @k(%x: i32) {
  %ring = block.ring takers 1 : !block.ring<2, [8x32xf32]>
  // expected-error @+1 {{needs one `publish` of its slot on each path}}
  %s = block.acquire %ring[%x] : !block.ring<2, [8x32xf32]>
  block.publish %s : !block.slot<[8x32xf32]>
  block.publish %s : !block.slot<[8x32xf32]>
  tile.return
}
// -----
tile.kernel @k(%x: i32) {
  %ring = block.ring takers 1 : !block.ring<2, [8x32xf32]>
  // expected-error @+1 {{released more than once on some path}}
  %s = block.take %ring[%x] : !block.ring<2, [8x32xf32]>
  block.release %s : !block.slot<[8x32xf32]>
  block.release %s : !block.slot<[8x32xf32]>
  tile.return
}
// -----
tile.kernel @k(%x: i32, %ring: !block.ring<2, [8x32xf32]>) {
  // expected-error @+1 {{needs the result of `block.ring` itself}}
  %s = block.take %ring[%x] : !block.ring<2, [8x32xf32]>
  tile.return
}
// -----
tile.kernel @k(%x: i32) {
  %ring = block.ring takers 1 : !block.ring<2, [8x32xf32]>
  block.programs grid {
  ^bb0(%i: i32, %j: i32, %k: i32):
    // expected-error @+1 {{needs a position that `programs` carries from program to program}}
    %s = block.take %ring[%i] : !block.ring<2, [8x32xf32]>
  }
  tile.return
}
// -----
tile.kernel @k(%x: i32) {
  %ring = block.ring takers 1 : !block.ring<2, [8x32xf32]>
  %s = block.take %ring[%x] : !block.ring<2, [8x32xf32]>
  // expected-error @+1 {{there is no tile 1 in a slot of 1}}
  %t = block.part %s[1] : !block.slot<[8x32xf32]>
  tile.return
}
// -----
tile.kernel @k(%x: i32) {
  %ring = block.ring takers 1 : !block.ring<2, [64x64xbf16]>
  %s = block.take %ring[%x] : !block.ring<2, [64x64xbf16]>
  %a = block.part %s[0] : !block.slot<[64x64xbf16]>
  %at = block.transpose %a : !block.shared<64x64xbf16>
  %c = block.none : !block.pending<tensor<64x64xf32>>
  // expected-note @+1 {{the product}}
  %d = block.mma_start %c, %a, %at : !block.pending<tensor<64x64xf32>>, !block.shared<64x64xbf16>, !block.shared<64x64xbf16> -> !block.pending<tensor<64x64xf32>>
  // expected-error @+1 {{gives back a slot that a product may still read}}
  block.release %s : !block.slot<[64x64xbf16]>
  %r = block.mma_wait %d : !block.pending<tensor<64x64xf32>> -> tensor<64x64xf32>
  tile.return
}
// -----
tile.kernel @k(%x: i32, %n: i32) {
  %ring = block.ring takers 1 : !block.ring<2, [64x64xbf16]>
  %one = arith.constant 1 : i32
  %zero = block.none : !block.pending<tensor<64x64xf32>>
  %free = block.none : !block.slot<[64x64xbf16]>
  %d, %t = scf.for %i = %x to %n step %one iter_args(%c = %zero, %before = %free) -> (!block.pending<tensor<64x64xf32>>, !block.slot<[64x64xbf16]>) : i32 {
    %s = block.take %ring[%i] : !block.ring<2, [64x64xbf16]>
    %a = block.part %s[0] : !block.slot<[64x64xbf16]>
    // expected-note @+1 {{the product}}
    %e = block.mma_start %c, %a, %a : !block.pending<tensor<64x64xf32>>, !block.shared<64x64xbf16>, !block.shared<64x64xbf16> -> !block.pending<tensor<64x64xf32>>
    // expected-error @+1 {{gives back a slot that a product may still read}}
    block.release %before : !block.slot<[64x64xbf16]>
    scf.yield %e, %s : !block.pending<tensor<64x64xf32>>, !block.slot<[64x64xbf16]>
  }
  %r = block.mma_wait %d : !block.pending<tensor<64x64xf32>> -> tensor<64x64xf32>
  block.release %t : !block.slot<[64x64xbf16]>
  tile.return
}
// -----
tile.kernel @k(%x: i32, %n: i32) {
  %ring = block.ring takers 1 : !block.ring<2, [64x64xbf16]>
  %one = arith.constant 1 : i32
  %zero = block.none : !block.pending<tensor<64x64xf32>>
  %free = block.none : !block.slot<[64x64xbf16]>
  %d, %t = scf.for %i = %x to %n step %one iter_args(%c = %zero, %before = %free) -> (!block.pending<tensor<64x64xf32>>, !block.slot<[64x64xbf16]>) : i32 {
    %s = block.take %ring[%i] : !block.ring<2, [64x64xbf16]>
    %a = block.part %s[0] : !block.slot<[64x64xbf16]>
    
    // expected-note @+1 {{the product}}
    %e = block.mma_start %c, %a, %a : !block.pending<tensor<64x64xf32>>, !block.shared<64x64xbf16>, !block.shared<64x64xbf16> -> !block.pending<tensor<64x64xf32>>
    block.mma_settle %c : !block.pending<tensor<64x64xf32>>
    block.release %before : !block.slot<[64x64xbf16]>
    scf.yield %e, %s : !block.pending<tensor<64x64xf32>>, !block.slot<[64x64xbf16]>
  }
  // expected-error @+1 {{gives back a slot that a product may still read}}
  block.release %t : !block.slot<[64x64xbf16]>
  %r = block.mma_wait %d : !block.pending<tensor<64x64xf32>> -> tensor<64x64xf32>
  tile.return
}
// -----
tile.kernel @k(%x: i32) {
  // expected-error @+1 {{has no tile from number 1 on}}
  %ring = block.ring takers 1 instead 1 : !block.ring<2, [8x32xf32]>
  tile.return
}
// -----
tile.kernel @k(%x: i32, %p: !tile.ptr<f32>, %n: i64) {
  %ring = block.ring takers 1 instead 1 : !block.ring<2, [8x32xf32, 8x64xf32]>
  // expected-error @+1 {{fills tiles that lie in the same memory}}
  %s = block.acquire %ring[%x] : !block.ring<2, [8x32xf32, 8x64xf32]>
  %a = block.part %s[0] : !block.slot<[8x32xf32, 8x64xf32]>
  %b = block.part %s[1] : !block.slot<[8x32xf32, 8x64xf32]>
  block.publish %s : !block.slot<[8x32xf32, 8x64xf32]>
  tile.return
}
