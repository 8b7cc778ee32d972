// RUN: tilery-translate --disjoint --target=sm_90a --print=asm %s | FileCheck %s
// One number divides all elements: a reciprocal once a thread, then products. What fits into 32 bits is not divided in 64, nor in doubles.

// CHECK-LABEL: .entry of_32
// CHECK-NOT: div.rn
// CHECK: div.u32
// CHECK-NOT: {{div\.|rem\.}}
// CHECK-LABEL: .entry of_64
// CHECK-NOT: div.s64
// CHECK: div.u32
// CHECK-NOT: div.s
// CHECK-LABEL: .entry of_tiles
// CHECK-NOT: div.rn
// CHECK: div.s32
tile.kernel @of_32(%o: !tile.ptr<i32> {tile.divisibility = 16 : i64}, %by: i32) {
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

tile.kernel @of_64(%o: !tile.ptr<i64> {tile.divisibility = 16 : i64}, %by: i64) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %a = tile.access %o, %zero steps(%one) bounds [0] () : !tile.ptr<i64>, (i64), () -> !tile.access<512xi64>
  %v = tile.load %a : !tile.access<512xi64> -> tensor<512xi64>
  %d = tile.splat %by : i64 -> tensor<512xi64>
  %q = tile.div trunc %v, %d : tensor<512xi64>
  tile.store %a, %q : !tile.access<512xi64>, tensor<512xi64>
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
