// RUN: tilery-translate --disjoint --target=avx512 --print=plan %s | FileCheck %s --check-prefixes=PLAN,CPU-PLAN
// RUN: tilery-translate --disjoint --target=sm_80 --print=plan %s | FileCheck %s --check-prefixes=PLAN,GPU-PLAN
// RUN: tilery-translate --disjoint --target=avx512 %s | FileCheck %s --check-prefix=LLVM
// RUN: tilery-translate --disjoint --target=sm_80 --print=asm %s | FileCheck %s --check-prefix=PTX
// RUN: tilery-translate --disjoint --target=sm_90a --print=asm %s | FileCheck %s --check-prefix=PTX
// Softmax of rows as the Tileon front end builds it, a row a program.

// Three walks over a row: its maximum, the exponentials and their sum, the quotient. The
// exponentials alone are stored; a GPU's warp has them in registers.
// CPU-PLAN: plan @softmax arena 4096
// GPU-PLAN: plan @softmax arena 64
// PLAN: nest 1024
// PLAN-NEXT: reduce
// PLAN: nest 1024
// PLAN-NEXT: define %{{.*}} -> #0
// PLAN-NEXT: reduce
// PLAN: nest 1024
// PLAN-NEXT: store
// PLAN-NOT: nest
// GPU-PLAN: in registers #0

// Vectors of the target's width, a mask only in the last ones, the exponential in line.
// LLVM-LABEL: define {{.*}}@softmax
// LLVM: = load <16 x float>
// LLVM-NEXT: call {{.*}}@llvm.maxnum.v16f32
// LLVM: @llvm.masked.load.v16f32
// LLVM-NOT: call {{.*}}exp
// LLVM: call {{.*}}@llvm.fma.v16f32
// LLVM-NOT: call {{.*}}exp
// LLVM: store <16 x float>
// LLVM-NOT: call {{.*}}exp

// PTX: .entry softmax
// PTX: .maxntid 32
// PTX-NOT: {{st\.shared|bar\.sync}}
// PTX-COUNT-5: max.f32 {{.*}}
// PTX: ex2.approx
// PTX-NOT: {{st\.shared|bar\.sync}}
// PTX: st.global
module {
  tile.kernel @softmax(%arg0: !tile.ptr<f32, const> {tile.name = "x"}, %arg1: !tile.ptr<f32> {tile.name = "y"}, %arg2: i32 {tile.name = "columns"}) {
    %0 = tile.program_id 0
    %1 = tile.range 0 to 1024 : tensor<1024xi32>
    %2 = arith.muli %0, %arg2 overflow<nsw> : i32
    %3 = tile.splat %2 : i32 -> tensor<1024xi32>
    %4 = arith.addi %3, %1 overflow<nsw> : tensor<1024xi32>
    %5 = tile.splat %arg2 : i32 -> tensor<1024xi32>
    %6 = arith.cmpi slt, %1, %5 : tensor<1024xi32>
    %7 = tile.splat %arg0 : !tile.ptr<f32, const> -> tensor<1024x!tile.ptr<f32, const>>
    %8 = tile.add_ptr %7, %4 : tensor<1024x!tile.ptr<f32, const>>, tensor<1024xi32>
    %9 = tile.pointer_access %8 mask %6 : tensor<1024xi1> : tensor<1024x!tile.ptr<f32, const>> -> <1024xf32>
    %cst = arith.constant dense<0xFF800000> : tensor<1024xf32>
    %10 = tile.load %9 other %cst : tensor<1024xf32> : !tile.access<1024xf32> -> tensor<1024xf32>
    %11 = tile.reduce %10 axis 0 {
    ^bb0(%arg3: f32, %arg4: f32):
      %21 = arith.maxnumf %arg3, %arg4 : f32
      tile.yield %21 : f32
    } : tensor<1024xf32> -> f32
    %12 = tile.splat %11 : f32 -> tensor<1024xf32>
    %13 = arith.subf %10, %12 : tensor<1024xf32>
    %14 = math.exp %13 : tensor<1024xf32>
    %15 = tile.splat %arg1 : !tile.ptr<f32> -> tensor<1024x!tile.ptr<f32>>
    %16 = tile.add_ptr %15, %4 : tensor<1024x!tile.ptr<f32>>, tensor<1024xi32>
    %17 = tile.reduce %14 axis 0 {
    ^bb0(%arg3: f32, %arg4: f32):
      %21 = arith.addf %arg3, %arg4 : f32
      tile.yield %21 : f32
    } : tensor<1024xf32> -> f32
    %18 = tile.splat %17 : f32 -> tensor<1024xf32>
    %19 = arith.divf %14, %18 fastmath<arcp> : tensor<1024xf32>
    %20 = tile.pointer_access %16 mask %6 : tensor<1024xi1> : tensor<1024x!tile.ptr<f32>> -> <1024xf32>
    tile.store %20, %19 : !tile.access<1024xf32>, tensor<1024xf32>
    tile.return
  }
}
