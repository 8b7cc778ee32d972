#include "run_kernel.h"
#include "tilery/environment.h"
#include <cmath>
#include <map>
#include <random>
#include <sstream>

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
      if (environmentSwitch("TILERY_TEST_SHOW") && disjoint)
        llvm::errs() << k.code.plan << k.code.llvm << k.code.assembly;
    }
}

TEST(CpuCodegen, StreamingStoresStartAnywhere) {
  cpu::Options options;
  options.disjoint = options.wantAsm = true;
  Compiled k = compileText(vectorAdd, options, true);
  EXPECT_NE(k.code.assembly.find("vmovntp"), std::string::npos);
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

namespace {
// Instructions of the innermost loops (a label that a later jump in the same stretch goes back to) that use the stack.
std::vector<std::string> stackAccessesInLoops(const std::string &text) {
  std::vector<std::string> lines, found;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);)
    lines.push_back(line.substr(0, line.find('#')));
  std::map<std::string, size_t> labels;
  size_t innermostEnd = 0;
  for (size_t i = 0; i < lines.size(); ++i) {
    if (lines[i].starts_with(".LBB"))
      labels[lines[i].substr(0, lines[i].find(':'))] = i;
    size_t jump = lines[i].find("\tj");
    size_t target = jump == std::string::npos ? jump : lines[i].find(".LBB");
    if (target == std::string::npos)
      continue;
    auto label = labels.find(lines[i].substr(target, lines[i].find_last_not_of(" \t") + 1 - target));
    if (label == labels.end() || label->second < innermostEnd)
      continue; // forward, or around another loop
    innermostEnd = i;
    for (size_t j = label->second; j < i; ++j)
      if (lines[j].find("\tlea") == std::string::npos &&
          (lines[j].find("(%rsp)") != std::string::npos || lines[j].find("(%rbp)") != std::string::npos))
        found.push_back(lines[j]);
  }
  return found;
}

const char *rowKernel = R"(
tile.kernel @rows(%x: !tile.ptr<f32, const>, %o: !tile.ptr<f32>) {
  %pid = tile.program_id 0
  %p = arith.extsi %pid : i32 to i64
  %n = arith.constant 4096 : i64
  %z = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %start = arith.muli %p, %n overflow<nsw> : i64
  %a = tile.access %x, %start steps(%one) bounds [0] () : !tile.ptr<f32, const>, (i64), () -> !tile.access<4096xf32>
  %v = tile.load %a : !tile.access<4096xf32> -> tensor<4096xf32>
  %m = tile.reduce %v axis 0 {
  ^bb0(%l: f32, %q: f32):
    %s = arith.maximumf %l, %q : f32
    tile.yield %s : f32
  } : tensor<4096xf32> -> f32
  %ms = tile.splat %m : f32 -> tensor<4096xf32>
  %d = arith.subf %v, %ms : tensor<4096xf32>
  %e = math.exp %d : tensor<4096xf32>
  %sum = tile.reduce %e axis 0 {
  ^bb0(%l: f32, %q: f32):
    %s = arith.addf %l, %q : f32
    tile.yield %s : f32
  } : tensor<4096xf32> -> f32
  %ss = tile.splat %sum : f32 -> tensor<4096xf32>
  %r = arith.divf %e, %ss : tensor<4096xf32>
  %oa = tile.access %o, %start steps(%one) bounds [0] () : !tile.ptr<f32>, (i64), () -> !tile.access<4096xf32>
  tile.store %oa, %r : !tile.access<4096xf32>, tensor<4096xf32>
  tile.return
}
)";
} // namespace

TEST(CpuCodegen, InnerLoopsStayInRegisters) {
  ASSERT_EQ(stackAccessesInLoops(".LBB0_1:\n\tmovq\t8(%rsp), %rax\n\tjne\t.LBB0_1\n").size(), 1u);
  for (const std::string &name : cpu::targetNames())
    for (const char *text : {vectorAdd, rowKernel}) {
      cpu::Options options;
      options.target = *cpu::findTarget(name);
      options.disjoint = options.wantAsm = true;
      Compiled k = compileText(text, options, true);
      ASSERT_FALSE(k.code.assembly.empty()) << k.errors;
      EXPECT_EQ(k.code.assembly.find("%zmm") != std::string::npos, options.target.avx512) << name;
      auto accesses = stackAccessesInLoops(k.code.assembly);
      EXPECT_TRUE(accesses.empty()) << name << ": " << accesses.size() << ", first " << accesses.front();
    }
}

// One lane of a tile is stored, as wide as its element and no wider (see repairMaskedAccesses).
TEST(CpuCodegen, OneLaneIsStoredAlone) {
  const char *text = R"(
tile.kernel @one(%x: !tile.ptr<i32>, %y: !tile.ptr<i32>) {
  %z = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %px = tile.access %x, %z steps(%one) bounds [0]() : <i32>, (i64), () -> <4xi32>
  %v = tile.load %px : !tile.access<4xi32> -> tensor<4xi32>
  %high = tile.mul_high %v, %v : tensor<4xi32>
  %py = tile.access %y, %z steps(%one) bounds [1](%z, %one) : <i32>, (i64), (i64, i64) -> <4xi32>
  tile.store %py, %high : !tile.access<4xi32>, tensor<4xi32>
  tile.return
}
)";
  for (const std::string &name : cpu::targetNames()) {
    cpu::Options options;
    options.target = *cpu::findTarget(name);
    options.wantLLVM = true;
    Compiled k = compileText(text, options, true);
    if (options.target.avx512)
      EXPECT_EQ(k.code.llvm.find("call void @llvm.masked.store"), std::string::npos) << name << "\n" << k.code.llvm;
    if (!cpu::hostRuns(options.target))
      continue;
    int32_t x[4] = {1 << 30, 2, 3, 4}, y[4] = {77, 77, 77, 77};
    uint64_t slots[] = {slot(x), slot(y)};
    int64_t grid[] = {1, 1, 1};
    launch(*k.kernels[0], grid, slots);
    EXPECT_EQ(std::vector<int32_t>(y, y + 4), (std::vector<int32_t>{1 << 28, 77, 77, 77})) << name;
  }
}

// In vectors, saturated, NaN as 0.
TEST(CpuCodegen, FloatsBecomeIntegersInVectors) {
  const std::string text = R"(
tile.kernel @convert(%x: !tile.ptr<f32>, %y: !tile.ptr<TYPE>) {
  %z = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %px = tile.access %x, %z steps(%one) bounds [0]() : <f32>, (i64), () -> <16xf32>
  %v = tile.load %px : !tile.access<16xf32> -> tensor<16xf32>
  %n = tile.fp_to_int %v ATTRIBUTES : tensor<16xf32> -> tensor<16xTYPE>
  %py = tile.access %y, %z steps(%one) bounds [0]() : <TYPE>, (i64), () -> <16xTYPE>
  tile.store %py, %n : !tile.access<16xTYPE>, tensor<16xTYPE>
  tile.return
}
)";
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  const float x[16] = {0, -0.9f, 1.9f, -1.9f, 127.99f, 128, -128.99f, -129, 255.9f, 256, 32767.9f, -32769, 65536, inf, -inf, nan};
  for (const std::string &name : cpu::targetNames())
    for (bool isUnsigned : {false, true})
      for (int bits : {8, 16, 32, 64}) {
        std::string program = text;
        for (std::string from : {"TYPE", "ATTRIBUTES"})
          for (size_t at = 0; (at = program.find(from, at)) != std::string::npos;)
            program.replace(at, from.size(), from == "TYPE" ? "i" + std::to_string(bits) : isUnsigned ? "{is_unsigned}" : "");
        cpu::Options options;
        options.target = *cpu::findTarget(name);
        options.wantAsm = true;
        Compiled k = compileText(program, options, true);
        ASSERT_FALSE(k.code.assembly.empty()) << k.errors;
        if (bits < 64 || options.target.avx512) // AVX2 has no such instruction
          EXPECT_EQ(k.code.assembly.find("cvttss2si"), std::string::npos) << name << " " << bits;
        if (!cpu::hostRuns(options.target))
          continue;
        alignas(64) float from[16];
        std::copy(x, x + 16, from);
        alignas(64) uint8_t results[16 * 8] = {};
        uint64_t slots[] = {slot(from), slot(results)};
        int64_t grid[] = {1, 1, 1};
        launch(*k.kernels[0], grid, slots);
        double least = isUnsigned ? 0 : -std::ldexp(1, bits - 1), end = std::ldexp(1, isUnsigned ? bits : bits - 1);
        for (int i = 0; i < 16; ++i) {
          uint64_t result = 0, most = isUnsigned ? ~0ull >> (64 - bits) : ~0ull >> (65 - bits);
          std::memcpy(&result, results + i * bits / 8, bits / 8);
          uint64_t expected = std::isnan(x[i]) ? 0
                              : x[i] >= end    ? most
                                               : uint64_t(int64_t(std::trunc(std::max(double(x[i]), least))));
          EXPECT_EQ(result, expected & (~0ull >> (64 - bits))) << name << " " << bits << " " << x[i];
        }
      }
}
