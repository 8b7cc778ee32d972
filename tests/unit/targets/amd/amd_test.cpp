// A dry run for a GPU of another kind: its code is compiled by LLVM's back end, where that is, and looked at. Nothing runs.
#include "amd_backend.h"
#include "compiler/driver.h"
#include "tests/unit/block/forms/covers.h"
#include "tests/unit/targets/with.h"
#include <fstream>
#include <gtest/gtest.h>

using namespace tilery;
using namespace tilery::layout;

namespace {
std::string irOf(const std::string &text) {
  static const amd::AmdBackend amd;
  llvm::SmallVector<const Backend *> list(backends());
  list.push_back(&amd);
  CompileOptions options;
  options.target = "gfx90a";
  return compileWith(list, *Module::parse(text), options).image.object;
}

std::string outputOf(const std::string &command) {
  std::string said;
  FILE *pipe = popen(command.c_str(), "r");
  for (char buffer[512]; fgets(buffer, sizeof buffer, pipe);)
    said += buffer;
  pclose(pipe);
  return said;
}

/// By LLVM's own compiler; empty where it does not know such GPUs.
std::string assemblyOf(const std::string &ir) {
  if (outputOf(LLC " --version").find("amdgcn") == std::string::npos)
    return "";
  char name[] = "/tmp/tileryXXXXXX.ll";
  close(mkstemps(name, 3));
  std::ofstream(name) << ir;
  std::string text = outputOf(std::string(LLC " -mcpu=gfx90a -o - ") + name + " 2>&1");
  std::remove(name);
  return text;
}
#define ASSEMBLE(text, ir)                                                                                                       \
  std::string text = assemblyOf(ir);                                                                                             \
  if (text.empty())                                                                                                              \
  GTEST_SKIP() << LLC " has no AMDGPU back end"

size_t count(const std::string &text, const std::string &what) {
  size_t found = 0;
  for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += what.size())
    ++found;
  return found;
}

// y = 2 x + y of rows of 4,096 elements, and the rows' sums.
const char *rows = R"(
tile.kernel @k(%x: !tile.ptr<f32> {tile.divisibility = 16}, %y: !tile.ptr<f32> {tile.divisibility = 16}, %sums: !tile.ptr<f32>, %n: i64) {
  %one = arith.constant 1 : i64
  %z = arith.constant 0 : i64
  %length = arith.constant 4096 : i64
  %p = tile.program_id 0
  %p64 = arith.extsi %p : i32 to i64
  %from = arith.muli %p64, %length overflow<nsw> : i64
  %xa = tile.access %x, %from steps(%one) BOUNDS
  %ya = tile.access %y, %from steps(%one) BOUNDS
  %xs = tile.load %xa : !tile.access<4096xf32> -> tensor<4096xf32>
  %ys = tile.load %ya : !tile.access<4096xf32> -> tensor<4096xf32>
  %two = arith.constant dense<2.0> : tensor<4096xf32>
  %t = arith.mulf %xs, %two : tensor<4096xf32>
  %r = arith.addf %t, %ys : tensor<4096xf32>
  tile.store %ya, %r : !tile.access<4096xf32>, tensor<4096xf32>
  %s = tile.reduce %r axis 0 {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    tile.yield %c : f32
  } : tensor<4096xf32> -> f32
  %sa = tile.access %sums, %p64 steps() bounds [] () : !tile.ptr<f32>, (), () -> !tile.access<f32>
  tile.store %sa, %s : !tile.access<f32>, f32
  tile.return
}
)";

// out = a b of 64 x 32 times 32 x 64, four tiles of an instruction.
const char *tiles = R"(
tile.kernel @k(%a: !tile.ptr<f16>, %b: !tile.ptr<f16>, %out: !tile.ptr<f32>) {
  %z = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %n = arith.constant 64 : i64
  %k = arith.constant 32 : i64
  %aa = tile.access %a, %z steps(%k, %one) bounds [0, 0] () : !tile.ptr<f16>, (i64, i64), () -> !tile.access<64x32xf16>
  %ba = tile.access %b, %z steps(%n, %one) bounds [0, 0] () : !tile.ptr<f16>, (i64, i64), () -> !tile.access<32x64xf16>
  %oa = tile.access %out, %z steps(%n, %one) bounds [0, 0] () : !tile.ptr<f32>, (i64, i64), () -> !tile.access<64x64xf32>
  %av = tile.load %aa : !tile.access<64x32xf16> -> tensor<64x32xf16>
  %bv = tile.load %ba : !tile.access<32x64xf16> -> tensor<32x64xf16>
  %c = arith.constant dense<0.0> : tensor<64x64xf32>
  %d = tile.dot %av, %bv, %c : tensor<64x32xf16>, tensor<32x64xf16> -> tensor<64x64xf32>
  tile.store %oa, %d : !tile.access<64x64xf32>, tensor<64x64xf32>
  tile.return
}
)";
} // namespace

TEST(AmdGpu, ItsFormsDealEachElementOnce) {
  for (const ProductForm *form : {&amd::mfmaForm<16>(), &amd::mfmaForm<32>()}) {
    test::expectCovers(form->factor(16, Rows::InOrder), 1);
    for (unsigned n : {1, 3})
      test::expectCovers(form->sums(n * form->columns, Rows::InOrder), 1);
    EXPECT_EQ(form->sums(form->columns, Rows::InOrder).extent(Lane), 64);
    EXPECT_EQ(form->factor(16, Rows::InOrder).extent(Lane), 64);
  }
}

// The formulas of AMD's matrix instruction calculator, written out.
TEST(AmdGpu, ItsFormsAreThoseOfTheInstructions) {
  for (int64_t lane = 0; lane < 64; ++lane)
    for (int64_t i = 0; i < 16; ++i) {
      EXPECT_EQ(amd::mfmaSums(32).at({{Register, i}, {Lane, lane}}),
                (Layout::Vector{8 * (i / 4) + 4 * (lane / 32) + i % 4, lane % 32}));
      if (i >= 4)
        continue;
      EXPECT_EQ(amd::mfmaFactor(32).at({{Register, i}, {Lane, lane}}), (Layout::Vector{lane % 32, 4 * (lane / 32) + i}));
      EXPECT_EQ(amd::mfmaFactor(16).at({{Register, i}, {Lane, lane}}), (Layout::Vector{lane % 16, 4 * (lane / 16) + i}));
      EXPECT_EQ(amd::mfmaSums(16).at({{Register, i}, {Lane, lane}}), (Layout::Vector{4 * (lane / 16) + i, lane % 16}));
    }
}

TEST(AmdGpu, RowsTakeTheGeneralPath) {
  std::string whole = "bounds [0] () : !tile.ptr<f32>, (i64), () -> !tile.access<4096xf32>";
  ASSEMBLE(text, irOf(test::with(rows, "BOUNDS", whole)));
  EXPECT_GE(count(text, "global_load_dwordx4"), 2u) << text;
  EXPECT_GE(count(text, "global_store_dwordx4"), 1u) << text;
  EXPECT_GE(count(text, "ds_bpermute_b32"), 5u) << text;                           // partial sums of 32 lanes
  EXPECT_EQ(count(text, "\n\tscratch_") + count(text, "\n\tbuffer_"), 0u) << text; // all in registers
  EXPECT_NE(text.find(".wavefront_size: 64"), std::string::npos) << text;
}

TEST(AmdGpu, RaggedRowsAreMasked) {
  std::string ragged = "bounds [1] (%z, %n) : !tile.ptr<f32>, (i64), (i64, i64) -> !tile.access<4096xf32>";
  ASSEMBLE(text, irOf(test::with(rows, "BOUNDS", ragged)));
  EXPECT_GE(count(text, "s_and_saveexec_b64"), 2u) << text;
}

TEST(AmdGpu, ProductsAreOfWavefronts) {
  std::string ir = irOf(tiles);
  EXPECT_EQ(count(ir, "@llvm.amdgcn.mfma.f32.32x32x8f16(<4 x half> %"), 1u) << ir; // in loops over tiles and k
  ASSEMBLE(text, ir);
  EXPECT_GE(count(text, "v_mfma_f32_32x32x8_f16") + count(text, "v_mfma_f32_32x32x8f16"), 1u) << text;
}
