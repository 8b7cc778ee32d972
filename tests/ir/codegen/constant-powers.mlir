// RUN: tilery-translate --disjoint --target=sm_90a --print=asm %s | FileCheck %s
// Powers of constant exponents are products and roots; a cube is rounded once, in f64; others are the general function.

// CHECK-LABEL: .entry square
// CHECK-NOT: f64
// CHECK-LABEL: .entry cube
// CHECK-COUNT-8: mul{{(.rn)?}}.f64
// CHECK-NOT: {{fma.rn|add.rn|div.rn}}.f64
// CHECK-LABEL: .entry fifth
// CHECK: fma.rn.f64
tile.kernel @square(%o: !tile.ptr<f32> {tile.divisibility = 16 : i64}) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %y = arith.constant dense<2.0> : tensor<512xf32>
  %a = tile.access %o, %zero steps(%one) bounds [0] () : !tile.ptr<f32>, (i64), () -> !tile.access<512xf32>
  %v = tile.load %a : !tile.access<512xf32> -> tensor<512xf32>
  %q = math.powf %v, %y : tensor<512xf32>
  tile.store %a, %q : !tile.access<512xf32>, tensor<512xf32>
  tile.return
}

tile.kernel @cube(%o: !tile.ptr<f32> {tile.divisibility = 16 : i64}) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %y = arith.constant dense<3.0> : tensor<512xf32>
  %a = tile.access %o, %zero steps(%one) bounds [0] () : !tile.ptr<f32>, (i64), () -> !tile.access<512xf32>
  %v = tile.load %a : !tile.access<512xf32> -> tensor<512xf32>
  %q = math.powf %v, %y : tensor<512xf32>
  tile.store %a, %q : !tile.access<512xf32>, tensor<512xf32>
  tile.return
}

tile.kernel @fifth(%o: !tile.ptr<f32> {tile.divisibility = 16 : i64}) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %y = arith.constant dense<5.0> : tensor<512xf32>
  %a = tile.access %o, %zero steps(%one) bounds [0] () : !tile.ptr<f32>, (i64), () -> !tile.access<512xf32>
  %v = tile.load %a : !tile.access<512xf32> -> tensor<512xf32>
  %q = math.powf %v, %y : tensor<512xf32>
  tile.store %a, %q : !tile.access<512xf32>, tensor<512xf32>
  tile.return
}
