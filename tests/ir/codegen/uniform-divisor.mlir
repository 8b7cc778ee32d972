// RUN: tilery-translate --disjoint --target=avx512 --print=llvm %s | FileCheck %s
// One number divides all elements: a reciprocal in front of the loop, then products.

// CHECK-LABEL: define {{.*}}@of_one
// CHECK: fdiv contract double 1.000000e+00
// CHECK-NOT: {{fdiv|sdiv|srem}}
// CHECK-LABEL: define {{.*}}@of_tiles
// CHECK: fdiv contract <16 x double>
tile.kernel @of_one(%o: !tile.ptr<i32> {tile.divisibility = 16 : i64}, %by: i32) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %a = tile.access %o, %zero steps(%one) bounds [0] () : !tile.ptr<i32>, (i64), () -> !tile.access<1024xi32>
  %v = tile.load %a : !tile.access<1024xi32> -> tensor<1024xi32>
  %d = tile.splat %by : i32 -> tensor<1024xi32>
  %q = tile.div trunc %v, %d : tensor<1024xi32>
  %r = tile.rem trunc %v, %d : tensor<1024xi32>
  %x = arith.xori %q, %r : tensor<1024xi32>
  tile.store %a, %x : !tile.access<1024xi32>, tensor<1024xi32>
  tile.return
}

tile.kernel @of_tiles(%o: !tile.ptr<i32> {tile.divisibility = 16 : i64}, %y: !tile.ptr<i32> {tile.divisibility = 16 : i64}) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %a = tile.access %o, %zero steps(%one) bounds [0] () : !tile.ptr<i32>, (i64), () -> !tile.access<1024xi32>
  %c = tile.access %y, %zero steps(%one) bounds [0] () : !tile.ptr<i32>, (i64), () -> !tile.access<1024xi32>
  %v = tile.load %a : !tile.access<1024xi32> -> tensor<1024xi32>
  %d = tile.load %c : !tile.access<1024xi32> -> tensor<1024xi32>
  %q = tile.div trunc %v, %d : tensor<1024xi32>
  tile.store %a, %q : !tile.access<1024xi32>, tensor<1024xi32>
  tile.return
}
