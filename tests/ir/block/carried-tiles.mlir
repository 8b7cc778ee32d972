// RUN: tilery-translate --target=sm_90a --print=block %s | FileCheck %s
// A loop that carries a second tile beside a product's sums: 64 registers each in two groups of warps, more than the 104 that
// two blocks of a multiprocessor could give (the assembler refused such code).

// CHECK: block.role @math warps 8 registers 232
module {
  tile.kernel @matmul(%arg0: !tile.ptr<f8E4M3FN> {tile.divisibility = 16 : i64, tile.name = "A"}, %arg1: !tile.ptr<f8E4M3FN> {tile.divisibility = 16 : i64, tile.name = "B"}, %arg2: !tile.ptr<f32> {tile.divisibility = 16 : i64, tile.name = "C"}, %arg3: i64 {tile.divisibility = 16 : i64, tile.name = "A.stride0"}, %arg4: i64 {tile.divisibility = 16 : i64, tile.name = "B.stride0"}) {
    %c131072_i64 = arith.constant 131072 : i64
    %c0_i64 = arith.constant 0 : i64
    %c64_i64 = arith.constant 64 : i64
    %c128_i64 = arith.constant 128 : i64
    %c2_i32 = arith.constant 2 : i32
    %c1_i64 = arith.constant 1 : i64
    %c128_i32 = arith.constant 128 : i32
    %cst = arith.constant 0.000000e+00 : f32
    %c0_i32 = arith.constant 0 : i32
    %c1_i32 = arith.constant 1 : i32
    %c1024_i64 = arith.constant 1024 : i64
    %c8192_i64 = arith.constant 8192 : i64
    %0 = tile.program_id 0
    %1 = tile.program_id 1
    %2 = tile.splat %cst : f32 -> tensor<128x128xf32>
    %3 = arith.extsi %1 : i32 to i64
    %4 = arith.muli %3, %c128_i64 overflow<nsw> : i64
    %5 = arith.muli %4, %arg3 overflow<nsw> : i64
    %6 = arith.subi %c0_i64, %4 overflow<nsw> : i64
    %7 = arith.subi %c1024_i64, %4 overflow<nsw> : i64
    %8 = arith.extsi %0 : i32 to i64
    %9 = arith.muli %8, %c128_i64 overflow<nsw> : i64
    %10 = arith.muli %9, %arg4 overflow<nsw> : i64
    %11 = arith.subi %c0_i64, %9 overflow<nsw> : i64
    %12 = arith.subi %c1024_i64, %9 overflow<nsw> : i64
    %13:2 = scf.for %arg5 = %c0_i32 to %c128_i32 step %c1_i32 iter_args(%arg6 = %2, %arg7 = %2) -> (tensor<128x128xf32>, tensor<128x128xf32>)  : i32 {
      %25 = arith.extsi %arg5 : i32 to i64
      %26 = arith.muli %25, %c64_i64 overflow<nsw> : i64
      %27 = arith.addi %5, %26 overflow<nsw> : i64
      %28 = arith.subi %c0_i64, %26 overflow<nsw> : i64
      %29 = arith.subi %c8192_i64, %26 overflow<nsw> : i64
      %30 = tile.access %arg0, %27 steps(%arg3, %c1_i64) bounds [1, 1](%6, %7, %28, %29) : <f8E4M3FN>, (i64, i64), (i64, i64, i64, i64) -> <128x64xf8E4M3FN>
      %31 = tile.load %30 : !tile.access<128x64xf8E4M3FN> -> tensor<128x64xf8E4M3FN>
      %32 = arith.addi %10, %26 overflow<nsw> : i64
      %33 = tile.access %arg1, %32 steps(%arg4, %c1_i64) bounds [1, 1](%11, %12, %28, %29) : <f8E4M3FN>, (i64, i64), (i64, i64, i64, i64) -> <128x64xf8E4M3FN>
      %34 = tile.load %33 : !tile.access<128x64xf8E4M3FN> -> tensor<128x64xf8E4M3FN>
      %35 = tile.permute %34 [1, 0] : tensor<128x64xf8E4M3FN> -> tensor<64x128xf8E4M3FN>
      %36 = tile.dot %31, %35, %arg6 live[%7, %12] {precision = 1 : i32} : tensor<128x64xf8E4M3FN>, tensor<64x128xf8E4M3FN> -> tensor<128x128xf32>
      %37 = arith.addi %arg5, %c1_i32 : i32
      %38 = tile.rem floor %37, %c2_i32 : i32
      %39 = arith.cmpi eq, %38, %c0_i32 : i32
      %40 = arith.select %39, %2, %36 : tensor<128x128xf32>
      %41 = scf.if %39 -> (tensor<128x128xf32>) {
        %42 = arith.addf %arg7, %36 : tensor<128x128xf32>
        scf.yield %42 : tensor<128x128xf32>
      } else {
        scf.yield %arg7 : tensor<128x128xf32>
      }
      scf.yield %40, %41 : tensor<128x128xf32>, tensor<128x128xf32>
    } {tile.num_stages = 3 : i64}
    %14 = arith.extsi %1 : i32 to i64
    %15 = arith.muli %14, %c128_i64 overflow<nsw> : i64
    %16 = arith.muli %14, %c131072_i64 overflow<nsw> : i64
    %17 = arith.extsi %0 : i32 to i64
    %18 = arith.muli %17, %c128_i64 overflow<nsw> : i64
    %19 = arith.addi %16, %18 overflow<nsw> : i64
    %20 = arith.subi %c0_i64, %15 overflow<nsw> : i64
    %21 = arith.subi %c1024_i64, %15 overflow<nsw> : i64
    %22 = arith.subi %c0_i64, %18 overflow<nsw> : i64
    %23 = arith.subi %c1024_i64, %18 overflow<nsw> : i64
    %24 = tile.access %arg2, %19 steps(%c1024_i64, %c1_i64) bounds [1, 1](%20, %21, %22, %23) : <f32>, (i64, i64), (i64, i64, i64, i64) -> <128x128xf32>
    tile.store %24, %13#1 : !tile.access<128x128xf32>, tensor<128x128xf32>
    tile.return
  }
}
