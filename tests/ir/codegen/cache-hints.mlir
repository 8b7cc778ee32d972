// RUN: tilery-translate --disjoint --target=sm_80 --print=asm %s | FileCheck %s
// What a program asks of the caches stands in the instruction: an operation, or a priority of eviction, which goes first; nothing at
// volatile accesses. A load that fetches again each time (.cv) is not taken for one of memory that nobody writes.
// CHECK-LABEL: .entry hints
// CHECK: ld.global.cg.v4.b32
// CHECK: @%p{{[0-9]+}} ld.global.L1::evict_last.{{(v[24].)?}}b32
// CHECK: @%p{{[0-9]+}} st.global.cs.{{(v[24].)?}}b32
// CHECK: st.global.L1::evict_first.v4.b32
// CHECK: ld.global.cv.b16
// CHECK: ld.volatile.global.b16
// CHECK: st.global.wt.b16
tile.kernel @hints(%x: !tile.ptr<f32> {tile.divisibility = 16 : i64}, %y: !tile.ptr<f32> {tile.divisibility = 16 : i64}, %h: !tile.ptr<f16>, %n: i64) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %all = tile.access %x, %c0 steps(%c1) bounds [0]() : <f32>, (i64), () -> <512xf32>
  %some = tile.access %x, %c0 steps(%c1) bounds [1](%c0, %n) : <f32>, (i64), (i64, i64) -> <512xf32>
  %a = tile.load %all {cache = ".cg"} : !tile.access<512xf32> -> tensor<512xf32>
  %b = tile.load %some {eviction = "evict_last", cache = ".ca"} : !tile.access<512xf32> -> tensor<512xf32>
  %c = arith.addf %a, %b : tensor<512xf32>
  %to = tile.access %y, %c0 steps(%c1) bounds [1](%c0, %n) : <f32>, (i64), (i64, i64) -> <512xf32>
  %then = tile.access %y, %c0 steps(%c1) bounds [0]() : <f32>, (i64), () -> <512xf32>
  tile.store %to, %c {cache = ".cs", eviction = "evict_normal"} : !tile.access<512xf32>, tensor<512xf32>
  tile.store %then, %a {eviction = "evict_first"} : !tile.access<512xf32>, tensor<512xf32>
  %one = tile.pointer_access %h : !tile.ptr<f16> -> !tile.access<f16>
  %s = tile.load %one {cache = ".cv"} : !tile.access<f16> -> f16
  %t = tile.load %one {cache = ".cg", is_volatile} : !tile.access<f16> -> f16
  %u = arith.addf %s, %t : f16
  tile.store %one, %u {cache = ".wt"} : !tile.access<f16>, f16
  tile.return
}
