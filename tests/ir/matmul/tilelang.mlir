// RUN: tilery-opt --tile-pipeline %s | FileCheck %S/main_loop.check
// The matmul of examples/tilelang as its front end builds it, in tiles of 64x64x32.
module {
  tile.kernel @matmul_logic(%arg0: !tile.ptr<f16> {tile.divisibility = 16 : i64, tile.name = "A"}, %arg1: !tile.ptr<f16> {tile.divisibility = 16 : i64, tile.name = "B"}, %arg2: !tile.ptr<f16> {tile.divisibility = 16 : i64, tile.name = "C"}, %arg3: i64 {tile.divisibility = 16 : i64, tile.name = "A.stride0"}, %arg4: i64 {tile.divisibility = 16 : i64, tile.name = "B.stride0"}, %arg5: i64 {tile.divisibility = 16 : i64, tile.name = "C.stride0"}) {
    %c256_i32 = arith.constant 256 : i32
    %c256_i32_0 = arith.constant 256 : i32
    %c1_i32 = arith.constant 1 : i32
    %0 = arith.extsi %c256_i32 : i32 to i64
    %1 = arith.extsi %c256_i32_0 : i32 to i64
    %2 = arith.extsi %c1_i32 : i32 to i64
    %3 = tile.root %arg0[%0, %1] strides[%arg3, %2] : <f16> -> <2xf16>
    %c256_i32_1 = arith.constant 256 : i32
    %c256_i32_2 = arith.constant 256 : i32
    %c1_i32_3 = arith.constant 1 : i32
    %4 = arith.extsi %c256_i32_1 : i32 to i64
    %5 = arith.extsi %c256_i32_2 : i32 to i64
    %6 = arith.extsi %c1_i32_3 : i32 to i64
    %7 = tile.root %arg1[%4, %5] strides[%arg4, %6] : <f16> -> <2xf16>
    %c256_i32_4 = arith.constant 256 : i32
    %c256_i32_5 = arith.constant 256 : i32
    %c1_i32_6 = arith.constant 1 : i32
    %8 = arith.extsi %c256_i32_4 : i32 to i64
    %9 = arith.extsi %c256_i32_5 : i32 to i64
    %10 = arith.extsi %c1_i32_6 : i32 to i64
    %11 = tile.root %arg2[%8, %9] strides[%arg5, %10] : <f16> -> <2xf16>
    %12 = tile.program_id 0
    %13 = tile.program_id 1
    %14 = tile.alloc : <64x32xf16, shared>
    %15 = tile.alloc : <32x64xf16, shared>
    %16 = tile.alloc : <64x64xf32, fragment>
    %cst = arith.constant 0.000000e+00 : f32
    %17 = tile.splat %cst : f32 -> tensor<64x64xf32>
    tile.buffer_store %16, %17 : <64x64xf32, fragment>, tensor<64x64xf32>
    %c0_i32 = arith.constant 0 : i32
    %c8_i32 = arith.constant 8 : i32
    %c1_i32_7 = arith.constant 1 : i32
    scf.for %arg6 = %c0_i32 to %c8_i32 step %c1_i32_7  : i32 {
      %c64_i32_9 = arith.constant 64 : i32
      %18 = arith.muli %13, %c64_i32_9 overflow<nsw> : i32
      %c32_i32 = arith.constant 32 : i32
      %19 = arith.muli %arg6, %c32_i32 overflow<nsw> : i32
      %20 = arith.extsi %18 : i32 to i64
      %21 = arith.extsi %19 : i32 to i64
      %c1_i64 = arith.constant 1 : i64
      %c1_i64_10 = arith.constant 1 : i64
      %22 = tile.view %3[%20, %21] dims [0, 1] dilations[%c1_i64, %c1_i64_10] limits[] : <2xf16> -> <64x32xf16>
      %23 = tile.load %22 : !tile.view<64x32xf16> -> tensor<64x32xf16>
      tile.buffer_store %14, %23 : <64x32xf16, shared>, tensor<64x32xf16>
      %c32_i32_11 = arith.constant 32 : i32
      %24 = arith.muli %arg6, %c32_i32_11 overflow<nsw> : i32
      %c64_i32_12 = arith.constant 64 : i32
      %25 = arith.muli %12, %c64_i32_12 overflow<nsw> : i32
      %26 = arith.extsi %24 : i32 to i64
      %27 = arith.extsi %25 : i32 to i64
      %c1_i64_13 = arith.constant 1 : i64
      %c1_i64_14 = arith.constant 1 : i64
      %28 = tile.view %7[%26, %27] dims [0, 1] dilations[%c1_i64_13, %c1_i64_14] limits[] : <2xf16> -> <32x64xf16>
      %29 = tile.load %28 : !tile.view<32x64xf16> -> tensor<32x64xf16>
      tile.buffer_store %15, %29 : <32x64xf16, shared>, tensor<32x64xf16>
      %30 = tile.buffer_load %14 : <64x32xf16, shared> -> tensor<64x32xf16>
      %31 = tile.buffer_load %15 : <32x64xf16, shared> -> tensor<32x64xf16>
      %32 = tile.buffer_load %16 : <64x64xf32, fragment> -> tensor<64x64xf32>
      %33 = tile.dot %30, %31, %32 {precision = 1 : i32} : tensor<64x32xf16>, tensor<32x64xf16> -> tensor<64x64xf32>
      tile.buffer_store %16, %33 : <64x64xf32, fragment>, tensor<64x64xf32>
    }
    %c64_i32 = arith.constant 64 : i32
    %c64_i32_8 = arith.constant 64 : i32
    tile.parallel(%c64_i32, %c64_i32_8) {
    ^bb0(%arg6: i32, %arg7: i32):
      %c64_i32_9 = arith.constant 64 : i32
      %18 = arith.muli %13, %c64_i32_9 overflow<nsw> : i32
      %19 = arith.addi %18, %arg6 overflow<nsw> : i32
      %c64_i32_10 = arith.constant 64 : i32
      %20 = arith.muli %12, %c64_i32_10 overflow<nsw> : i32
      %21 = arith.addi %20, %arg7 overflow<nsw> : i32
      %22 = arith.extsi %19 : i32 to i64
      %23 = arith.extsi %21 : i32 to i64
      %24 = tile.view %11[%22, %23] dims [] dilations[] limits[] : <2xf16> -> <f16>
      %25 = arith.extsi %arg6 : i32 to i64
      %26 = arith.extsi %arg7 : i32 to i64
      %27 = tile.element_load %16[%25, %26] : <64x64xf32, fragment>, i64, i64 -> f32
      %28 = arith.truncf %27 : f32 to f16
      tile.store %24, %28 : !tile.view<f16>, f16
    } : i32, i32
    tile.return
  }
  tile.host @matmul_logic_host(%arg0: !tile.tensor_arg<2xf16> {tile.dtype = "float16", tile.name = "A"}, %arg1: !tile.tensor_arg<2xf16> {tile.dtype = "float16", tile.name = "B"}, %arg2: !tile.tensor_arg<2xf16> {tile.dtype = "float16", tile.name = "C"}) {
    %0 = tile.host_extent %arg0, 0 : <2xf16>
    %1 = tile.host_extent %arg0, 1 : <2xf16>
    %2 = tile.host_extent %arg1, 0 : <2xf16>
    %3 = tile.host_extent %arg1, 1 : <2xf16>
    %4 = tile.host_extent %arg2, 0 : <2xf16>
    %5 = tile.host_extent %arg2, 1 : <2xf16>
    %c256_i32 = arith.constant 256 : i32
    %6 = arith.extsi %c256_i32 : i32 to i64
    tile.host_check %0 equals %6, "Argument matmul_logic.A.shape[0] has an unsatisfied constraint: {0} == {1}"
    %c256_i32_0 = arith.constant 256 : i32
    %7 = arith.extsi %c256_i32_0 : i32 to i64
    tile.host_check %1 equals %7, "Argument matmul_logic.A.shape[1] has an unsatisfied constraint: {0} == {1}"
    %c256_i32_1 = arith.constant 256 : i32
    %8 = arith.extsi %c256_i32_1 : i32 to i64
    tile.host_check %2 equals %8, "Argument matmul_logic.B.shape[0] has an unsatisfied constraint: {0} == {1}"
    %c256_i32_2 = arith.constant 256 : i32
    %9 = arith.extsi %c256_i32_2 : i32 to i64
    tile.host_check %3 equals %9, "Argument matmul_logic.B.shape[1] has an unsatisfied constraint: {0} == {1}"
    %c256_i32_3 = arith.constant 256 : i32
    %10 = arith.extsi %c256_i32_3 : i32 to i64
    tile.host_check %4 equals %10, "Argument matmul_logic.C.shape[0] has an unsatisfied constraint: {0} == {1}"
    %c256_i32_4 = arith.constant 256 : i32
    %11 = arith.extsi %c256_i32_4 : i32 to i64
    tile.host_check %5 equals %11, "Argument matmul_logic.C.shape[1] has an unsatisfied constraint: {0} == {1}"
    %12 = tile.host_pointer %arg0 : <2xf16> -> <f16>
    %13 = tile.host_pointer %arg1 : <2xf16> -> <f16>
    %14 = tile.host_pointer %arg2 : <2xf16> -> <f16>
    %15 = tile.host_stride %arg0, 0 : <2xf16>
    %16 = tile.host_stride %arg1, 0 : <2xf16>
    %17 = tile.host_stride %arg2, 0 : <2xf16>
    %c4_i64 = arith.constant 4 : i64
    %c4_i64_5 = arith.constant 4 : i64
    tile.launch @matmul_logic grid(%c4_i64, %c4_i64_5) args(%12, %13, %14, %15, %16, %17) : !tile.ptr<f16>, !tile.ptr<f16>, !tile.ptr<f16>, i64, i64, i64
    tile.return
  }
}
