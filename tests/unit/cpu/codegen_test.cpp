#include "run_kernel.h"
#include <cmath>
#include <random>

using namespace tilery;
using namespace tilery::test;

static std::vector<float> randoms(size_t n, unsigned seed, float lo = -2, float hi = 2) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<float> distribution(lo, hi);
  std::vector<float> values(n);
  for (float &v : values)
    v = distribution(engine);
  return values;
}

static const char *vectorAdd = R"(
tile.kernel @add(%x: !tile.ptr<f32, const>, %y: !tile.ptr<f32, const>, %out: !tile.ptr<f32>, %n: i32) {
  %c128 = arith.constant 128 : i32
  %pid = tile.program_id 0
  %start = arith.muli %pid, %c128 overflow<nsw> : i32
  %r = tile.range 0 to 128 : tensor<128xi32>
  %s = tile.splat %start : i32 -> tensor<128xi32>
  %offs = arith.addi %s, %r overflow<nsw> : tensor<128xi32>
  %ns = tile.splat %n : i32 -> tensor<128xi32>
  %mask = arith.cmpi slt, %offs, %ns : tensor<128xi32>
  %xs = tile.splat %x : !tile.ptr<f32, const> -> tensor<128x!tile.ptr<f32, const>>
  %xp = tile.add_ptr %xs, %offs : tensor<128x!tile.ptr<f32, const>>, tensor<128xi32>
  %xa = tile.pointer_access %xp mask %mask : tensor<128xi1> : tensor<128x!tile.ptr<f32, const>> -> !tile.access<128xf32>
  %xv = tile.load %xa : !tile.access<128xf32> -> tensor<128xf32>
  %ys = tile.splat %y : !tile.ptr<f32, const> -> tensor<128x!tile.ptr<f32, const>>
  %yp = tile.add_ptr %ys, %offs : tensor<128x!tile.ptr<f32, const>>, tensor<128xi32>
  %ya = tile.pointer_access %yp mask %mask : tensor<128xi1> : tensor<128x!tile.ptr<f32, const>> -> !tile.access<128xf32>
  %yv = tile.load %ya : !tile.access<128xf32> -> tensor<128xf32>
  %sum = arith.addf %xv, %yv : tensor<128xf32>
  %os = tile.splat %out : !tile.ptr<f32> -> tensor<128x!tile.ptr<f32>>
  %op = tile.add_ptr %os, %offs : tensor<128x!tile.ptr<f32>>, tensor<128xi32>
  %oa = tile.pointer_access %op mask %mask : tensor<128xi1> : tensor<128x!tile.ptr<f32>> -> !tile.access<128xf32>
  tile.store %oa, %sum : !tile.access<128xf32>, tensor<128xf32>
  tile.return
}
)";

TEST(CpuCodegen, VectorAdd) {
  for (bool disjoint : {false, true})
    for (bool passes : {false, true}) {
      cpu::Options options;
      options.disjoint = disjoint;
      options.wantPlan = options.wantLLVM = options.wantAsm = true;
      Compiled k = compileText(vectorAdd, options, passes);
      for (int n : {1, 127, 128, 129, 1000}) {
        auto x = randoms(n, 1), y = randoms(n, 2);
        std::vector<float> out(n + 8, NAN);
        run(k, (n + 127) / 128, x.data(), y.data(), out.data(), n);
        for (int i = 0; i < n; ++i)
          ASSERT_EQ(out[i], x[i] + y[i]) << i;
        for (int i = n; i < n + 8; ++i)
          ASSERT_TRUE(std::isnan(out[i]));
      }
      if (getenv("TILERY_TEST_SHOW") && disjoint)
        llvm::errs() << k.code.planText << k.code.llvmText << k.code.asmText;
    }
}

TEST(CpuCodegen, StreamingStoresStartAnywhere) {
  cpu::Options options;
  options.disjoint = options.wantAsm = true;
  Compiled k = compileText(vectorAdd, options, true);
  EXPECT_NE(k.code.asmText.find("vmovntp"), std::string::npos);
  for (int shift : {0, 1, 3, 7})
    for (int n : {1, 7, 64, 127, 128, 300}) {
      auto x = randoms(n, 1), y = randoms(n, 2);
      std::vector<float> out(n + 16, NAN);
      uint64_t slots[] = {slot(x.data()), slot(y.data()), slot(out.data() + shift), slot(n)};
      int64_t grid[] = {(n + 127) / 128, 1, 1};
      LaunchOptions launchOptions;
      launchOptions.flags = TILERY_DISJOINT | TILERY_STREAM;
      launch(*k.kernels[0], grid, slots, launchOptions);
      for (int i = 0; i < n + 16; ++i) {
        bool inside = i >= shift && i < shift + n;
        ASSERT_TRUE(inside ? out[i] == x[i - shift] + y[i - shift] : std::isnan(out[i])) << i << " of " << n << " at " << shift;
      }
    }
}
