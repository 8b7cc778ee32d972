// RUN: tilery-translate --disjoint --target=avx512 --print=plan %s | FileCheck %s --check-prefix=PLAN
// RUN: tilery-translate --disjoint --target=sm_80 --print=plan %s | FileCheck %s --check-prefix=BLOCKS
// RUN: tilery-translate --disjoint --target=avx2 %s | FileCheck %s --check-prefix=LLVM -DBLOCK=6x16 -DLANES=8
// RUN: tilery-translate --disjoint --target=avx512 %s | FileCheck %s --check-prefix=LLVM -DBLOCK=13x32 -DLANES=16
// RUN: tilery-translate --disjoint --target=sm_80 --print=asm %s | FileCheck %s --check-prefix=PTX
// Attention with a running maximum, f16, 64 queries against 64 keys at a time, as the Tileon front end builds it.

// The loop keeps its two products as dots; between them the scores are walked row by row.
// PLAN: plan @attention
// PLAN: scf.for
// PLAN: tile.dot {{.*}}: 13x32, K 64 x 1
// PLAN: nest 64 64
// PLAN-NEXT: reduce
// PLAN: nest 64 64
// PLAN-NEXT: define
// PLAN: reduce
// PLAN: tile.dot {{.*}}: 13x32, K 64 x 1
// PLAN: nest 64 64
// PLAN-NEXT: store

// A GPU before Hopper: threads copy what warps multiply.
// BLOCKS: attention: blocks consumers=1 k=
// BLOCKS-COUNT-3: copied by threads, 16 bytes at a time

// Both products run the same kernel of f32 registers; the exponential is in line.
// LLVM-LABEL: define {{.*}}@attention
// LLVM-COUNT-2: call void @tilery.dot.float.[[BLOCK]]
// LLVM-NOT: call {{.*}}exp
// LLVM: define internal void @tilery.dot.float.[[BLOCK]]
// LLVM-COUNT-8: call <[[LANES]] x float> @llvm.fma.v[[LANES]]f32

// Tensor cores for both products; the first one's result goes into the second one through registers alone.
// PTX: .entry attention
// PTX: cp.async
// PTX: ldmatrix
// PTX-COUNT-32: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
// PTX: ex2.approx
// PTX: ldmatrix{{.*}}.trans
// PTX-COUNT-32: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
// PTX-NOT: mma.sync
module {
  tile.kernel @attention(%arg0: !tile.ptr<f16> {tile.divisibility = 16 : i64, tile.name = "Q"}, %arg1: !tile.ptr<f16> {tile.divisibility = 16 : i64, tile.name = "K"}, %arg2: !tile.ptr<f16> {tile.divisibility = 16 : i64, tile.name = "V"}, %arg3: !tile.ptr<f16> {tile.divisibility = 16 : i64, tile.name = "Out"}, %arg4: i32 {tile.divisibility = 16 : i64, tile.name = "stride_h"}, %arg5: i32 {tile.divisibility = 16 : i64, tile.name = "stride_m"}, %arg6: i32 {tile.divisibility = 16 : i64, tile.name = "N"}, %arg7: f32 {tile.name = "sm_scale"}) attributes {tile.num_warps = 4 : i64} {
    %0 = tile.program_id 0
    %1 = tile.program_id 1
    %2 = arith.muli %1, %arg4 overflow<nsw> : i32
    %c64_i32 = arith.constant 64 : i32
    %3 = arith.muli %0, %c64_i32 overflow<nsw> : i32
    %4 = arith.muli %0, %c64_i32 : i32
    %5 = tile.range 0 to 64 : tensor<64xi32>
    %6 = tile.splat %3 : i32 -> tensor<64xi32>
    %7 = tile.splat %4 : i32 -> tensor<64xi32>
    %8 = arith.addi %6, %5 overflow<nsw> : tensor<64xi32>
    %9 = arith.addi %7, %5 : tensor<64xi32>
    %10 = tile.range 0 to 64 : tensor<64xi32>
    %11 = tile.add_ptr %arg0, %2 : !tile.ptr<f16>, i32
    %12 = tile.expand_dims %8 axis 1 : tensor<64xi32> -> tensor<64x1xi32>
    %13 = tile.splat %arg5 : i32 -> tensor<64x1xi32>
    %14 = arith.muli %12, %13 overflow<nsw> : tensor<64x1xi32>
    %15 = tile.splat %11 : !tile.ptr<f16> -> tensor<64x1x!tile.ptr<f16>>
    %16 = tile.add_ptr %15, %14 : tensor<64x1x!tile.ptr<f16>>, tensor<64x1xi32>
    %17 = tile.expand_dims %10 axis 0 : tensor<64xi32> -> tensor<1x64xi32>
    %cst = arith.constant dense<1> : tensor<1x64xi32>
    %18 = arith.muli %17, %cst overflow<nsw> : tensor<1x64xi32>
    %19 = tile.broadcast %16 : tensor<64x1x!tile.ptr<f16>> -> tensor<64x64x!tile.ptr<f16>>
    %20 = tile.broadcast %18 : tensor<1x64xi32> -> tensor<64x64xi32>
    %21 = tile.add_ptr %19, %20 : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
    %22 = tile.expand_dims %8 axis 1 : tensor<64xi32> -> tensor<64x1xi32>
    %23 = tile.splat %arg6 : i32 -> tensor<64x1xi32>
    %24 = arith.cmpi slt, %22, %23 : tensor<64x1xi32>
    %25 = tile.broadcast %24 : tensor<64x1xi1> -> tensor<64x64xi1>
    %26 = tile.pointer_access %21 mask %25 : tensor<64x64xi1> : tensor<64x64x!tile.ptr<f16>> -> <64x64xf16>
    %cst_0 = arith.constant dense<0.000000e+00> : tensor<64x64xf16>
    %27 = tile.load %26 other %cst_0 : tensor<64x64xf16> : !tile.access<64x64xf16> -> tensor<64x64xf16>
    %cst_1 = arith.constant dense<0.000000e+00> : tensor<64xf32>
    %cst_2 = arith.constant dense<0x7F800000> : tensor<64xf32>
    %28 = arith.subf %cst_1, %cst_2 : tensor<64xf32>
    %cst_3 = arith.constant dense<0.000000e+00> : tensor<64xf32>
    %cst_4 = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
    %c1_i32 = arith.constant 1 : i32
    %29 = arith.addi %0, %c1_i32 overflow<nsw> : i32
    %c64_i32_5 = arith.constant 64 : i32
    %30 = arith.muli %29, %c64_i32_5 overflow<nsw> : i32
    %31 = arith.minsi %30, %arg6 : i32
    %c0_i32 = arith.constant 0 : i32
    %c64_i32_6 = arith.constant 64 : i32
    %32:3 = scf.for %arg8 = %c0_i32 to %31 step %c64_i32_6 iter_args(%arg9 = %cst_3, %arg10 = %cst_4, %arg11 = %28) -> (tensor<64xf32>, tensor<64x64xf32>, tensor<64xf32>)  : i32 {
      %53 = tile.range 0 to 64 : tensor<64xi32>
      %54 = tile.splat %arg8 : i32 -> tensor<64xi32>
      %55 = tile.splat %arg8 : i32 -> tensor<64xi32>
      %56 = arith.addi %54, %53 overflow<nsw> : tensor<64xi32>
      %57 = arith.addi %55, %53 : tensor<64xi32>
      %58 = tile.add_ptr %arg1, %2 : !tile.ptr<f16>, i32
      %59 = tile.expand_dims %56 axis 0 : tensor<64xi32> -> tensor<1x64xi32>
      %60 = tile.splat %arg5 : i32 -> tensor<1x64xi32>
      %61 = arith.muli %59, %60 overflow<nsw> : tensor<1x64xi32>
      %62 = tile.splat %58 : !tile.ptr<f16> -> tensor<1x64x!tile.ptr<f16>>
      %63 = tile.add_ptr %62, %61 : tensor<1x64x!tile.ptr<f16>>, tensor<1x64xi32>
      %64 = tile.expand_dims %10 axis 1 : tensor<64xi32> -> tensor<64x1xi32>
      %cst_8 = arith.constant dense<1> : tensor<64x1xi32>
      %65 = arith.muli %64, %cst_8 overflow<nsw> : tensor<64x1xi32>
      %66 = tile.broadcast %63 : tensor<1x64x!tile.ptr<f16>> -> tensor<64x64x!tile.ptr<f16>>
      %67 = tile.broadcast %65 : tensor<64x1xi32> -> tensor<64x64xi32>
      %68 = tile.add_ptr %66, %67 : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
      %69 = tile.expand_dims %56 axis 0 : tensor<64xi32> -> tensor<1x64xi32>
      %70 = tile.splat %arg6 : i32 -> tensor<1x64xi32>
      %71 = arith.cmpi slt, %69, %70 : tensor<1x64xi32>
      %72 = tile.broadcast %71 : tensor<1x64xi1> -> tensor<64x64xi1>
      %73 = tile.pointer_access %68 mask %72 : tensor<64x64xi1> : tensor<64x64x!tile.ptr<f16>> -> <64x64xf16>
      %cst_9 = arith.constant dense<0.000000e+00> : tensor<64x64xf16>
      %74 = tile.load %73 other %cst_9 : tensor<64x64xf16> : !tile.access<64x64xf16> -> tensor<64x64xf16>
      %cst_10 = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
      %75 = tile.dot %27, %74, %cst_10 {precision = 1 : i32} : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
      %cst_11 = arith.constant 1.44269502 : f32
      %76 = arith.mulf %arg7, %cst_11 : f32
      %77 = tile.splat %76 : f32 -> tensor<64x64xf32>
      %78 = arith.mulf %75, %77 : tensor<64x64xf32>
      %79 = tile.expand_dims %57 axis 0 : tensor<64xi32> -> tensor<1x64xi32>
      %80 = tile.splat %arg6 : i32 -> tensor<1x64xi32>
      %81 = arith.cmpi slt, %79, %80 : tensor<1x64xi32>
      %82 = tile.expand_dims %9 axis 1 : tensor<64xi32> -> tensor<64x1xi32>
      %83 = tile.expand_dims %57 axis 0 : tensor<64xi32> -> tensor<1x64xi32>
      %84 = tile.broadcast %82 : tensor<64x1xi32> -> tensor<64x64xi32>
      %85 = tile.broadcast %83 : tensor<1x64xi32> -> tensor<64x64xi32>
      %86 = arith.cmpi sge, %84, %85 : tensor<64x64xi32>
      %87 = tile.broadcast %81 : tensor<1x64xi1> -> tensor<64x64xi1>
      %88 = arith.andi %87, %86 : tensor<64x64xi1>
      %cst_12 = arith.constant -1.000000e+06 : f32
      %cst_13 = arith.constant -1.000000e+06 : f32
      %89 = tile.splat %cst_13 : f32 -> tensor<64x64xf32>
      %90 = arith.select %88, %78, %89 : tensor<64x64xi1>, tensor<64x64xf32>
      %91 = tile.reduce %90 axis 1 {
      ^bb0(%arg12: f32, %arg13: f32):
        %124 = arith.maxnumf %arg12, %arg13 : f32
        tile.yield %124 : f32
      } : tensor<64x64xf32> -> tensor<64xf32>
      %92 = arith.maxnumf %arg11, %91 : tensor<64xf32>
      %93 = tile.expand_dims %92 axis 1 : tensor<64xf32> -> tensor<64x1xf32>
      %94 = tile.broadcast %93 : tensor<64x1xf32> -> tensor<64x64xf32>
      %95 = arith.subf %90, %94 : tensor<64x64xf32>
      %96 = math.exp2 %95 : tensor<64x64xf32>
      %97 = arith.subf %arg11, %92 : tensor<64xf32>
      %98 = math.exp2 %97 : tensor<64xf32>
      %99 = arith.mulf %arg9, %98 : tensor<64xf32>
      %100 = tile.reduce %96 axis 1 {
      ^bb0(%arg12: f32, %arg13: f32):
        %124 = arith.addf %arg12, %arg13 : f32
        tile.yield %124 : f32
      } : tensor<64x64xf32> -> tensor<64xf32>
      %101 = arith.addf %99, %100 : tensor<64xf32>
      %102 = tile.expand_dims %98 axis 1 : tensor<64xf32> -> tensor<64x1xf32>
      %103 = tile.broadcast %102 : tensor<64x1xf32> -> tensor<64x64xf32>
      %104 = arith.mulf %arg10, %103 : tensor<64x64xf32>
      %105 = tile.add_ptr %arg2, %2 : !tile.ptr<f16>, i32
      %106 = tile.expand_dims %56 axis 1 : tensor<64xi32> -> tensor<64x1xi32>
      %107 = tile.splat %arg5 : i32 -> tensor<64x1xi32>
      %108 = arith.muli %106, %107 overflow<nsw> : tensor<64x1xi32>
      %109 = tile.splat %105 : !tile.ptr<f16> -> tensor<64x1x!tile.ptr<f16>>
      %110 = tile.add_ptr %109, %108 : tensor<64x1x!tile.ptr<f16>>, tensor<64x1xi32>
      %111 = tile.expand_dims %10 axis 0 : tensor<64xi32> -> tensor<1x64xi32>
      %cst_14 = arith.constant dense<1> : tensor<1x64xi32>
      %112 = arith.muli %111, %cst_14 overflow<nsw> : tensor<1x64xi32>
      %113 = tile.broadcast %110 : tensor<64x1x!tile.ptr<f16>> -> tensor<64x64x!tile.ptr<f16>>
      %114 = tile.broadcast %112 : tensor<1x64xi32> -> tensor<64x64xi32>
      %115 = tile.add_ptr %113, %114 : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
      %116 = tile.expand_dims %56 axis 1 : tensor<64xi32> -> tensor<64x1xi32>
      %117 = tile.splat %arg6 : i32 -> tensor<64x1xi32>
      %118 = arith.cmpi slt, %116, %117 : tensor<64x1xi32>
      %119 = tile.broadcast %118 : tensor<64x1xi1> -> tensor<64x64xi1>
      %120 = tile.pointer_access %115 mask %119 : tensor<64x64xi1> : tensor<64x64x!tile.ptr<f16>> -> <64x64xf16>
      %cst_15 = arith.constant dense<0.000000e+00> : tensor<64x64xf16>
      %121 = tile.load %120 other %cst_15 : tensor<64x64xf16> : !tile.access<64x64xf16> -> tensor<64x64xf16>
      %122 = arith.truncf %96 : tensor<64x64xf32> to tensor<64x64xf16>
      %123 = tile.dot %122, %121, %104 {precision = 1 : i32} : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
      scf.yield %101, %123, %92 : tensor<64xf32>, tensor<64x64xf32>, tensor<64xf32>
    }
    %33 = tile.expand_dims %32#0 axis 1 : tensor<64xf32> -> tensor<64x1xf32>
    %34 = tile.broadcast %33 : tensor<64x1xf32> -> tensor<64x64xf32>
    %35 = arith.divf %32#1, %34 fastmath<arcp> : tensor<64x64xf32>
    %36 = tile.add_ptr %arg3, %2 : !tile.ptr<f16>, i32
    %37 = tile.expand_dims %8 axis 1 : tensor<64xi32> -> tensor<64x1xi32>
    %38 = tile.splat %arg5 : i32 -> tensor<64x1xi32>
    %39 = arith.muli %37, %38 overflow<nsw> : tensor<64x1xi32>
    %40 = tile.splat %36 : !tile.ptr<f16> -> tensor<64x1x!tile.ptr<f16>>
    %41 = tile.add_ptr %40, %39 : tensor<64x1x!tile.ptr<f16>>, tensor<64x1xi32>
    %42 = tile.expand_dims %10 axis 0 : tensor<64xi32> -> tensor<1x64xi32>
    %cst_7 = arith.constant dense<1> : tensor<1x64xi32>
    %43 = arith.muli %42, %cst_7 overflow<nsw> : tensor<1x64xi32>
    %44 = tile.broadcast %41 : tensor<64x1x!tile.ptr<f16>> -> tensor<64x64x!tile.ptr<f16>>
    %45 = tile.broadcast %43 : tensor<1x64xi32> -> tensor<64x64xi32>
    %46 = tile.add_ptr %44, %45 : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
    %47 = arith.truncf %35 : tensor<64x64xf32> to tensor<64x64xf16>
    %48 = tile.expand_dims %8 axis 1 : tensor<64xi32> -> tensor<64x1xi32>
    %49 = tile.splat %arg6 : i32 -> tensor<64x1xi32>
    %50 = arith.cmpi slt, %48, %49 : tensor<64x1xi32>
    %51 = tile.broadcast %50 : tensor<64x1xi1> -> tensor<64x64xi1>
    %52 = tile.pointer_access %46 mask %51 : tensor<64x64xi1> : tensor<64x64x!tile.ptr<f16>> -> <64x64xf16>
    tile.store %52, %47 : !tile.access<64x64xf16>, tensor<64x64xf16>
    tile.return
  }
}
