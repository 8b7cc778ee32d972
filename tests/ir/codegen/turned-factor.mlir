// RUN: tilery-translate --disjoint --target=sm_80 --print=plan %s | FileCheck %s
// RUN: tilery-translate --disjoint --target=sm_80 --print=asm %s | FileCheck %s --check-prefix=ASM
// What a loop multiplies turned is stored as it was computed: 24 rows of 128, of which threads take vectors along k.

// Two steps of 64 are fetched together.
// ASM: cp.async.commit_group
// ASM-NOT: cp.async.commit_group
// ASM: cp.async.wait_group {{.*}}0
// ASM-COUNT-16: mma.sync
// ASM-NOT: cp.async.commit_group

// CHECK-LABEL: plan @scores
// CHECK: nest 24 128
// CHECK-NEXT: define
// CHECK-NOT: nest 128 24
// CHECK: tile.dot: mma bf16 {{.*}}k=
// CHECK-NOT: b-transposed
tile.kernel @scores(%q: !tile.ptr<bf16> {tile.divisibility = 16 : i64}, %k: !tile.ptr<bf16> {tile.divisibility = 16 : i64},
                    %o: !tile.ptr<f32> {tile.divisibility = 16 : i64}, %n: i32) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %width = arith.constant 128 : i64
  %rows = arith.constant 4096 : i64
  %yes = arith.constant true
  %none = arith.constant dense<0.0> : tensor<32x24xf32>
  %scale = arith.constant dense<0.5> : tensor<24x128xbf16>
  %a = tile.access %q, %zero steps(%width, %one) bounds [0, 0]() : <bf16>, (i64, i64), () -> <24x128xbf16>
  %loaded = tile.load %a : !tile.access<24x128xbf16> -> tensor<24x128xbf16>
  %factor = arith.mulf %loaded, %scale : tensor<24x128xbf16>
  %turned = tile.permute %factor [1, 0] : tensor<24x128xbf16> -> tensor<128x24xbf16>
  %buffer = tile.alloc : <32xf32, shared>
  %limit = arith.constant 0.0 : f32
  %most = arith.constant 31 : i32
  scf.for %i = %c0 to %n step %c1 : i32 {
    %step = arith.extsi %i : i32 to i64
    %at = arith.muli %step, %rows overflow<nsw> : i64
    %b = tile.access %k, %at steps(%width, %one) bounds [0, 0]() : <bf16>, (i64, i64), () -> <32x128xbf16>
    %keys = tile.load %b : !tile.access<32x128xbf16> -> tensor<32x128xbf16>
    %s = tile.dot %keys, %turned, %none clear %yes {precision = 1 : i32} : tensor<32x128xbf16>, tensor<128x24xbf16> -> tensor<32x24xf32>
    %sum = tile.reduce %s axis 1 {
    ^bb0(%x: f32, %y: f32):
      %both = arith.addf %x, %y : f32
      tile.yield %both : f32
    } : tensor<32x24xf32> -> tensor<32xf32>
    tile.buffer_store %buffer, %sum : <32xf32, shared>, tensor<32xf32>
    tile.parallel(%most) {
    ^bb0(%p: i32):
      %from = arith.extsi %p : i32 to i64
      %to = arith.addi %from, %one : i64
      %v = tile.element_load %buffer[%from] : <32xf32, shared>, i64 -> f32
      %negative = arith.cmpf olt, %v, %limit : f32
      scf.if %negative {
        tile.element_store %buffer[%to], %v : <32xf32, shared>, (i64), f32
      }
    } : i32
    %c = tile.access %o, %step steps(%one) bounds [0]() : <f32>, (i64), () -> <32xf32>
    tile.store %c, %sum : !tile.access<32xf32>, tensor<32xf32>
  }
  tile.return
}
