// Attention through the passes to block IR: the oracle before and after, with copies that are fast and slow.
#include "tests/unit/oracle/block_program.h"
#include "tests/unit/block/roles.h"
#include <bit>

using namespace tilery;
using namespace tilery::oracle;

namespace {

// 64 queries against 64 keys at a time, causal, head dimension 64, as the passes over tile IR leave it (tests/ir/codegen/attention.mlir).
const char *attentionText = R"(
  tile.kernel @attention(%arg0: !tile.ptr<f16> {tile.divisibility = 16 : i64},
    %arg1: !tile.ptr<f16> {tile.divisibility = 16 : i64}, %arg2: !tile.ptr<f16> {tile.divisibility = 16 : i64},
    %arg3: !tile.ptr<f16> {tile.divisibility = 16 : i64}, %arg4: i32 {tile.divisibility = 16 : i64},
    %arg5: i32 {tile.divisibility = 16 : i64}, %arg6: i32 {tile.divisibility = 16 : i64}, %arg7: f32) {
    %c0_i64 = arith.constant 0 : i64
    %c1_i64 = arith.constant 1 : i64
    %c64_i64 = arith.constant 64 : i64
    %cst = arith.constant dense<0xFF800000> : tensor<64xf32>
    %cst_0 = arith.constant -1.000000e+06 : f32
    %cst_1 = arith.constant 1.44269502 : f32
    %c0_i32 = arith.constant 0 : i32
    %c1_i32 = arith.constant 1 : i32
    %cst_2 = arith.constant dense<0.000000e+00> : tensor<64x64xf32>
    %cst_3 = arith.constant dense<0.000000e+00> : tensor<64xf32>
    %cst_4 = arith.constant dense<0.000000e+00> : tensor<64x64xf16>
    %c64_i32 = arith.constant 64 : i32
    %0 = tile.program_id 0
    %1 = tile.program_id 1
    %2 = arith.muli %0, %c64_i32 : i32
    %3 = tile.range 0 to 64 : tensor<64xi32>
    %4 = tile.splat %2 : i32 -> tensor<64xi32>
    %5 = arith.addi %4, %3 : tensor<64xi32>
    %6 = arith.extsi %1 : i32 to i64
    %7 = arith.extsi %arg4 : i32 to i64
    %8 = arith.muli %6, %7 overflow<nsw> : i64
    %9 = arith.extsi %0 : i32 to i64
    %10 = arith.muli %9, %c64_i64 overflow<nsw> : i64
    %11 = arith.extsi %arg5 : i32 to i64
    %12 = arith.muli %10, %11 overflow<nsw> : i64
    %13 = arith.addi %8, %12 overflow<nsw> : i64
    %14 = arith.extsi %arg6 : i32 to i64
    %15 = arith.subi %14, %10 overflow<nsw> : i64
    %16 = tile.access %arg0, %13 steps(%11, %c1_i64) bounds [1, 0](%c0_i64, %15) : <f16>, (i64, i64), (i64, i64) -> <64x64xf16>
    %17 = tile.load %16 other %cst_4 : tensor<64x64xf16> : !tile.access<64x64xf16> -> tensor<64x64xf16>
    %18 = arith.addi %0, %c1_i32 overflow<nsw> : i32
    %19 = arith.muli %18, %c64_i32 overflow<nsw> : i32
    %20 = arith.minsi %19, %arg6 : i32
    %21 = tile.splat %arg6 : i32 -> tensor<1x64xi32>
    %22 = arith.mulf %arg7, %cst_1 : f32
    %23 = tile.splat %22 : f32 -> tensor<64x64xf32>
    %24 = tile.expand_dims %5 axis 1 : tensor<64xi32> -> tensor<64x1xi32>
    %25 = tile.broadcast %24 : tensor<64x1xi32> -> tensor<64x64xi32>
    %26 = tile.splat %cst_0 : f32 -> tensor<64x64xf32>
    %27:3 = scf.for %arg8 = %c0_i32 to %20 step %c64_i32 iter_args(%arg9 = %cst_3, %arg10 = %cst_2, %arg11 = %cst) -> (tensor<64xf32>, tensor<64x64xf32>, tensor<64xf32>)  : i32 {
      %33 = tile.splat %arg8 : i32 -> tensor<64xi32>
      %34 = arith.addi %33, %3 : tensor<64xi32>
      %35 = arith.extsi %arg8 : i32 to i64
      %36 = arith.muli %35, %11 overflow<nsw> : i64
      %37 = arith.addi %8, %36 overflow<nsw> : i64
      %38 = arith.subi %14, %35 overflow<nsw> : i64
      %39 = tile.access %arg1, %37 steps(%c1_i64, %11) bounds [0, 1](%c0_i64, %38) : <f16>, (i64, i64), (i64, i64) -> <64x64xf16>
      %40 = tile.load %39 other %cst_4 : tensor<64x64xf16> : !tile.access<64x64xf16> -> tensor<64x64xf16>
      %41 = tile.dot %17, %40, %cst_2 live[%15, %c64_i64] {precision = 1 : i32} : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
      %42 = arith.mulf %41, %23 : tensor<64x64xf32>
      %43 = tile.expand_dims %34 axis 0 : tensor<64xi32> -> tensor<1x64xi32>
      %44 = arith.cmpi slt, %43, %21 : tensor<1x64xi32>
      %45 = tile.broadcast %43 : tensor<1x64xi32> -> tensor<64x64xi32>
      %46 = arith.cmpi sge, %25, %45 : tensor<64x64xi32>
      %47 = tile.broadcast %44 : tensor<1x64xi1> -> tensor<64x64xi1>
      %48 = arith.andi %47, %46 : tensor<64x64xi1>
      %49 = arith.select %48, %42, %26 : tensor<64x64xi1>, tensor<64x64xf32>
      %50 = tile.reduce %49 axis 1 {
      ^bb0(%arg12: f32, %arg13: f32):
        %68 = arith.maxnumf %arg12, %arg13 : f32
        tile.yield %68 : f32
      } : tensor<64x64xf32> -> tensor<64xf32>
      %51 = arith.maxnumf %arg11, %50 : tensor<64xf32>
      %52 = tile.expand_dims %51 axis 1 : tensor<64xf32> -> tensor<64x1xf32>
      %53 = tile.broadcast %52 : tensor<64x1xf32> -> tensor<64x64xf32>
      %54 = arith.subf %49, %53 : tensor<64x64xf32>
      %55 = math.exp2 %54 : tensor<64x64xf32>
      %56 = arith.subf %arg11, %51 : tensor<64xf32>
      %57 = math.exp2 %56 : tensor<64xf32>
      %58 = arith.mulf %arg9, %57 : tensor<64xf32>
      %59 = tile.reduce %55 axis 1 {
      ^bb0(%arg12: f32, %arg13: f32):
        %68 = arith.addf %arg12, %arg13 : f32
        tile.yield %68 : f32
      } : tensor<64x64xf32> -> tensor<64xf32>
      %60 = arith.addf %58, %59 : tensor<64xf32>
      %61 = tile.expand_dims %57 axis 1 : tensor<64xf32> -> tensor<64x1xf32>
      %62 = tile.broadcast %61 : tensor<64x1xf32> -> tensor<64x64xf32>
      %63 = arith.mulf %arg10, %62 : tensor<64x64xf32>
      %64 = tile.access %arg2, %37 steps(%11, %c1_i64) bounds [1, 0](%c0_i64, %38) : <f16>, (i64, i64), (i64, i64) -> <64x64xf16>
      %65 = tile.load %64 other %cst_4 : tensor<64x64xf16> : !tile.access<64x64xf16> -> tensor<64x64xf16>
      %66 = arith.truncf %55 : tensor<64x64xf32> to tensor<64x64xf16>
      %67 = tile.dot %66, %65, %63 live[%15, %c64_i64] {precision = 1 : i32} : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
      scf.yield %60, %67, %51 : tensor<64xf32>, tensor<64x64xf32>, tensor<64xf32>
    }
    %28 = tile.expand_dims %27#0 axis 1 : tensor<64xf32> -> tensor<64x1xf32>
    %29 = tile.broadcast %28 : tensor<64x1xf32> -> tensor<64x64xf32>
    %30 = arith.divf %27#1, %29 fastmath<arcp> : tensor<64x64xf32>
    %31 = arith.truncf %30 : tensor<64x64xf32> to tensor<64x64xf16>
    %32 = tile.access %arg3, %13 steps(%11, %c1_i64) bounds [1, 0](%c0_i64, %15) : <f16>, (i64, i64), (i64, i64) -> <64x64xf16>
    tile.store %32, %31 : !tile.access<64x64xf16>, tensor<64x64xf16>
    tile.return
  })";

struct Attention {
  uint64_t heads = 2, n;
  std::vector<uint16_t> q, k, v;
  explicit Attention(uint64_t n) : n(n), q(heads * n * 64), k(q.size()), v(q.size()) {
    const uint16_t numbers[] = {0x0000, 0x3c00, 0xbc00, 0x4000, 0xb800}; // 0, 1, -1, 2, -0.5
    for (size_t i = 0; i < q.size(); ++i) {
      q[i] = numbers[(i * 2654435761u >> 9) % 5];
      k[i] = numbers[(i * 40503u >> 5) % 5];
      v[i] = numbers[(i * 2246822519u >> 7) % 5];
    }
  }
  std::vector<uint16_t> run(Program &program, bool late) {
    std::vector<uint16_t> out(q.size(), 0xffff);
    Options options;
    options.late = late;
    program.run({uint32_t(n + 63) / 64, uint32_t(heads), 1},
                {slot(q), slot(k), slot(v), slot(out), n * 64, 64, n, std::bit_cast<uint32_t>(0.125f)}, options);
    return out;
  }
};

TEST(PipelineLoop, KeepsAttention) {
  Program before(attentionText), blocks(attentionText);
  blocks.apply(block::buildRoles);
  EXPECT_EQ(blocks.count<block::RoleOp>(), 2u);
  EXPECT_EQ(blocks.count<block::RingOp>(), 3u);
  EXPECT_EQ(blocks.count<block::ConvertOp>(), 0u); // the second product reads what the first one's layout holds
  for (uint64_t n : {64, 150}) {
    Attention attention(n);
    std::vector<uint16_t> wanted = attention.run(before, false);
    for (bool late : {false, true})
      EXPECT_EQ(attention.run(blocks, late), wanted) << "n " << n << ", late: " << late;
  }
}

} // namespace
