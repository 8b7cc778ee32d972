#include "compiler/builder/module_impl.h"
#include "compiler/host_program.h"
#include "kernels.h"
#include "tilery/diagnostic.h"
#include "tilery/host.h"
#include <cstdlib>

using namespace tilery;
using namespace tilery::test;

namespace {
HostProgram compiled(const std::string &text, std::vector<KernelInfo> kernels = {}) {
  auto module = Module::parse(text);
  auto bytes = compileHost(*module->get().module, kernels);
  if (failed(bytes))
    throw std::runtime_error("no host program");
  return HostProgram::parse(*bytes, kernels);
}

struct Recorder : HostEnvironment {
  struct Launch {
    std::array<int64_t, 3> grid;
    std::vector<uint64_t> args;
    uint32_t flags;
  };
  std::vector<Launch> launches;
  std::vector<std::vector<int64_t>> made;
  std::vector<bool> workspaces;
  std::vector<std::vector<char>> memory;
  bool stop = false;

  void *allocate(std::span<const int64_t> extents, DType dtype, bool workspace) override {
    made.emplace_back(extents.begin(), extents.end());
    workspaces.push_back(workspace);
    size_t bytes = byteWidth(dtype);
    for (int64_t extent : extents)
      bytes *= extent;
    return memory.emplace_back(bytes + 1).data();
  }
  bool launch(const Kernel &kernel, const int64_t grid[3], const uint64_t *args, uint32_t flags) override {
    launches.push_back({{grid[0], grid[1], grid[2]}, {args, args + kernel.info().args.size()}, flags});
    return !stop;
  }
};

struct Array {
  std::vector<int64_t> extents, strides;
  std::vector<float> data;
  Tensor tensor;
  Array(std::vector<int64_t> e, std::vector<int64_t> s, DType dtype = DType::F32) : extents(e), strides(s), data(4096) {
    tensor = {data.data(), dtype, int32_t(e.size()), extents.data(), strides.data(), {}};
  }
};

const char *program = R"(
tile.kernel @scale(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>, %s: i64, %n: i32, %a: f32) {
  tile.return
}
tile.host @scale_host(%x: !tile.tensor_arg<2xf32> {tile.name = "x"}, %n: i32 {tile.name = "n"}, %a: f32 {tile.name = "a"}) -> (!tile.tensor_arg<2xf32>) {
  %m = tile.host_extent %x, 0 : !tile.tensor_arg<2xf32>
  %k = tile.host_extent %x, 1 : !tile.tensor_arg<2xf32>
  %s = tile.host_stride %x, 0 : !tile.tensor_arg<2xf32>
  %n64 = arith.extsi %n : i32 to i64
  tile.host_check %k equals %n64, "x has {0} columns, n is {1}"
  %y = tile.host_empty [%m, %k] : !tile.tensor_arg<2xf32>
  %w = tile.host_empty [%k] {workspace} : !tile.tensor_arg<1xf32>
  %c63 = arith.constant 63 : i64
  %c64 = arith.constant 64 : i64
  %up = arith.addi %m, %c63 : i64
  %blocks = tile.div floor %up, %c64 : i64
  %px = tile.host_pointer %x : !tile.tensor_arg<2xf32> -> !tile.ptr<f32>
  %py = tile.host_pointer %y : !tile.tensor_arg<2xf32> -> !tile.ptr<f32>
  tile.launch @scale grid(%blocks, %k) args(%px, %py, %s, %n, %a) : !tile.ptr<f32>, !tile.ptr<f32>, i64, i32, f32
  tile.return %y : !tile.tensor_arg<2xf32>
})";
const std::vector<KernelInfo> scaleKernel{{"scale",
                                           0,
                                           {{"x", DType::F32, true, false},
                                            {"y", DType::F32, true, true},
                                            {"s", DType::I64, false, false},
                                            {"n", DType::I32, false, false},
                                            {"a", DType::F32, false, false}}}};
KernelPtr fakeKernel(const KernelInfo &info) { return std::make_shared<const Kernel>(info, nullptr, nullptr); }
} // namespace

TEST(Host, ChecksAllocatesAndLaunches) {
  HostProgram host = compiled(program, scaleKernel);
  EXPECT_EQ(host.name, "scale");
  EXPECT_EQ(host.parameters, (std::vector<HostParameter>{{"x", DType::F32, 2}, {"n", DType::I32, -1}, {"a", DType::F32, -1}}));
  Array x({130, 7}, {20, 1});
  KernelPtr kernels[] = {fakeKernel(scaleKernel[0])};
  HostArgument args[] = {{&x.tensor}, {nullptr, 7}, {nullptr, 0x3f800000}};
  Recorder environment;
  auto outputs = host.run(args, kernels, environment);
  ASSERT_TRUE(outputs);
  EXPECT_EQ(*outputs, std::vector<uint32_t>{3}); // the first tensor made
  EXPECT_EQ(environment.made, (std::vector<std::vector<int64_t>>{{130, 7}, {7}}));
  EXPECT_EQ(environment.workspaces, (std::vector<bool>{false, true}));
  ASSERT_EQ(environment.launches.size(), 1u);
  EXPECT_EQ(environment.launches[0].grid, (std::array<int64_t, 3>{3, 7, 1}));
  EXPECT_EQ(environment.launches[0].args,
            (std::vector<uint64_t>{uint64_t(x.data.data()), uint64_t(environment.memory[0].data()), 20, 7, 0x3f800000}));
  EXPECT_EQ(environment.launches[0].flags, TILERY_DISJOINT);

  environment.stop = true;
  EXPECT_FALSE(host.run(args, kernels, environment));
}

TEST(Host, RefusesWrongArguments) {
  HostProgram host = compiled(program, scaleKernel);
  KernelPtr kernels[] = {fakeKernel(scaleKernel[0])};
  Recorder environment;
  auto message = [&](const Array &x, uint64_t n) {
    HostArgument args[] = {{&x.tensor}, {nullptr, n}, {}};
    try {
      host.run(args, kernels, environment);
    } catch (const Error &error) {
      return error.diagnostic().message;
    }
    return std::string();
  };
  EXPECT_EQ(message({{3, 7}, {7, 1}}, 8), "x has 7 columns, n is 8");
  EXPECT_EQ(message({{3, 7}, {7, 1}, DType::F16}, 7),
            "argument 'x' of scale is a float16 tensor of shape (3, 7); expected float32");
  EXPECT_EQ(message({{3}, {1}}, 7), "argument 'x' of scale is a float32 tensor of shape (3,); expected 2 dimensions");
  auto given = [&](const Tensor *x) {
    HostArgument args[] = {{x}, {nullptr, 7}, {}};
    try {
      host.run(args, kernels, environment);
    } catch (const Error &error) {
      return error.diagnostic().message;
    }
    return std::string();
  };
  const Array whole{{3, 7}, {7, 1}};
  Tensor noStrides = whole.tensor, noExtents = whole.tensor;
  noStrides.strides = noExtents.extents = nullptr;
  EXPECT_EQ(given(nullptr), "argument 'x' of scale is a number; expected a tensor");
  EXPECT_EQ(given(&noStrides), "argument 'x' of scale is a tensor without strides");
  EXPECT_EQ(given(&noExtents), "argument 'x' of scale is a tensor without extents");
  EXPECT_TRUE(environment.launches.empty());
  EXPECT_TRUE(environment.made.empty());
}

// Every operation against the same in C++, on values where signs and zero matter.
TEST(Host, Arithmetic) {
  struct Case {
    std::string op;
    std::function<int64_t(int64_t, int64_t)> expected;
  };
  auto floorDiv = [](int64_t a, int64_t b) { return b == 0 ? 0 : int64_t((__int128(a) - ((__int128(a) % b + b) % b)) / b); };
  std::vector<Case> cases{
      {"arith.addi %a, %b : i64", [](int64_t a, int64_t b) { return int64_t(uint64_t(a) + uint64_t(b)); }},
      {"arith.subi %a, %b : i64", [](int64_t a, int64_t b) { return int64_t(uint64_t(a) - uint64_t(b)); }},
      {"arith.muli %a, %b : i64", [](int64_t a, int64_t b) { return int64_t(uint64_t(a) * uint64_t(b)); }},
      {"arith.minsi %a, %b : i64", [](int64_t a, int64_t b) { return std::min(a, b); }},
      {"arith.maxui %a, %b : i64", [](int64_t a, int64_t b) { return int64_t(std::max(uint64_t(a), uint64_t(b))); }},
      {"arith.andi %a, %b : i64", [](int64_t a, int64_t b) { return a & b; }},
      {"tile.div trunc %a, %b : i64", [](int64_t a, int64_t b) { return b ? int64_t(__int128(a) / b) : 0; }},
      {"tile.div floor %a, %b : i64", floorDiv},
      {"tile.div unsigned %a, %b : i64", [](int64_t a, int64_t b) { return b ? int64_t(uint64_t(a) / uint64_t(b)) : 0; }},
      {"tile.rem trunc %a, %b : i64", [](int64_t a, int64_t b) { return b ? int64_t(__int128(a) % b) : 0; }},
      {"tile.rem floor %a, %b : i64",
       [&](int64_t a, int64_t b) { return b ? int64_t(__int128(a) - __int128(floorDiv(a, b)) * b) : 0; }},
      {"tile.rem unsigned %a, %b : i64", [](int64_t a, int64_t b) { return b ? int64_t(uint64_t(a) % uint64_t(b)) : 0; }},
      {"arith.select %lt, %a, %b : i64", [](int64_t a, int64_t b) { return a < b ? a : b; }},
      {"arith.extui %ult : i1 to i64", [](int64_t a, int64_t b) { return int64_t(uint64_t(a) < uint64_t(b)); }},
      {"arith.extui %sge : i1 to i64", [](int64_t a, int64_t b) { return int64_t(a >= b); }},
      {"arith.extsi %narrow : i32 to i64", [](int64_t a, int64_t b) { return int64_t(int32_t(uint32_t(a) + uint32_t(b))); }},
      {"arith.extui %narrow : i32 to i64", [](int64_t a, int64_t b) { return int64_t(uint32_t(a) + uint32_t(b)) & 0xffffffff; }},
      {"arith.extui %narrowult : i1 to i64", [](int64_t a, int64_t b) { return int64_t(uint32_t(a) < uint32_t(b)); }},
  };
  const int64_t values[] = {0, 1, -1, 7, -7, 2, -2, 1000000007, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN};
  for (const Case &each : cases) {
    std::vector<KernelInfo> kernels{{"k", 0, {{"r", DType::I64, false, false}}}};
    HostProgram host = compiled(R"(
tile.kernel @k(%r: i64) {
  tile.return
}
tile.host @h(%a: i64, %b: i64) {
  %lt = arith.cmpi slt, %a, %b : i64
  %ult = arith.cmpi ult, %a, %b : i64
  %sge = arith.cmpi sge, %a, %b : i64
  %a32 = arith.trunci %a : i64 to i32
  %b32 = arith.trunci %b : i64 to i32
  %narrow = arith.addi %a32, %b32 : i32
  %narrowult = arith.cmpi ult, %a32, %b32 : i32
  %one = arith.constant 1 : i64
  %r = )" + each.op + R"(
  tile.launch @k grid(%one) args(%r) : i64
  tile.return
})",
                                kernels);
    KernelPtr loaded[] = {fakeKernel(kernels[0])};
    for (int64_t a : values)
      for (int64_t b : values) {
        Recorder environment;
        HostArgument args[] = {{nullptr, uint64_t(a)}, {nullptr, uint64_t(b)}};
        host.run(args, loaded, environment);
        EXPECT_EQ(int64_t(environment.launches[0].args[0]), each.expected(a, b)) << each.op << " of " << a << ", " << b;
      }
  }
}

TEST(Host, DamagedBytesAreRefusedBeforeTheyRun) {
  std::string bytes = compiled(program, scaleKernel).serialize();
  EXPECT_NO_THROW(HostProgram::parse(bytes, scaleKernel));
  EXPECT_THROW(HostProgram::parse(bytes, {}), Error); // the launch names a kernel that is not there
  std::vector<KernelInfo> longer = scaleKernel;
  longer[0].args.push_back({"more", DType::I64, false, false});
  EXPECT_THROW(HostProgram::parse(bytes, longer), Error); // which would read behind the launch's arguments
  for (uint32_t HostProgram::*count : {&HostProgram::registers, &HostProgram::tensors}) { // of which each would take memory
    HostProgram large = HostProgram::parse(bytes, scaleKernel);
    large.*count = UINT32_MAX;
    EXPECT_THROW(HostProgram::parse(large.serialize(), scaleKernel), Error);
  }
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_THROW(HostProgram::parse(bytes.substr(0, size), scaleKernel), Error);
  Array x({130, 7}, {20, 1});
  KernelPtr kernels[] = {fakeKernel(scaleKernel[0])};
  HostArgument args[] = {{&x.tensor}, {nullptr, 7}, {}};
  for (size_t at = 0; at < bytes.size(); ++at) { // whatever parses runs without touching what is not its own
    std::string damaged = bytes;
    damaged[at] = char(damaged[at] ^ 0x15);
    try {
      HostProgram host = HostProgram::parse(damaged, scaleKernel);
      Recorder environment;
      if (host.parameters == compiled(program, scaleKernel).parameters)
        host.run(args, kernels, environment);
    } catch (const Error &) {
    } catch (const std::bad_alloc &) {
    } catch (const std::length_error &) {
    }
  }
}

TEST(Host, AnOpItDoesNotKnowIsReported) {
  EXPECT_THROW(compiled("tile.host @h(%a: f32) {\n  %b = arith.addf %a, %a : f32\n  tile.return\n}"), std::runtime_error);
}
