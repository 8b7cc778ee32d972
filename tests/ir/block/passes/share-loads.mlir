// RUN: tilery-opt %s -pass-pipeline='builtin.module(tile.kernel(share-loads))' | FileCheck %s
// RUN: tilery-opt %s -pass-pipeline='builtin.module(tile.kernel(share-loads,choose-schedule,pipeline))' | FileCheck %s --check-prefix=RING

// Words of eight numbers of k, b + k / 8 * 128: each is loaded once, as a box, and repeated.
// CHECK-LABEL: tile.kernel @words
// CHECK: tile.contract
// CHECK: %[[AT:.*]] = tile.access %arg1, %{{.*}} steps(%[[PITCH:.*]], %{{.*}}) bounds [0, 0]() : <i32>, (i64, i64), () -> <8x128xi32>
// CHECK: %[[ONCE:.*]] = tile.load %[[AT]]
// CHECK: %[[APART:.*]] = tile.reshape %[[ONCE]] : tensor<8x128xi32> -> tensor<8x1x128xi32>
// CHECK: %[[REPEATED:.*]] = tile.broadcast %[[APART]] : tensor<8x1x128xi32> -> tensor<8x8x128xi32>
// CHECK: %[[WHOLE:.*]] = tile.reshape %[[REPEATED]] : tensor<8x8x128xi32> -> tensor<64x128xi32>
// CHECK: tile.shift right_unsigned %[[WHOLE]]
// The words come through the ring as they are; the threads that multiply make the factor of them, A^T B^T's first.
// RING-LABEL: tile.kernel @words
// RING: block.ring takers 1 : <{{[0-9]+}}, [8x128xi32, 128x64xf16]>
// RING: block.copy %{{.*}} : <128x64xf16, 128>, <128x64xf16>
// RING: block.copy %{{.*}} : <8x32xi32, 128>, <8x128xi32>
// RING: %[[TAKEN:.*]] = block.take
// RING: %[[PART:.*]] = block.part %[[TAKEN]][0]
// RING: %[[WORDS:.*]] = block.read %[[PART]] : <8x128xi32> -> tensor<8x128xi32>
// RING: tile.reshape %[[WORDS]]
// RING: %[[NUMBERS:.*]] = arith.sitofp
// RING: %[[FACTOR:.*]] = tile.permute %[[NUMBERS]] [1, 0]
// RING: %[[STARTED:.*]] = block.mma_start %{{.*}}, %[[FACTOR]], %{{.*}} clear
// RING: block.mma_settle %[[STARTED]]
// RING: block.release %[[TAKEN]]
tile.kernel @words(%a: !tile.ptr<f16> {tile.divisibility = 16 : i64}, %b: !tile.ptr<i32> {tile.divisibility = 16 : i64}, %c: !tile.ptr<f32> {tile.divisibility = 16 : i64}) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c4 = arith.constant 4 : i64
  %c64 = arith.constant 64 : i64
  %c128 = arith.constant 128 : i64
  %c256 = arith.constant 256 : i64
  %c1024 = arith.constant 1024 : i64
  %eight = arith.constant dense<8> : tensor<64xi64>
  %pitch = arith.constant dense<128> : tensor<64xi64>
  %fifteen = arith.constant dense<15> : tensor<64x128xi32>
  %four = arith.constant dense<4> : tensor<64xi64>
  %zeros = arith.constant dense<0.0> : tensor<128x128xf32>
  %lanes = tile.range 0 to 64 : tensor<64xi32>
  %k = arith.extsi %lanes : tensor<64xi32> to tensor<64xi64>
  %word = tile.div floor %k, %eight : tensor<64xi64>
  %place = arith.muli %word, %pitch overflow<nsw> : tensor<64xi64>
  %number = tile.rem floor %k, %eight : tensor<64xi64>
  %shift = arith.muli %number, %four overflow<nsw> : tensor<64xi64>
  %few = arith.trunci %shift : tensor<64xi64> to tensor<64xi32>
  %column = tile.expand_dims %few axis 1 : tensor<64xi32> -> tensor<64x1xi32>
  %shifts = tile.broadcast %column : tensor<64x1xi32> -> tensor<64x128xi32>
  %sums = tile.contract %c4, %zeros {
  ^bb0(%step: i64):
    %oa = arith.muli %step, %c64 overflow<nsw> : i64
    %pa = tile.access %a, %oa steps(%c256, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <128x64xf16>
    %ta = tile.load %pa : !tile.access<128x64xf16> -> tensor<128x64xf16>
    %ob = arith.muli %step, %c1024 overflow<nsw> : i64
    %pb = tile.access %b, %ob steps(%place, %c1) bounds [0, 0]() : <i32>, (tensor<64xi64>, i64), () -> <64x128xi32>
    %tb = tile.load %pb : !tile.access<64x128xi32> -> tensor<64x128xi32>
    %bits = tile.shift right_unsigned %tb, %shifts : tensor<64x128xi32>
    %numbers = arith.andi %bits, %fifteen : tensor<64x128xi32>
    %factor = arith.sitofp %numbers : tensor<64x128xi32> to tensor<64x128xf16>
    tile.yield %ta, %factor : tensor<128x64xf16>, tensor<64x128xf16>
  } : tensor<128x128xf32>
  %pc = tile.access %c, %c0 steps(%c128, %c1) bounds [0, 0]() : <f32>, (i64, i64), () -> <128x128xf32>
  tile.store %pc, %sums : !tile.access<128x128xf32>, tensor<128x128xf32>
  tile.return
}

// Numbers of f32 are not unpacked in registers: loads stay what they are.
// CHECK-LABEL: tile.kernel @other
// CHECK-NOT: tile.reshape
tile.kernel @other(%a: !tile.ptr<f32> {tile.divisibility = 16 : i64}, %b: !tile.ptr<f32> {tile.divisibility = 16 : i64}, %c: !tile.ptr<f32> {tile.divisibility = 16 : i64}) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c4 = arith.constant 4 : i64
  %c128 = arith.constant 128 : i64
  %eight = arith.constant dense<8> : tensor<32xi64>
  %zeros = arith.constant dense<0.0> : tensor<128x128xf32>
  %lanes = tile.range 0 to 32 : tensor<32xi32>
  %k = arith.extsi %lanes : tensor<32xi32> to tensor<32xi64>
  %word = tile.div floor %k, %eight : tensor<32xi64>
  %sums = tile.contract %c4, %zeros {
  ^bb0(%step: i64):
    %pa = tile.access %a, %step steps(%c128, %c1) bounds [0, 0]() : <f32>, (i64, i64), () -> <128x32xf32>
    %ta = tile.load %pa : !tile.access<128x32xf32> -> tensor<128x32xf32>
    %pb = tile.access %b, %step steps(%word, %c1) bounds [0, 0]() : <f32>, (tensor<32xi64>, i64), () -> <32x128xf32>
    %tb = tile.load %pb : !tile.access<32x128xf32> -> tensor<32x128xf32>
    %twice = arith.addf %tb, %tb : tensor<32x128xf32>
    tile.yield %ta, %twice : tensor<128x32xf32>, tensor<32x128xf32>
  } {precision = 1 : i32} : tensor<128x128xf32>
  %pc = tile.access %c, %c0 steps(%c128, %c1) bounds [0, 0]() : <f32>, (i64, i64), () -> <128x128xf32>
  tile.store %pc, %sums : !tile.access<128x128xf32>, tensor<128x128xf32>
  tile.return
}
