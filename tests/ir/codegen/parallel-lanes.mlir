// RUN: tilery-translate --disjoint --target=avx512 %s | FileCheck %s
// Points that do one thing after another, in vectors: elements that lie anywhere are read and written by lanes under their mask.

// CHECK-LABEL: define {{.*}}@exchanged
// CHECK: @llvm.masked.load.v16i8
// CHECK: %[[SET:.*]] = icmp ne <16 x i8>
// CHECK: %[[INSIDE:.*]] = icmp ult <16 x i64> {{.*}}, splat (i64 64)
// CHECK: call {{.*}}@llvm.masked.gather.v16f32
// CHECK: %[[BOTH:.*]] = and <16 x i1> %[[SET]], %[[INSIDE]]
// CHECK: call void @llvm.masked.scatter.v16f32{{.*}} <16 x i1> %[[BOTH]])
tile.kernel @exchanged(%p: !tile.ptr<f32>, %q: !tile.ptr<i64>, %r: !tile.ptr<i8>, %n: i64) {
  %c1 = arith.constant 1 : i64
  %c0 = arith.constant 0 : i64
  %zero = arith.constant 0 : i8
  %size = arith.constant 48 : i32
  %a = tile.access %p, %c0 steps (%c1) bounds [1](%c0, %n) : <f32>, (i64), (i64, i64) -> <64xf32>
  %b = tile.access %q, %c0 steps (%c1) bounds [1](%c0, %n) : <i64>, (i64), (i64, i64) -> <48xi64>
  %c = tile.access %r, %c0 steps (%c1) bounds [1](%c0, %n) : <i8>, (i64), (i64, i64) -> <48xi8>
  %x = tile.load %a : !tile.access<64xf32> -> tensor<64xf32>
  %y = tile.load %b : !tile.access<48xi64> -> tensor<48xi64>
  %z = tile.load %c : !tile.access<48xi8> -> tensor<48xi8>
  %from = tile.alloc : !tile.buffer<64xf32, shared>
  %to = tile.alloc : !tile.buffer<64xf32, shared>
  tile.buffer_store %from, %x : !tile.buffer<64xf32, shared>, tensor<64xf32>
  tile.buffer_store %to, %x : !tile.buffer<64xf32, shared>, tensor<64xf32>
  tile.parallel(%size) {
  ^bb0(%i: i32):
    %bit = tile.extract %z[%i] : tensor<48xi8>, i32 -> i8
    %set = arith.cmpi ne, %bit, %zero : i8
    scf.if %set {
      %at = tile.extract %y[%i] : tensor<48xi64>, i32 -> i64
      %e = tile.element_load %from[%at] : !tile.buffer<64xf32, shared>, i64 -> f32
      %twice = arith.addf %e, %e : f32
      tile.element_store %to[%at], %twice : !tile.buffer<64xf32, shared>, (i64), f32
    }
  } : i32
  %w = tile.buffer_load %to : !tile.buffer<64xf32, shared> -> tensor<64xf32>
  tile.store %a, %w : !tile.access<64xf32>, tensor<64xf32>
  tile.return
}

// Neighbours at a distance that all lanes share are one masked access, no gather.
// CHECK-LABEL: define {{.*}}@neighbours
// CHECK-NOT: gather
// CHECK: call {{.*}}@llvm.masked.load.v16f32
// CHECK-NOT: gather
tile.kernel @neighbours(%p: !tile.ptr<f32>, %n: i64, %by: i32) {
  %c1 = arith.constant 1 : i64
  %c0 = arith.constant 0 : i64
  %c32 = arith.constant 32 : i64
  %a = tile.access %p, %c0 steps (%c32, %c1) bounds [0, 0]() : <f32>, (i64, i64), () -> <4x32xf32>
  %x = tile.load %a : !tile.access<4x32xf32> -> tensor<4x32xf32>
  %e = math.exp %x : tensor<4x32xf32>
  %line = tile.range 0 to 32 : tensor<32xi32>
  %row = tile.expand_dims %line axis 0 : tensor<32xi32> -> tensor<1x32xi32>
  %lines = tile.broadcast %row : tensor<1x32xi32> -> tensor<4x32xi32>
  %far = tile.splat %by : i32 -> tensor<4x32xi32>
  %place = arith.subi %lines, %far overflow<nsw> : tensor<4x32xi32>
  %taken = tile.take %e, %place axis 1 : tensor<4x32xf32>, tensor<4x32xi32> -> tensor<4x32xf32>
  tile.store %a, %taken : !tile.access<4x32xf32>, tensor<4x32xf32>
  tile.return
}
