// RUN: tilery-opt %s -split-input-file -verify-diagnostics
tile.kernel @k(%x: i32) {
  // expected-error @+1 {{asks for more shared memory than a block has: 262144 bytes so far, of 232448}}
  %r = block.alloc : !block.shared<256x256xf32>
  tile.return
}
// -----
tile.kernel @k(%x: i32) {
  %ring = block.ring takers 1 : !block.ring<2, [8x64xf16]>
  // expected-error @+1 {{needs 4096 bytes, the slots of its ring have 2048}}
  %r = block.alloc over %ring : !block.ring<2, [8x64xf16]> : !block.shared<16x64xf32>
  tile.return
}
// -----
tile.kernel @k(%a: !block.shared<8x8xf32>, %x: i32) {
  // expected-error @+1 {{needs a kernel with `block.cluster` of 2 or more}}
  %r = block.peer %a[%x] : !block.shared<8x8xf32>
  tile.return
}
// -----
tile.kernel @k(%a: !block.shared<8x8xf32>) {
  // expected-error @+1 {{moves 'tensor<8x8xf32>', not 'tensor<8x4xf32>'}}
  %r = block.read %a : !block.shared<8x8xf32> -> tensor<8x4xf32>
  tile.return
}
// -----
tile.kernel @k(%a: !block.shared<8x8xf32>, %v: tensor<8x8xi32>) {
  // expected-error @+1 {{moves 'tensor<8x8xf32>', not 'tensor<8x8xi32>'}}
  block.write %a, %v : !block.shared<8x8xf32>, tensor<8x8xi32>
  tile.return
}
// -----
#mem = #block.layout<offset: 32*(0,1) 32*(1,0) -> 32x32>
#col = #block.layout<register: 32*(0,1); lane: 32*(1,0) -> 32x32>
tile.kernel @k(%a: !block.shared<32x32xf32, #mem>) {
  // expected-error @+1 {{takes 256 passes through the banks where 32 would do: choose other layouts, or state them as `passes`}}
  %r = block.read %a : !block.shared<32x32xf32, #mem> -> tensor<32x32xf32, #col>
  tile.return
}
// -----
#mem = #block.layout<offset: 32*(0,1) 32*(1,0) -> 32x32>
#col = #block.layout<register: 32*(0,1); lane: 32*(1,0) -> 32x32>
tile.kernel @k(%a: !block.shared<32x32xf32, #mem>, %v: tensor<32x32xf32, #col>) {
  // expected-error @+1 {{takes 256 passes through the banks, not 8}}
  block.write %a, %v passes 8 : !block.shared<32x32xf32, #mem>, tensor<32x32xf32, #col>
  tile.return
}
// -----
tile.kernel @k(%v: tensor<8x8xf32>) {
  // expected-error @+1 {{gives the shape and the elements of its operand}}
  %r = block.convert %v : tensor<8x8xf32> -> tensor<8x4xf32>
  tile.return
}
// -----
tile.kernel @k(%v: tensor<8x8xf32>) {
  // expected-error @+1 {{joins 'tensor<8x8xf32>' where 'tensor<8x4xf32>' is a part of the result}}
  %r = block.join %v, %v : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
  tile.return
}
// -----
tile.kernel @k(%a: !block.shared<8xf32>) {
  // expected-error @+1 {{only tiles of rank 2 are transposed}}
  %r = block.transpose %a : !block.shared<8xf32>
  tile.return
}
// -----
// expected-error @+1 {{expected layout<AXIS}}
tile.kernel @k(%v: tensor<8xf32, #block.layout<lane: 8 -> 8>>) {
  tile.return
}
// -----
// expected-error @+1 {{this is no layout of a tile of that shape}}
tile.kernel @k(%v: tensor<8xf32, #block.layout<lane: 8*(1) -> 16>>) {
  tile.return
}
// -----
// expected-error @+1 {{tiles in registers lie in registers, lanes and warps}}
tile.kernel @k(%v: tensor<8xf32, #block.layout<offset: 8*(1) -> 8>>) {
  tile.return
}
// -----
// expected-error @+1 {{tiles in shared memory lie at offsets}}
tile.kernel @k(%v: !block.shared<8xf32, #block.layout<lane: 8*(1) -> 8>>) {
  tile.return
}
// -----
tile.kernel @k(%s: !block.shared<8x8xf32>, %v: tensor<8x32xf32>) {
  // expected-error @+1 {{writes a piece of 'tensor<8x8xf32>' that does not lie in 'tensor<8x32xf32>' at a multiple of its extents}}
  block.write %s, %v at [0, 4] : !block.shared<8x8xf32>, tensor<8x32xf32>
  tile.return
}
// -----
#rows = #block.layout<register: 8*(0,1); lane: 4*(0,8) 8*(1,0) -> 8x32>
tile.kernel @k(%s: !block.shared<8x8xf32>, %v: tensor<8x32xf32, #rows>) {
  // expected-error @+1 {{writes a piece of which some threads have nothing}}
  block.write %s, %v at [0, 8] : !block.shared<8x8xf32>, tensor<8x32xf32, #rows>
  tile.return
}
// -----
tile.kernel @k(%n: i64) {
  %x = tile.program_id 0
  %y = arith.extsi %x : i32 to i64
  // expected-error @+1 {{asks for a polynomial of the kernel's arguments and grid}}
  block.require %y
  tile.return
}
