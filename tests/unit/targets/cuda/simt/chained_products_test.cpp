// Products whose factor is another product's result, as in attention: from registers to registers, its threads as fibers.
#include "compiler/targets/cuda/simt/simt_plan.h"
#include "compiler/targets/cuda/ptx/lowering.h"
#include "compiler/targets/cuda/simt/simt.h"
#include "tests/unit/targets/cuda/numbers.h"
#include "tests/unit/targets/cuda/on_emulator.h"

using namespace tilery;
using namespace tilery::test;

namespace {
/// acc = acc + row sums of p + p v over the blocks of keys, where p = (s - row maximum of s) / 2 and s = q k^T: m x 16, `keys` in a block.
std::string program(int m, int keys) {
  std::string text = R"(
tile.kernel @k(%q: !tile.ptr<f16>, %k: !tile.ptr<f16>, %v: !tile.ptr<f16>, %out: !tile.ptr<f32>, %n: i64) {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c16 = arith.constant 16 : i64
  %block = arith.constant B : i64
  %zeros = arith.constant dense<0.0> : tensor<MxKxf32>
  %halves = arith.constant dense<0.5> : tensor<MxKxf32>
  %init = arith.constant dense<0.0> : tensor<Mx16xf32>
  %aq = tile.access %q, %c0 steps(%c16, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <Mx16xf16>
  %tq = tile.load %aq : !tile.access<Mx16xf16> -> tensor<Mx16xf16>
  %result = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %init) -> (tensor<Mx16xf32>) : i64 {
    %first = arith.muli %i, %block overflow<nsw> : i64
    %ak = tile.access %k, %first steps(%c1, %c16) bounds [0, 0]() : <f16>, (i64, i64), () -> <16xKxf16>
    %tk = tile.load %ak : !tile.access<16xKxf16> -> tensor<16xKxf16>
    %s = tile.dot %tq, %tk, %zeros : tensor<Mx16xf16>, tensor<16xKxf16> -> tensor<MxKxf32>
    %top = tile.reduce %s axis 1 {
    ^bb0(%a: f32, %b: f32):
      %x = arith.maxnumf %a, %b : f32
      tile.yield %x : f32
    } : tensor<MxKxf32> -> tensor<Mxf32>
    %column = tile.expand_dims %top axis 1 : tensor<Mxf32> -> tensor<Mx1xf32>
    %tops = tile.broadcast %column : tensor<Mx1xf32> -> tensor<MxKxf32>
    %below = arith.subf %s, %tops : tensor<MxKxf32>
    %p = arith.mulf %below, %halves : tensor<MxKxf32>
    %total = tile.reduce %p axis 1 {
    ^bb0(%a: f32, %b: f32):
      %x = arith.addf %a, %b : f32
      tile.yield %x : f32
    } : tensor<MxKxf32> -> tensor<Mxf32>
    %totalColumn = tile.expand_dims %total axis 1 : tensor<Mxf32> -> tensor<Mx1xf32>
    %totals = tile.broadcast %totalColumn : tensor<Mx1xf32> -> tensor<Mx16xf32>
    %more = arith.addf %acc, %totals : tensor<Mx16xf32>
    %narrow = arith.truncf %p : tensor<MxKxf32> to tensor<MxKxf16>
    %av = tile.access %v, %first steps(%c16, %c1) bounds [0, 0]() : <f16>, (i64, i64), () -> <Kx16xf16>
    %tv = tile.load %av : !tile.access<Kx16xf16> -> tensor<Kx16xf16>
    %next = tile.dot %narrow, %tv, %more : tensor<MxKxf16>, tensor<Kx16xf16> -> tensor<Mx16xf32>
    scf.yield %next : tensor<Mx16xf32>
  }
  %to = tile.access %out, %c0 steps(%c16, %c1) bounds [0, 0]() : <f32>, (i64, i64), () -> <Mx16xf32>
  tile.store %to, %result : !tile.access<Mx16xf32>, tensor<Mx16xf32>
  tile.return
})";
  for (auto [mark, number] : {std::pair("<M", m), {"xK", keys}, {"<K", keys}, {" B", 16 * keys}})
    for (size_t at; (at = text.find(mark)) != std::string::npos;)
      text.replace(at + 1, 1, std::to_string(number));
  return text;
}

class ProductsInAChain : public testing::TestWithParam<std::pair<int, int>> {}; // rows, keys of a block

TEST_P(ProductsInAChain, AreExactOnIntegers) {
  auto [m, keys] = GetParam();
  int blocks = 3, block = 16 * keys;
  Numbers q(m * 16, 1), k(blocks * block, 2), v(blocks * block, 3);
  std::vector<float> out(m * 16, NAN), expected(m * 16, 0.0f);
  for (int i = 0; i < blocks; ++i)
    for (int row = 0; row < m; ++row) {
      std::vector<float> p(keys);
      float top = -INFINITY, total = 0;
      for (int key = 0; key < keys; ++key) {
        p[key] = 0;
        for (int d = 0; d < 16; ++d)
          p[key] += q.values[row * 16 + d] * k.values[i * block + key * 16 + d];
        top = std::max(top, p[key]);
      }
      for (float &weight : p)
        total += weight = (weight - top) / 2;
      for (int column = 0; column < 16; ++column) {
        expected[row * 16 + column] += total;
        for (int key = 0; key < keys; ++key)
          expected[row * 16 + column] += p[key] * v.values[i * block + key * 16 + column];
      }
    }
  onEmulator(program(m, keys), false, {1, 1, 1}, {slot(q.data), slot(k.data), slot(v.data), slot(out.data()), uint64_t(blocks)});
  EXPECT_EQ(out, expected);
}

TEST(ChainedProducts, StayInRegistersWhereWarpsHaveWholeRows) {
  for (auto [m, stay] : {std::pair(64, true), std::pair(128, true), std::pair(80, false)}) {
    auto module = mlir::parseSourceString<mlir::ModuleOp>(program(m, 32), &context());
    cuda::CudaTarget target = *cuda::targetNamed("sm_80");
    cuda::GpuLowering lowering(target);
    cuda::SimtPlan plan =
        cuda::planSimt(*module->getOps<tile::KernelOp>().begin(), lower::Options{lowering}, cuda::tileBytes(target));
    std::string text;
    llvm::raw_string_ostream stream(text);
    plan.print(stream, *module->getOps<tile::KernelOp>().begin());
    EXPECT_EQ(text.find("a-in-registers") != std::string::npos, stay) << text;
    EXPECT_EQ(text.find("in registers #") != std::string::npos, stay) << text;
  }
}

INSTANTIATE_TEST_SUITE_P(Rows, ProductsInAChain,
                         testing::Values(std::pair(64, 32), std::pair(128, 32), std::pair(64, 128), std::pair(80, 32),
                                         std::pair(16, 128)));
} // namespace
