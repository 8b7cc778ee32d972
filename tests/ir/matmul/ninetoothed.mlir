// RUN: tilery-opt --tile-pipeline %s | FileCheck %S/main_loop.check
// The matmul of examples/ninetoothed as its front end builds it, in tiles of 64x64x32.
module {
  tile.kernel @matmul_kernel(%arg0: !tile.ptr<f16> {tile.divisibility = 16 : i64, tile.name = "a"}, %arg1: i64 {tile.name = "a_size_0"}, %arg2: i64 {tile.name = "a_size_1"}, %arg3: i64 {tile.name = "a_stride_0"}, %arg4: !tile.ptr<f16> {tile.divisibility = 16 : i64, tile.name = "b"}, %arg5: i64 {tile.name = "b_size_0"}, %arg6: i64 {tile.name = "b_size_1"}, %arg7: i64 {tile.name = "b_stride_0"}, %arg8: !tile.ptr<f16> {tile.divisibility = 16 : i64, tile.name = "c"}, %arg9: i64 {tile.name = "c_size_0"}, %arg10: i64 {tile.name = "c_size_1"}, %arg11: i64 {tile.name = "c_stride_0"}) {
    %c1_i64 = arith.constant 1 : i64
    %c1_i64_0 = arith.constant 1 : i64
    %c1_i64_1 = arith.constant 1 : i64
    %0 = tile.program_id 0
    %1 = arith.extsi %0 : i32 to i64
    %2 = tile.program_id 1
    %3 = arith.extsi %2 : i32 to i64
    %4 = tile.root %arg0[%arg1, %arg2] strides[%arg3, %c1_i64] : <f16> -> <2xf16>
    %5 = tile.root %arg4[%arg5, %arg6] strides[%arg7, %c1_i64_0] : <f16> -> <2xf16>
    %6 = tile.root %arg8[%arg9, %arg10] strides[%arg11, %c1_i64_1] : <f16> -> <2xf16>
    %cst = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
    %c31_i64 = arith.constant 31 : i64
    %7 = arith.addi %arg2, %c31_i64 overflow<nsw> : i64
    %c32_i64 = arith.constant 32 : i64
    %8 = tile.div trunc %7, %c32_i64 : i64
    %c0_i32 = arith.constant 0 : i32
    %c1_i32 = arith.constant 1 : i32
    %9 = arith.extsi %c0_i32 : i32 to i64
    %10 = arith.extsi %c1_i32 : i32 to i64
    %11 = scf.for %arg12 = %9 to %8 step %10 iter_args(%arg13 = %cst) -> (tensor<64x64xf32>)  : i64 {
      %c64_i64_7 = arith.constant 64 : i64
      %16 = arith.muli %3, %c64_i64_7 overflow<nsw> : i64
      %c32_i64_8 = arith.constant 32 : i64
      %17 = arith.muli %arg12, %c32_i64_8 overflow<nsw> : i64
      %c1_i64_9 = arith.constant 1 : i64
      %c64_i64_10 = arith.constant 64 : i64
      %c1_i64_11 = arith.constant 1 : i64
      %c32_i64_12 = arith.constant 32 : i64
      %18 = tile.view %4[%16, %17] dims [0, 1] dilations[%c1_i64_9, %c1_i64_11] limits[] : <2xf16> -> <64x32xf16>
      %19 = tile.load %18 : !tile.view<64x32xf16> -> tensor<64x32xf16>
      %c32_i64_13 = arith.constant 32 : i64
      %20 = arith.muli %arg12, %c32_i64_13 overflow<nsw> : i64
      %c64_i64_14 = arith.constant 64 : i64
      %21 = arith.muli %1, %c64_i64_14 overflow<nsw> : i64
      %c1_i64_15 = arith.constant 1 : i64
      %c32_i64_16 = arith.constant 32 : i64
      %c1_i64_17 = arith.constant 1 : i64
      %c64_i64_18 = arith.constant 64 : i64
      %22 = tile.view %5[%20, %21] dims [0, 1] dilations[%c1_i64_15, %c1_i64_17] limits[] : <2xf16> -> <32x64xf16>
      %23 = tile.load %22 : !tile.view<32x64xf16> -> tensor<32x64xf16>
      %cst_19 = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
      %24 = tile.dot %19, %23, %cst_19 {precision = 1 : i32} : tensor<64x32xf16>, tensor<32x64xf16> -> tensor<64x64xf32>
      %25 = arith.addf %arg13, %24 : tensor<64x64xf32>
      scf.yield %25 : tensor<64x64xf32>
    }
    %12 = arith.truncf %11 : tensor<64x64xf32> to tensor<64x64xf16>
    %c64_i64 = arith.constant 64 : i64
    %13 = arith.muli %3, %c64_i64 overflow<nsw> : i64
    %c64_i64_2 = arith.constant 64 : i64
    %14 = arith.muli %1, %c64_i64_2 overflow<nsw> : i64
    %c1_i64_3 = arith.constant 1 : i64
    %c64_i64_4 = arith.constant 64 : i64
    %c1_i64_5 = arith.constant 1 : i64
    %c64_i64_6 = arith.constant 64 : i64
    %15 = tile.view %6[%13, %14] dims [0, 1] dilations[%c1_i64_3, %c1_i64_5] limits[] : <2xf16> -> <64x64xf16>
    tile.store %15, %12 : !tile.view<64x64xf16>, tensor<64x64xf16>
    tile.return
  }
  tile.host @matmul_kernel_host(%arg0: !tile.tensor_arg<2xf16> {tile.dtype = "float16", tile.name = "a"}, %arg1: !tile.tensor_arg<2xf16> {tile.dtype = "float16", tile.name = "b"}, %arg2: !tile.tensor_arg<2xf16> {tile.dtype = "float16", tile.name = "c"}) {
    %0 = tile.host_extent %arg0, 0 : <2xf16>
    %1 = tile.host_extent %arg0, 1 : <2xf16>
    %2 = tile.host_pointer %arg0 : <2xf16> -> <f16>
    %3 = tile.host_stride %arg0, 0 : <2xf16>
    %4 = tile.host_extent %arg1, 0 : <2xf16>
    %5 = tile.host_extent %arg1, 1 : <2xf16>
    %6 = tile.host_pointer %arg1 : <2xf16> -> <f16>
    %7 = tile.host_stride %arg1, 0 : <2xf16>
    %8 = tile.host_extent %arg2, 0 : <2xf16>
    %9 = tile.host_extent %arg2, 1 : <2xf16>
    %10 = tile.host_pointer %arg2 : <2xf16> -> <f16>
    %11 = tile.host_stride %arg2, 0 : <2xf16>
    %c63_i64 = arith.constant 63 : i64
    %12 = arith.addi %0, %c63_i64 : i64
    %c64_i64 = arith.constant 64 : i64
    %13 = tile.div trunc %12, %c64_i64 : i64
    %c63_i64_0 = arith.constant 63 : i64
    %14 = arith.addi %9, %c63_i64_0 : i64
    %c64_i64_1 = arith.constant 64 : i64
    %15 = tile.div trunc %14, %c64_i64_1 : i64
    %c63_i64_2 = arith.constant 63 : i64
    %16 = arith.addi %8, %c63_i64_2 : i64
    %c64_i64_3 = arith.constant 64 : i64
    %17 = tile.div trunc %16, %c64_i64_3 : i64
    %c63_i64_4 = arith.constant 63 : i64
    %18 = arith.addi %5, %c63_i64_4 : i64
    %c64_i64_5 = arith.constant 64 : i64
    %19 = tile.div trunc %18, %c64_i64_5 : i64
    tile.host_check %13 equals %17, "arguments `a` and `b` are arranged for different grids: {0} and {1} programs in dimension 0 of the outermost level"
    tile.host_check %15 equals %19, "arguments `a` and `b` are arranged for different grids: {0} and {1} programs in dimension 1 of the outermost level"
    tile.host_check %13 equals %17, "arguments `a` and `c` are arranged for different grids: {0} and {1} programs in dimension 0 of the outermost level"
    tile.launch @matmul_kernel grid(%15, %13) args(%2, %0, %1, %3, %6, %4, %5, %7, %10, %8, %9, %11) : !tile.ptr<f16>, i64, i64, i64, !tile.ptr<f16>, i64, i64, i64, !tile.ptr<f16>, i64, i64, i64
    tile.return
  }
}
