// RUN: tilery-translate --disjoint --target=avx2 --print=asm %s | FileCheck %s --check-prefix=CPU
// RUN: tilery-translate --disjoint --target=sm_80 --print=asm %s | FileCheck %s --check-prefix=GPU
// RUN: sed s/tile.rounds_each// %s | tilery-translate --disjoint --target=avx2 --print=asm | FileCheck %s --check-prefix=FUSED
// Of a module that says so, products and sums round each; NVIDIA's assembler would fuse a `mul.f32` and an `add.f32`.

// CPU-NOT: vfm
// CPU: vmulps
// CPU-NOT: vfm
// FUSED: vfmadd
// GPU-NOT: fma
// GPU: mul.rn.f32
// GPU: add.rn.f32
module attributes {tile.rounds_each} {
  tile.kernel @sums(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>) {
    %zero = arith.constant 0 : i64
    %one = arith.constant 1 : i64
    %end = arith.constant 1024 : i64
    %from = tile.access %x, %zero steps(%one) bounds [1](%zero, %end) : !tile.ptr<f32>, (i64), (i64, i64) -> !tile.access<1024xf32>
    %to = tile.access %y, %zero steps(%one) bounds [1](%zero, %end) : !tile.ptr<f32>, (i64), (i64, i64) -> !tile.access<1024xf32>
    %a = tile.load %from : !tile.access<1024xf32> -> tensor<1024xf32>
    %b = tile.load %to : !tile.access<1024xf32> -> tensor<1024xf32>
    %c = arith.mulf %a, %b : tensor<1024xf32>
    %d = arith.addf %c, %b : tensor<1024xf32>
    tile.store %to, %d : !tile.access<1024xf32>, tensor<1024xf32>
    tile.return
  }
}
