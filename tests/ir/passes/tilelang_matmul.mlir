// RUN: tilery-opt --tile-pipeline %s | FileCheck %s
// TileLang's matmul, with its buffers and its scalar epilogue, reaches the contraction that pointer programs reach, and one store.
// CHECK-LABEL: tile.kernel @matmul_logic
// CHECK-NOT:     scf.for
// CHECK-NOT:     tile.alloc
// CHECK:         %[[ACC:.*]] = tile.contract
// CHECK-COUNT-2:   tile.access {{.*}} bounds [1, 1]
// CHECK:           tile.yield
// CHECK-NOT:     tile.parallel
// CHECK:         %[[HALF:.*]] = arith.truncf %[[ACC]]
// CHECK:         %[[OUT:.*]] = tile.access {{.*}} bounds [1, 1]
// CHECK:         tile.store %[[OUT]], %[[HALF]]
tile.kernel @matmul_logic(%a: !tile.ptr<f16, const>, %b: !tile.ptr<f16, const>, %c: !tile.ptr<f16>, %lda: i64, %ldb: i64, %ldc: i64) {
  %c1 = arith.constant 1 : i64
  %m = arith.constant 1000 : i64
  %n = arith.constant 500 : i64
  %k = arith.constant 300 : i64
  %ra = tile.root %a[%m, %k] strides [%lda, %c1] : !tile.ptr<f16, const> -> !tile.root<2xf16>
  %rb = tile.root %b[%k, %n] strides [%ldb, %c1] : !tile.ptr<f16, const> -> !tile.root<2xf16>
  %rc = tile.root %c[%m, %n] strides [%ldc, %c1] : !tile.ptr<f16> -> !tile.root<2xf16>
  %bx = tile.program_id 0
  %by = tile.program_id 1
  %as = tile.alloc : !tile.buffer<128x32xf16, shared>
  %bs = tile.alloc : !tile.buffer<32x64xf16, shared>
  %cl = tile.alloc : !tile.buffer<128x64xf32, fragment>
  %zero = arith.constant dense<0.0> : tensor<128x64xf32>
  tile.buffer_store %cl, %zero : !tile.buffer<128x64xf32, fragment>, tensor<128x64xf32>
  %c0 = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %steps = arith.constant 10 : i32
  %c32 = arith.constant 32 : i32
  %c64 = arith.constant 64 : i32
  %c128 = arith.constant 128 : i32
  scf.for %ko = %c0 to %steps step %one : i32 {
    %y = arith.muli %by, %c128 overflow<nsw> : i32
    %kk = arith.muli %ko, %c32 overflow<nsw> : i32
    %x = arith.muli %bx, %c64 overflow<nsw> : i32
    %y64 = arith.extsi %y : i32 to i64
    %k64 = arith.extsi %kk : i32 to i64
    %x64 = arith.extsi %x : i32 to i64
    %va = tile.view %ra[%y64, %k64] dims [0, 1] dilations [%c1, %c1] limits [] : !tile.root<2xf16> -> !tile.view<128x32xf16>
    %ta = tile.load %va : !tile.view<128x32xf16> -> tensor<128x32xf16>
    tile.buffer_store %as, %ta : !tile.buffer<128x32xf16, shared>, tensor<128x32xf16>
    %vb = tile.view %rb[%k64, %x64] dims [0, 1] dilations [%c1, %c1] limits [] : !tile.root<2xf16> -> !tile.view<32x64xf16>
    %tb = tile.load %vb : !tile.view<32x64xf16> -> tensor<32x64xf16>
    tile.buffer_store %bs, %tb : !tile.buffer<32x64xf16, shared>, tensor<32x64xf16>
    %la = tile.buffer_load %as : !tile.buffer<128x32xf16, shared> -> tensor<128x32xf16>
    %lb = tile.buffer_load %bs : !tile.buffer<32x64xf16, shared> -> tensor<32x64xf16>
    %lc = tile.buffer_load %cl : !tile.buffer<128x64xf32, fragment> -> tensor<128x64xf32>
    %d = tile.dot %la, %lb, %lc : tensor<128x32xf16>, tensor<32x64xf16> -> tensor<128x64xf32>
    tile.buffer_store %cl, %d : !tile.buffer<128x64xf32, fragment>, tensor<128x64xf32>
  }
  tile.parallel(%c128, %c64) {
  ^bb0(%i: i32, %j: i32):
    %v = tile.element_load %cl[%i, %j] : !tile.buffer<128x64xf32, fragment>, i32, i32 -> f32
    %h = arith.truncf %v : f32 to f16
    %y = arith.muli %by, %c128 overflow<nsw> : i32
    %x = arith.muli %bx, %c64 overflow<nsw> : i32
    %yi = arith.addi %y, %i overflow<nsw> : i32
    %xj = arith.addi %x, %j overflow<nsw> : i32
    %y64 = arith.extsi %yi : i32 to i64
    %x64 = arith.extsi %xj : i32 to i64
    %to = tile.view %rc[%y64, %x64] dims [] dilations [] limits [] : !tile.root<2xf16> -> !tile.view<f16>
    tile.store %to, %h : !tile.view<f16>, f16
  } : i32, i32
  tile.return
}
