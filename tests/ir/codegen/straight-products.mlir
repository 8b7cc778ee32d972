// RUN: tilery-translate --target=sm_90a --print=plan --disjoint %s | FileCheck %s
// RUN: tilery-translate --target=sm_90a --print=asm --disjoint %s | FileCheck %s --check-prefix=PTX
// RUN: tilery-translate --target=sm_80 --print=plan --disjoint %s | FileCheck %s --check-prefix=WARPS
// Two products without a loop, the second one of what the first one gives: several programs a multiprocessor hide each other's waits.
// CHECK: straight: blocks consumers=1 {{.*}} resident=3
// WARPS: straight: blocks consumers=1
// PTX: wgmma.mma_async
// PTX: wgmma.wait_group
// PTX: wgmma.mma_async
// PTX: cp.async.bulk.tensor

module {
  tile.kernel @straight(%q: !tile.ptr<f16> {tile.divisibility = 16 : i64, tile.name = "q"}, %k: !tile.ptr<f16> {tile.divisibility = 16 : i64, tile.name = "k"}, %v: !tile.ptr<f16> {tile.divisibility = 16 : i64, tile.name = "v"}, %o: !tile.ptr<f16> {tile.divisibility = 16 : i64, tile.name = "o"}) {
    %c0 = arith.constant 0 : i64
    %c1 = arith.constant 1 : i64
    %c64 = arith.constant 64 : i64
    %c4096 = arith.constant 4096 : i64
    %none = arith.constant dense<0.0> : tensor<64x64xf32>
    %id = tile.program_id 0
    %program = arith.extsi %id : i32 to i64
    %at = arith.muli %program, %c4096 overflow<nsw> : i64
    %p = tile.access %q, %at steps(%c64, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
    %x = tile.load %p : !tile.access<64x64xf16> -> tensor<64x64xf16>
    %r = tile.access %k, %at steps(%c1, %c64) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
    %y = tile.load %r : !tile.access<64x64xf16> -> tensor<64x64xf16>
    %scores = tile.dot %x, %y, %none : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    %low = arith.truncf %scores : tensor<64x64xf32> to tensor<64x64xf16>
    %s = tile.access %v, %at steps(%c64, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
    %z = tile.load %s : !tile.access<64x64xf16> -> tensor<64x64xf16>
    %out = tile.dot %low, %z, %none : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
    %result = arith.truncf %out : tensor<64x64xf32> to tensor<64x64xf16>
    %t = tile.access %o, %at steps(%c64, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
    tile.store %t, %result : !tile.access<64x64xf16>, tensor<64x64xf16>
    tile.return
  }
}
