// RUN: tilery-translate --disjoint --target=avx512 --print=plan %s | FileCheck %s --check-prefix=PLAN
// RUN: tilery-translate --disjoint --target=sm_80 --print=plan %s | FileCheck %s --check-prefixes=PLAN,GPU-PLAN
// RUN: tilery-translate --disjoint --target=avx2 %s | FileCheck %s --check-prefix=LLVM -DLANES=8
// RUN: tilery-translate --disjoint --target=avx512 %s | FileCheck %s --check-prefix=LLVM -DLANES=16
// RUN: tilery-translate --disjoint --target=sm_80 --print=asm %s | FileCheck %s --check-prefix=PTX
// RUN: tilery-translate --disjoint --target=sm_90a --print=asm %s | FileCheck %s --check-prefix=PTX

// One walk over the row; the tile itself is nowhere in memory.
// PLAN: plan @sum_of_rows arena 64
// PLAN-NOT: #0
// PLAN: nest 1024
// PLAN-NEXT: reduce
// PLAN-NOT: nest
// GPU-PLAN: threads {{[0-9]+}}

// Several accumulators of whole vectors, joined after the loop by halves; no call, no scratch memory.
// LLVM-LABEL: define {{.*}}@sum_of_rows
// LLVM-COUNT-4: phi {{.*}}<[[LANES]] x float>
// LLVM: load <[[LANES]] x float>
// LLVM-NEXT: fadd {{.*}}<[[LANES]] x float>
// LLVM: fadd {{.*}}<4 x float>
// LLVM: fadd {{.*}}<2 x float>
// LLVM: fadd {{.*}} float
// LLVM: store float
// LLVM-NOT: call float

// Lanes of one warp exchange their sums: nothing in shared memory.
// PTX: .entry sum_of_rows
// PTX-NOT: {{bar\.sync|st\.shared}}
// PTX-COUNT-5: shfl.sync
// PTX-NOT: st.shared
// PTX: st.global
module {
  tile.kernel @sum_of_rows(%x: !tile.ptr<f32> {tile.divisibility = 16 : i64}, %out: !tile.ptr<f32>, %columns: i64) {
    %program = tile.program_id 0
    %row = arith.extsi %program : i32 to i64
    %zero = arith.constant 0 : i64
    %one = arith.constant 1 : i64
    %start = arith.muli %row, %columns overflow<nsw> : i64
    %place = tile.access %x, %start steps(%one) bounds [1] (%zero, %columns) : !tile.ptr<f32>, (i64), (i64, i64) -> !tile.access<1024xf32>
    %none = arith.constant dense<0.0> : tensor<1024xf32>
    %values = tile.load %place other %none : tensor<1024xf32> : !tile.access<1024xf32> -> tensor<1024xf32>
    %sum = tile.reduce %values axis 0 {
    ^bb0(%a: f32, %b: f32):
      %ab = arith.addf %a, %b : f32
      tile.yield %ab : f32
    } : tensor<1024xf32> -> f32
    %to = tile.add_ptr %out, %row : !tile.ptr<f32>, i64
    %at = tile.pointer_access %to : !tile.ptr<f32> -> <f32>
    tile.store %at, %sum : !tile.access<f32>, f32
    tile.return
  }
}
