// Products of tensors whose inner sizes differ.
#include "compiler/oracle/inner_sizes.h"
#include "program.h"

using namespace tilery;
using namespace tilery::oracle;

namespace {

// out = sum over steps of a[0:2, 4 k + START : + 4] * b[4 k + SHIFT : + 4, 0:2]; a has K columns, b has L rows.
const char *productText = R"(
tile.kernel @product(%a: !tile.ptr<f32>, %b: !tile.ptr<f32>, %out: !tile.ptr<f32>, %k: i64, %l: i64, %steps: i64, %shift: i64) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c2 = arith.constant 2 : i64
  %c4 = arith.constant 4 : i64
  %zero = arith.constant dense<0.0> : tensor<2x2xf32>
  %ra = tile.root %a [%c2, %k] strides [%k, %c1] : !tile.ptr<f32> -> !tile.root<2xf32>
  %rb = tile.root %b [%l, %c2] strides [%c2, %c1] : !tile.ptr<f32> -> !tile.root<2xf32>
  %sum = scf.for %i = %c0 to %steps step %c1 iter_args(%acc = %zero) -> (tensor<2x2xf32>) : i64 {
    %at = arith.muli %i, %c4 : i64
    %from = arith.addi %at, %shift : i64
    %va = tile.view %ra [%c0, %at] dims [0, 1] dilations [%c1, %c1] limits [] : !tile.root<2xf32> -> !tile.view<2x4xf32>
    %vb = tile.view %rb [%from, %c0] dims [0, 1] dilations [%c1, %c1] limits [] : !tile.root<2xf32> -> !tile.view<4x2xf32>
    %ta = tile.load %va : !tile.view<2x4xf32> -> tensor<2x4xf32>
    %tb = tile.load %vb : !tile.view<4x2xf32> -> tensor<4x2xf32>
    %next = tile.dot %ta, %tb, %acc : tensor<2x4xf32>, tensor<4x2xf32> -> tensor<2x2xf32>
    scf.yield %next : tensor<2x2xf32>
  }
  %ro = tile.root %out [%c2, %c2] strides [%c2, %c1] : !tile.ptr<f32> -> !tile.root<2xf32>
  %vo = tile.view %ro [%c0, %c0] dims [0, 1] dilations [%c1, %c1] limits [] : !tile.root<2xf32> -> !tile.view<2x2xf32>
  tile.store %vo, %sum : !tile.view<2x2xf32>, tensor<2x2xf32>
  tile.return
})";

std::string run(int64_t k, int64_t l, int64_t steps, int64_t shift = 0, bool match = true) {
  Program program(productText);
  std::vector<float> a(2 * k, 1.0f), b(2 * l, 1.0f), out(4);
  Options options;
  options.debug = true;
  options.matchSizes = match;
  options.allocations = {allocation(a, "a"), allocation(b, "b"), allocation(out, "out")};
  try {
    program.run({1, 1, 1}, {slot(a), slot(b), slot(out), uint64_t(k), uint64_t(l), uint64_t(steps), uint64_t(shift)}, options);
    return {};
  } catch (const Error &error) {
    return error.diagnostic().message;
  }
}

TEST(OracleInnerSizes, TensorsThatALoopWalksInStepHaveOneSize) {
  EXPECT_EQ(run(8, 8, 2), "");
  EXPECT_EQ(run(7, 7, 2), "");
  EXPECT_EQ(run(7, 8, 2), "the factors of this product have different inner sizes: 7 in 'a', 8 in 'b'");
  EXPECT_NE(run(8, 16, 2), "") << "also where all tiles are whole";
  EXPECT_EQ(run(7, 8, 2, 0, false), "");
}

TEST(OracleInnerSizes, OtherPartsOfATensorAreTheProgramsAffair) {
  EXPECT_EQ(run(8, 16, 2, 8), ""); // the second half of b
}

} // namespace
