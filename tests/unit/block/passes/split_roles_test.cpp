// The passes to block IR leave what a program computes as it was: the oracle before and after, with copies that are fast and slow.
#include "tests/unit/oracle/block_program.h"
#include "tests/unit/block/roles.h"

using namespace tilery;
using namespace tilery::oracle;

namespace {

// C[z] = A[z] @ B^T: tiles of 128 x 64 x 64 (the pass's other cases: tests/ir/block/passes/pipeline.mlir).
const char *productText = R"(
tile.kernel @product(%a: !tile.ptr<f16> {tile.divisibility = 16 : i64}, %b: !tile.ptr<f16> {tile.divisibility = 16 : i64},
                     %c: !tile.ptr<f32> {tile.divisibility = 16 : i64}, %M: i64, %N: i64 {tile.divisibility = 16 : i64},
                     %K: i64 {tile.divisibility = 16 : i64}, %a_batch: i64 {tile.divisibility = 16 : i64}) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c64 = arith.constant 64 : i64
  %c128 = arith.constant 128 : i64
  %zero = arith.constant dense<0.0> : tensor<128x64xf32>
  %x32 = tile.program_id 0
  %y32 = tile.program_id 1
  %z32 = tile.program_id 2
  %x = arith.extsi %x32 : i32 to i64
  %y = arith.extsi %y32 : i32 to i64
  %z = arith.extsi %z32 : i32 to i64
  %column = arith.muli %x, %c64 overflow<nsw> : i64
  %row = arith.muli %y, %c128 overflow<nsw> : i64
  %rows = arith.subi %M, %row overflow<nsw> : i64
  %columns = arith.subi %N, %column overflow<nsw> : i64
  %c63 = arith.constant 63 : i64
  %k63 = arith.addi %K, %c63 overflow<nsw> : i64
  %steps = tile.div trunc %k63, %c64 : i64
  %a_at = arith.muli %z, %a_batch overflow<nsw> : i64
  %a_row = arith.muli %row, %K overflow<nsw> : i64
  %a_first = arith.addi %a_at, %a_row overflow<nsw> : i64
  %b_first = arith.muli %column, %K overflow<nsw> : i64
  %sum = tile.contract %steps, %zero {
  ^bb0(%step: i64):
    %k = arith.muli %step, %c64 overflow<nsw> : i64
    %left = arith.subi %K, %k overflow<nsw> : i64
    %a_offset = arith.addi %a_first, %k overflow<nsw> : i64
    %a_place = tile.access %a, %a_offset steps(%K, %c1) bounds [1, 1](%c0, %rows, %c0, %left) : <f16>, (i64, i64), (i64, i64, i64, i64) -> <128x64xf16>
    %a_tile = tile.load %a_place : !tile.access<128x64xf16> -> tensor<128x64xf16>
    %b_offset = arith.addi %b_first, %k overflow<nsw> : i64
    %b_place = tile.access %b, %b_offset steps(%c1, %K) bounds [1, 1](%c0, %left, %c0, %columns) : <f16>, (i64, i64), (i64, i64, i64, i64) -> <64x64xf16>
    %b_tile = tile.load %b_place : !tile.access<64x64xf16> -> tensor<64x64xf16>
    tile.yield %a_tile, %b_tile : tensor<128x64xf16>, tensor<64x64xf16>
  } : tensor<128x64xf32>
  %c_batch = arith.muli %M, %N overflow<nsw> : i64
  %c_at = arith.muli %z, %c_batch overflow<nsw> : i64
  %c_row = arith.muli %row, %N overflow<nsw> : i64
  %c1_at = arith.addi %c_at, %c_row overflow<nsw> : i64
  %c_offset = arith.addi %c1_at, %column overflow<nsw> : i64
  %c_place = tile.access %c, %c_offset steps(%N, %c1) bounds [1, 1](%c0, %rows, %c0, %columns) : <f32>, (i64, i64), (i64, i64, i64, i64) -> <128x64xf32>
  tile.store %c_place, %sum : !tile.access<128x64xf32>, tensor<128x64xf32>
  tile.return
})";

struct Product {
  uint64_t batch = 2, m = 150, n = 80, k;
  std::vector<uint16_t> a, b;
  explicit Product(uint64_t k) : k(k), a(batch * m * k), b(n * k) {
    const uint16_t numbers[] = {0x0000, 0x3c00, 0xbc00, 0x4000, 0xb800}; // 0, 1, -1, 2, -0.5
    for (size_t i = 0; i < a.size(); ++i)
      a[i] = numbers[i * 2654435761u >> 7 & 3];
    for (size_t i = 0; i < b.size(); ++i)
      b[i] = numbers[(i * 40503u >> 5) % 5];
  }
  std::vector<float> run(Program &program, bool late) {
    std::vector<float> c(batch * m * n, -1);
    Options options;
    options.late = late;
    program.run({2, 2, 2}, {slot(a), slot(b), slot(c), m, n, k, m * k}, options);
    return c;
  }
};

TEST(BlockPasses, KeepWhatIsComputed) {
  for (uint64_t k : {16, 64, 208, 400}) {
    Product product(k);
    Program before(productText), loop(productText), roles(productText);
    loop.apply(block::addLoops);
    roles.apply(block::buildRoles);
    EXPECT_FALSE(loop.count<block::MmaStartOp>() == 0 || roles.count<block::RoleOp>() != 2);
    std::vector<float> wanted = product.run(before, false);
    for (bool late : {false, true}) {
      EXPECT_EQ(product.run(loop, late), wanted) << "k " << k << ", late: " << late;
      EXPECT_EQ(product.run(roles, late), wanted) << "k " << k << ", late: " << late;
    }
  }
}

} // namespace
