// RUN: tilery-opt %s -split-input-file -verify-diagnostics
tile.kernel @k(%p: !tile.ptr<f32>, %n: i64, %x: i32) {
  %m = block.map %p, [%n, %n], [%n] : !tile.ptr<f32> -> !block.map<8x32xf32, 128>
  %ring = block.ring takers 1 : !block.ring<2, [8x32xf32]>
  %s = block.acquire %ring[%x] : !block.ring<2, [8x32xf32]>
  %t = block.part %s[0] : !block.slot<[8x32xf32]>
  // expected-error @+1 {{needs a coordinate for each of the map's 2 dimensions}}
  block.copy %m[%x] -> %t : !block.map<8x32xf32, 128>, !block.shared<8x32xf32>
  block.publish %s : !block.slot<[8x32xf32]>
  tile.return
}
// -----
tile.kernel @k(%p: !tile.ptr<f32>, %n: i64, %x: i32) {
  %m = block.map %p, [%n, %n], [%n] : !tile.ptr<f32> -> !block.map<8x32xf32, 128>
  %ring = block.ring takers 1 : !block.ring<2, [8x32xi32]>
  %s = block.acquire %ring[%x] : !block.ring<2, [8x32xi32]>
  %t = block.part %s[0] : !block.slot<[8x32xi32]>
  // expected-error @+1 {{moves 'f32', but the tile is of 'i32'}}
  block.copy %m[%x, %x] -> %t : !block.map<8x32xf32, 128>, !block.shared<8x32xi32>
  block.publish %s : !block.slot<[8x32xi32]>
  tile.return
}
// -----
tile.kernel @k(%p: !tile.ptr<f32>, %n: i64, %x: i32) {
  %m = block.map %p, [%n, %n], [%n] : !tile.ptr<f32> -> !block.map<8x32xf32, 128>
  %ring = block.ring takers 1 : !block.ring<2, [12x32xf32]>
  %s = block.acquire %ring[%x] : !block.ring<2, [12x32xf32]>
  %t = block.part %s[0] : !block.slot<[12x32xf32]>
  // expected-error @+1 {{do not cover a tile of 'tensor<12x32xf32>'}}
  block.copy %m[%x, %x] -> %t : !block.map<8x32xf32, 128>, !block.shared<12x32xf32>
  block.publish %s : !block.slot<[12x32xf32]>
  tile.return
}
// -----
#plain = #block.layout<offset: 32*(0,1) 8*(1,0) -> 8x32>
tile.kernel @k(%p: !tile.ptr<f32>, %n: i64, %x: i32) {
  %m = block.map %p, [%n, %n], [%n] : !tile.ptr<f32> -> !block.map<8x32xf32, 128>
  %ring = block.ring takers 1 : !block.ring<2, [8x32xf32 #plain]>
  %s = block.acquire %ring[%x] : !block.ring<2, [8x32xf32 #plain]>
  %t = block.part %s[0] : !block.slot<[8x32xf32 #plain]>
  // expected-error @+1 {{do not lie in shared memory as}}
  block.copy %m[%x, %x] -> %t : !block.map<8x32xf32, 128>, !block.shared<8x32xf32, #plain>
  block.publish %s : !block.slot<[8x32xf32 #plain]>
  tile.return
}
// -----
tile.kernel @k(%p: !tile.ptr<f32>, %n: i64, %x: i32) {
  %m = block.map %p, [%n, %n], [%n] : !tile.ptr<f32> -> !block.map<8x32xf32, 128>
  %t = block.alloc : !block.shared<8x32xf32>
  // expected-error @+1 {{fills a part of an acquired slot}}
  block.copy %m[%x, %x] -> %t : !block.map<8x32xf32, 128>, !block.shared<8x32xf32>
  tile.return
}
// -----
tile.kernel @k(%p: !tile.ptr<f32>, %n: i64, %x: i32) {
  %m = block.map %p, [%n, %n], [%n] : !tile.ptr<f32> -> !block.map<8x32xf32, 128>
  %ring = block.ring takers 1 : !block.ring<2, [64xf32]>
  %s = block.acquire %ring[%x] : !block.ring<2, [64xf32]>
  %t = block.part %s[0] : !block.slot<[64xf32]>
  %c24 = arith.constant 24 : i32
  // expected-error @+1 {{moves a multiple of 16 bytes, of at most 256, not 24}}
  block.copy_flat %p, %c24 -> %t : !tile.ptr<f32>, !block.shared<64xf32>
  block.publish %s : !block.slot<[64xf32]>
  tile.return
}
// -----
tile.kernel @k(%p: !tile.ptr<f32>, %n: i64, %x: i32) {
  %m = block.map %p, [%n, %n], [%n] : !tile.ptr<f32> -> !block.map<8x32xf32, 128>
  %ring = block.ring takers 1 : !block.ring<2, [8x32xf32]>
  %s = block.acquire %ring[%x] : !block.ring<2, [8x32xf32]>
  %t = block.part %s[0] : !block.slot<[8x32xf32]>
  // expected-error @+1 {{fills a tile of rank 1 of the pointer's elements}}
  block.copy_flat %p, %x -> %t : !tile.ptr<f32>, !block.shared<8x32xf32>
  block.publish %s : !block.slot<[8x32xf32]>
  tile.return
}
// -----
tile.kernel @k(%p: !tile.ptr<f32>, %n: i64, %x: i32) {
  %m = block.map %p, [%n, %n], [%n] : !tile.ptr<f32> -> !block.map<8x32xf32, 128>
  %ring = block.ring takers 1 : !block.ring<2, [8x32xf32]>
  %s = block.acquire %ring[%x] : !block.ring<2, [8x32xf32]>
  %t = block.part %s[0] : !block.slot<[8x32xf32]>
  %root = tile.root %p[%n] strides [%n] : !tile.ptr<f32> -> !tile.root<1xf32>
  %view = tile.view %root[%n] dims [0] dilations [%n] limits [] : !tile.root<1xf32> -> !tile.view<8xf32>
  // expected-error @+1 {{moves 'tensor<8xf32>' into 'tensor<8x32xf32>'}}
  block.fetch %view -> %t : !tile.view<8xf32>, !block.shared<8x32xf32>
  block.publish %s : !block.slot<[8x32xf32]>
  tile.return
}
// -----
tile.kernel @k(%p: !tile.ptr<f32>, %n: i64, %x: i32) {
  %m = block.map %p, [%n, %n], [%n] : !tile.ptr<f32> -> !block.map<8x32xf32, 128>
  %t = block.alloc : !block.shared<8x32xf32>
  // expected-error @+1 {{stores a tile that no `write` before it has written}}
  block.store_box %t -> %m[%x, %x] : !block.shared<8x32xf32>, !block.map<8x32xf32, 128>
  tile.return
}
// -----
tile.kernel @k(%p: !tile.ptr<f32>, %n: i64, %x: i32, %q: !tile.ptr<bf16>) {
  %m = block.map %q, [%n, %n], [%n] : !tile.ptr<bf16> -> !block.map<8x32xbf16, 64>
  %t = block.alloc : !block.shared<8x32xbf16>
  // expected-error @+1 {{adds f32 only}}
  block.store_box %t -> %m[%x, %x] add : !block.shared<8x32xbf16>, !block.map<8x32xbf16, 64>
  tile.return
}
