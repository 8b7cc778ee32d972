// RUN: tilery-translate --disjoint --target=sm_90a --print=asm %s | FileCheck %s
// Threads without four elements each are left out, however many warps a program asks for; not where they meet.

// CHECK-LABEL: .entry short
// CHECK: .maxntid 128
// CHECK: st.global.v4.b32
// CHECK-LABEL: .entry tiny
// CHECK: .maxntid 32
// CHECK-LABEL: .entry long
// CHECK: .maxntid 256
// CHECK-LABEL: .entry sum
// CHECK: .maxntid 256
tile.kernel @short(%x: !tile.ptr<f32> {tile.divisibility = 16 : i64}) attributes {tile.num_warps = 32 : i64} {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %a = tile.access %x, %zero steps(%one) bounds [0] () : !tile.ptr<f32>, (i64), () -> !tile.access<512xf32>
  %v = tile.load %a : !tile.access<512xf32> -> tensor<512xf32>
  %q = arith.mulf %v, %v : tensor<512xf32>
  tile.store %a, %q : !tile.access<512xf32>, tensor<512xf32>
  tile.return
}

tile.kernel @tiny(%x: !tile.ptr<f32> {tile.divisibility = 16 : i64}) attributes {tile.num_warps = 4 : i64} {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %a = tile.access %x, %zero steps(%one) bounds [0] () : !tile.ptr<f32>, (i64), () -> !tile.access<8xf32>
  %v = tile.load %a : !tile.access<8xf32> -> tensor<8xf32>
  %q = arith.mulf %v, %v : tensor<8xf32>
  tile.store %a, %q : !tile.access<8xf32>, tensor<8xf32>
  tile.return
}

tile.kernel @long(%x: !tile.ptr<f32> {tile.divisibility = 16 : i64}) attributes {tile.num_warps = 8 : i64} {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %a = tile.access %x, %zero steps(%one) bounds [0] () : !tile.ptr<f32>, (i64), () -> !tile.access<4096xf32>
  %v = tile.load %a : !tile.access<4096xf32> -> tensor<4096xf32>
  %q = arith.mulf %v, %v : tensor<4096xf32>
  tile.store %a, %q : !tile.access<4096xf32>, tensor<4096xf32>
  tile.return
}

tile.kernel @sum(%x: !tile.ptr<f32> {tile.divisibility = 16 : i64}) attributes {tile.num_warps = 8 : i64} {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %a = tile.access %x, %zero steps(%one) bounds [0] () : !tile.ptr<f32>, (i64), () -> !tile.access<512xf32>
  %v = tile.load %a : !tile.access<512xf32> -> tensor<512xf32>
  %s = tile.reduce %v axis 0 {
  ^bb0(%x0: f32, %y0: f32):
    %z0 = arith.addf %x0, %y0 : f32
    tile.yield %z0 : f32
  } : tensor<512xf32> -> f32
  %d = tile.splat %s : f32 -> tensor<512xf32>
  %q = arith.mulf %v, %d : tensor<512xf32>
  tile.store %a, %q : !tile.access<512xf32>, tensor<512xf32>
  tile.return
}
