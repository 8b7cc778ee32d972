// Products of bytes by dot products where there are some, else as i32.
// RUN: tilery-translate --disjoint --target=aarch64-dotprod --print=asm %s | FileCheck %s --check-prefix=DOT
// RUN: tilery-translate --disjoint --target=aarch64-neon --print=asm %s | FileCheck %s --check-prefix=NEON
// DOT: tilery.dot.i32.{{.*}}.i8.i8:
// DOT: sdot{{.*}}v{{[0-9]+}}.4s, v{{[0-9]+}}.16b, v{{[0-9]+}}.16b
// NEON: tilery.dot.i32.
// NEON: mla{{.*}}v{{[0-9]+}}.4s
tile.kernel @k(%x: !tile.ptr<i8>, %y: !tile.ptr<i8>, %o: !tile.ptr<i32>) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %k = arith.constant 16 : i64
  %n = arith.constant 64 : i64
  %ax = tile.access %x, %zero steps(%k, %one) bounds [0, 0] () : !tile.ptr<i8>, (i64, i64), () -> !tile.access<32x16xi8>
  %ay = tile.access %y, %zero steps(%n, %one) bounds [0, 0] () : !tile.ptr<i8>, (i64, i64), () -> !tile.access<16x64xi8>
  %ao = tile.access %o, %zero steps(%n, %one) bounds [0, 0] () : !tile.ptr<i32>, (i64, i64), () -> !tile.access<32x64xi32>
  %a = tile.load %ax : !tile.access<32x16xi8> -> tensor<32x16xi8>
  %b = tile.load %ay : !tile.access<16x64xi8> -> tensor<16x64xi8>
  %none = arith.constant dense<0> : tensor<32x64xi32>
  %c = tile.dot %a, %b, %none : tensor<32x16xi8>, tensor<16x64xi8> -> tensor<32x64xi32>
  tile.store %ao, %c : !tile.access<32x64xi32>, tensor<32x64xi32>
  tile.return
}
