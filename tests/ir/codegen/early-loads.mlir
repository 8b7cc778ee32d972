// RUN: tilery-translate --disjoint --target=sm_80 --print=asm %s | FileCheck %s
// The gates, the rows and the scales are on their way before threads first wait for each other, though the places of the latter two are
// computed behind the first nest.

// CHECK-LABEL: .entry gated
// CHECK-COUNT-6: ld.global
// CHECK:         bar.sync
// CHECK-NOT:     ld.global
// CHECK:         st.global
tile.kernel @gated(%state: !tile.ptr<f32> {tile.divisibility = 16 : i64}, %gates: !tile.ptr<f32> {tile.divisibility = 16 : i64},
                   %scales: !tile.ptr<f32> {tile.divisibility = 16 : i64}, %out: !tile.ptr<f32> {tile.divisibility = 16 : i64}) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c128 = arith.constant 128 : i64
  %c4 = arith.constant 4 : i64
  %program = tile.program_id 0
  %number = arith.extsi %program : i32 to i64
  %at = arith.muli %number, %c4 overflow<nsw> : i64
  %pg = tile.access %gates, %at steps(%c1) bounds [0]() : <f32>, (i64), () -> <4xf32>
  %g = tile.load %pg : !tile.access<4xf32> -> tensor<4xf32>
  %e = math.exp %g : tensor<4xf32>
  %column = tile.expand_dims %e axis 1 : tensor<4xf32> -> tensor<4x1xf32>
  %weights = tile.broadcast %column : tensor<4x1xf32> -> tensor<4x128xf32>
  %row = arith.muli %at, %c128 overflow<nsw> : i64
  %ps = tile.access %state, %row steps(%c128, %c1) bounds [0, 0]() : <f32>, (i64, i64), () -> <4x128xf32>
  %s = tile.load %ps : !tile.access<4x128xf32> -> tensor<4x128xf32>
  %x = arith.mulf %s, %weights : tensor<4x128xf32>
  %line = arith.muli %number, %c128 overflow<nsw> : i64
  %pc = tile.access %scales, %line steps(%c1) bounds [0]() : <f32>, (i64), () -> <128xf32>
  %c = tile.load %pc : !tile.access<128xf32> -> tensor<128xf32>
  %lines = tile.expand_dims %c axis 0 : tensor<128xf32> -> tensor<1x128xf32>
  %all = tile.broadcast %lines : tensor<1x128xf32> -> tensor<4x128xf32>
  %y = arith.mulf %x, %all : tensor<4x128xf32>
  %sum = tile.reduce %y axis 1 {
  ^bb0(%l: f32, %r: f32):
    %t = arith.addf %l, %r : f32
    tile.yield %t : f32
  } : tensor<4x128xf32> -> tensor<4xf32>
  %po = tile.access %out, %at steps(%c1) bounds [0]() : <f32>, (i64), () -> <4xf32>
  tile.store %po, %sum : !tile.access<4xf32>, tensor<4xf32>
  tile.return
}
