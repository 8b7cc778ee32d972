// A chunk of linear attention, from tile IR through block IR to code, on the CPU: two sums from one loop, one of them a factor behind it.
#include "tests/unit/targets/cpu/run_kernel.h"
#include "tests/unit/targets/cuda/numbers.h"
#include "tests/emulator/emulator.h"

using namespace tilery;
using namespace tilery::test;
using emulator::Timing;

namespace {
constexpr int chunks = 5, rows = 64, depth = 128, columns = 64;

// A program: a chunk. out = q h + tril(q k^T) v.
constexpr const char *text = R"(
tile.kernel @k(%q: !tile.ptr<f16> {tile.divisibility = 16 : i64}, %k: !tile.ptr<f16> {tile.divisibility = 16 : i64},
               %h: !tile.ptr<f16> {tile.divisibility = 16 : i64}, %v: !tile.ptr<f16> {tile.divisibility = 16 : i64},
               %o: !tile.ptr<f32> {tile.divisibility = 16 : i64}) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %two = arith.constant 2 : i64
  %c64 = arith.constant 64 : i64
  %c128 = arith.constant 128 : i64
  %each = arith.constant 8192 : i64
  %less = arith.constant 4096 : i64
  %zeros = arith.constant dense<0.0> : tensor<64x64xf32>
  %x = tile.program_id 0
  %chunk = arith.extsi %x : i32 to i64
  %qAt = arith.muli %chunk, %each overflow<nsw> : i64
  %vAt = arith.muli %chunk, %less overflow<nsw> : i64
  %before = tile.contract %two, %zeros {
  ^bb0(%s: i64):
    %at = arith.muli %s, %c64 overflow<nsw> : i64
    %place = arith.addi %qAt, %at overflow<nsw> : i64
    %aq = tile.access %q, %place steps(%c128, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
    %tq = tile.load %aq : !tile.access<64x64xf16> -> tensor<64x64xf16>
    %row = arith.muli %at, %c64 overflow<nsw> : i64
    %hPlace = arith.addi %qAt, %row overflow<nsw> : i64
    %ah = tile.access %h, %hPlace steps(%c64, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
    %th = tile.load %ah : !tile.access<64x64xf16> -> tensor<64x64xf16>
    tile.yield %tq, %th : tensor<64x64xf16>, tensor<64x64xf16>
  } : tensor<64x64xf32>
  %scores = tile.contract %two, %zeros {
  ^bb0(%s: i64):
    %at = arith.muli %s, %c64 overflow<nsw> : i64
    %place = arith.addi %qAt, %at overflow<nsw> : i64
    %aq = tile.access %q, %place steps(%c128, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
    %tq = tile.load %aq : !tile.access<64x64xf16> -> tensor<64x64xf16>
    %ak = tile.access %k, %place steps(%c1, %c128) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
    %tk = tile.load %ak : !tile.access<64x64xf16> -> tensor<64x64xf16>
    tile.yield %tq, %tk : tensor<64x64xf16>, tensor<64x64xf16>
  } : tensor<64x64xf32>
  %range = tile.range 0 to 64 : tensor<64xi32>
  %column = tile.expand_dims %range axis 1 : tensor<64xi32> -> tensor<64x1xi32>
  %line = tile.expand_dims %range axis 0 : tensor<64xi32> -> tensor<1x64xi32>
  %is = tile.broadcast %column : tensor<64x1xi32> -> tensor<64x64xi32>
  %js = tile.broadcast %line : tensor<1x64xi32> -> tensor<64x64xi32>
  %seen = arith.cmpi sge, %is, %js : tensor<64x64xi32>
  %masked = arith.select %seen, %scores, %zeros : tensor<64x64xi1>, tensor<64x64xf32>
  %weights = arith.truncf %masked : tensor<64x64xf32> to tensor<64x64xf16>
  %av = tile.access %v, %vAt steps(%c64, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <64x64xf16>
  %tv = tile.load %av : !tile.access<64x64xf16> -> tensor<64x64xf16>
  %sum = tile.dot %weights, %tv, %before : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf32>
  %ao = tile.access %o, %vAt steps(%c64, %c1) bounds [0, 0]() : <f32>, (i64, i64), () -> <64x64xf32>
  tile.store %ao, %sum : !tile.access<64x64xf32>, tensor<64x64xf32>
  tile.return
})";

TEST(BlockChunks, AreExactOnIntegers) {
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context());
  ASSERT_TRUE(module);
  auto kernel = emulator::Kernel::translate(*module, emulator::Path::Block, true, 0);
  ASSERT_TRUE(kernel);
  Numbers q(chunks * rows * depth, 1), k(chunks * rows * depth, 2), h(chunks * depth * columns, 3), v(chunks * rows * columns, 4);
  std::vector<float> expected(chunks * rows * columns, 0.0f);
  for (int c = 0; c < chunks; ++c)
    for (int i = 0; i < rows; ++i) {
      const float *query = &q.values[(c * rows + i) * depth];
      float *result = &expected[(c * rows + i) * columns];
      for (int x = 0; x < depth; ++x)
        for (int column = 0; column < columns; ++column)
          result[column] += query[x] * h.values[(c * depth + x) * columns + column];
      for (int j = 0; j <= i; ++j) {
        float score = 0;
        for (int x = 0; x < depth; ++x)
          score += query[x] * k.values[(c * rows + j) * depth + x];
        for (int column = 0; column < columns; ++column)
          result[column] += score * v.values[(c * rows + j) * columns + column];
      }
    }
  uint32_t grid[] = {chunks, 1, 1};
  for (Timing timing : {Timing::CopiesAtOnce, Timing::CopiesLate}) {
    Aligned<float> out(expected.size(), NAN);
    std::vector<uint64_t> slots = {slot(q.data), slot(k.data), slot(h.data), slot(v.data), slot(out.data)};
    ASSERT_EQ(kernel->run(grid, slots.data(), timing), "");
    EXPECT_EQ(std::vector<float>(out.data, out.data + expected.size()), expected);
  }
}
} // namespace
