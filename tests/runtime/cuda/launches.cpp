// A C++ program against the fake driver: launches of kernels that no language makes yet, or that need arguments of their own.
// usage: launches FAKE_DRIVER FAKE_PTX_COMPILER PROGRAM
#include "tilery/diagnostic.h"
#include "tilery/runtime.h"
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <functional>
#include <map>

using namespace tilery;

namespace {
struct Launch {
  int device, blocks, threads, shared;
  void *stream;
  int cluster, programmatic, cooperative;
  uint64_t parameter;
};
struct Described {
  int type, rank, swizzle;
  uint64_t address, extents[5], strides[4];
  uint32_t box[5];
};

void *driver;
template <typename T> T *symbol(const char *name) { return reinterpret_cast<T *>(dlsym(driver, name)); }
const Launch &lastLaunch() { return *symbol<Launch *()>("fake_launch")(); }
const Described &described() { return *symbol<Described *()>("fake_described")(); }
int calls(const char *name) { return symbol<int(const char *)>("fake_calls")(name); }

#define EXPECT(condition)                                                                                                        \
  if (!(condition)) {                                                                                                            \
    std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                                                         \
    std::exit(1);                                                                                                                \
  }
#define EXPECT_EQUAL(a, b)                                                                                                       \
  if (!((a) == (b))) {                                                                                                           \
    std::fprintf(stderr, "%s:%d: %s is not %s\n", __FILE__, __LINE__, std::to_string(a).c_str(), std::to_string(b).c_str());     \
    std::exit(1);                                                                                                                \
  }

/// A kernel of one pointer and two integers.
KernelInfo kernelInfo() {
  KernelInfo info{"k", 0, {{"a", DType::BF16, true, true}, {"m", DType::I32, false, false}, {"s", DType::I64, false, false}}};
  info.gpu.threads = 128;
  info.gpu.sharedBytes = 4096;
  return info;
}

void run(const KernelInfo &info, std::vector<uint64_t> args = {1 << 20, 128, 256}, std::vector<int64_t> grid = {6, 1, 1},
         void *stream = nullptr) {
  static std::vector<KernelPtr> kept; // what was loaded once is found by later launches
  kept.push_back(load({".version 8.0", {info}, ""})[0]);
  LaunchOptions options;
  options.stream = stream;
  launch(*kept.back(), grid.data(), args.data(), options);
}

std::string refusal(const std::function<void()> &function) {
  try {
    function();
  } catch (const Error &error) {
    return error.diagnostic().message;
  }
  return "nothing was refused";
}

void plain() {
  run(kernelInfo());
  EXPECT_EQUAL(calls("cuLaunchKernel"), 1);
  EXPECT_EQUAL(calls("cuLaunchKernelEx"), 0);
  EXPECT_EQUAL(lastLaunch().blocks, 6);
}

void programmatic() {
  KernelInfo info = kernelInfo();
  info.gpu.programmatic = true;
  run(info);
  EXPECT_EQUAL(calls("cuLaunchKernel"), 0);
  EXPECT_EQUAL(lastLaunch().blocks, 6);
  EXPECT_EQUAL(lastLaunch().threads, 128);
  EXPECT_EQUAL(lastLaunch().shared, 4096);
  EXPECT_EQUAL(lastLaunch().programmatic, 1);
  EXPECT_EQUAL(lastLaunch().cluster, 0);
}

/// Each program has a block of its own, and all run at once.
void cooperative() {
  KernelInfo info = kernelInfo();
  info.cooperative = true;
  for (bool persistent : {false, true}) {
    info.gpu.persistent = persistent;
    run(info, {1 << 20, 128, 256}, {264, 1, 1}); // the fake has room for two blocks on each of 132 multiprocessors
    EXPECT_EQUAL(lastLaunch().blocks, 264);
    EXPECT_EQUAL(lastLaunch().cooperative, 1);
    EXPECT_EQUAL(lastLaunch().cluster, 0);
    EXPECT(refusal([&] { run(info, {1 << 20, 128, 256}, {265, 1, 1}); }).find("has 265 programs, of which 264 run at once") !=
           std::string::npos);
  }
  info.gpu.cluster = 4; // and for 120 in clusters
  run(info, {1 << 20, 128, 256}, {30, 1, 1});
  EXPECT_EQUAL(lastLaunch().blocks, 120);
  EXPECT_EQUAL(lastLaunch().cooperative, 1);
  EXPECT(refusal([&] { run(info, {1 << 20, 128, 256}, {31, 1, 1}); }).find("of which 30 run at once") != std::string::npos);
}

/// A program for each cluster.
void clusters() {
  KernelInfo info = kernelInfo();
  info.gpu.cluster = 4;
  run(info);
  EXPECT_EQUAL(lastLaunch().blocks, 24);
  EXPECT_EQUAL(lastLaunch().cluster, 4);
  EXPECT_EQUAL(lastLaunch().programmatic, 0);
  info.gpu.persistent = true; // the fake has room for 120 blocks in clusters
  run(info, {1 << 20, 128, 256}, {1000, 1, 1});
  EXPECT_EQUAL(lastLaunch().blocks, 120);
  run(info, {1 << 20, 128, 256}, {7, 1, 1});
  EXPECT_EQUAL(lastLaunch().blocks, 28);
  EXPECT(refusal([&] { run(info, {1 << 20, 128, 256}, {1 << 30, 1, 1}); }) == "the grid of k has more than 536870911 programs");
}

void clusters_on_an_old_gpu() {
  symbol<void(int, int, int)>("fake_device")(80, 163 << 10, 1024);
  KernelInfo info = kernelInfo();
  info.gpu.cluster = 2;
  EXPECT(refusal([&] { run(info); }) == "k needs clusters of blocks, which the Fake GPU has not");
}

TensorMapInfo mapOf(unsigned rank) {
  constexpr uint32_t grid = PolynomialInfo::gridExtent;
  PolynomialInfo m, s, product, batches;
  m.terms = {{1, {1}}};
  s.terms = {{1, {2}}};
  product.terms = {{1, {1, 2}}};
  batches.terms = {{2, {grid}}, {1, {}}};
  TensorMapInfo map;
  map.dtype = DType::BF16;
  map.offset.terms = {{8, {}}, {1, {2}}};
  map.dimensions = {{64, 1, 32}, {m, s, 16}, {batches, product, 1}, {3, 1 << 20, 2}, {5, 1 << 22, 1}};
  map.dimensions.resize(rank);
  map.swizzle = 64;
  return map;
}

void tensor_maps() {
  KernelInfo info = kernelInfo();
  info.gpu.maps = {mapOf(5)};
  run(info);
  const Described &d = described();
  EXPECT_EQUAL(d.rank, 5);
  EXPECT_EQUAL(d.type, 9);
  EXPECT_EQUAL(d.swizzle, 2);
  EXPECT_EQUAL(d.address, (1u << 20) + 2 * (8 + 256));
  const uint64_t extents[] = {64, 128, 13, 3, 5}, strides[] = {512, 65536, 2 << 20, 8 << 20};
  const uint32_t box[] = {32, 16, 1, 2, 1};
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQUAL(d.extents[i], extents[i]);
    EXPECT_EQUAL(d.box[i], box[i]);
    if (i < 4)
      EXPECT_EQUAL(d.strides[i], strides[i]);
  }
  info.gpu.maps = {mapOf(1)};
  info.gpu.maps[0].swizzle = 0;
  run(info);
  EXPECT_EQUAL(d.rank, 1);
  EXPECT_EQUAL(d.swizzle, 0);
}

/// Whatever a map is made from tells it from others; equal ones are described once.
void known_tensor_maps() {
  KernelInfo info = kernelInfo();
  const std::vector<uint64_t> args = {1 << 20, 128, 256};
  int expected = 0;
  auto describes = [&](bool fresh, const std::function<void(TensorMapInfo &)> &change, std::vector<uint64_t> args,
                       std::vector<int64_t> grid = {6, 1, 1}) {
    info.gpu.maps = {mapOf(5)};
    change(info.gpu.maps[0]);
    run(info, args, grid);
    expected += fresh;
    EXPECT_EQUAL(calls("cuTensorMapEncodeTiled"), expected);
  };
  auto nothing = [](TensorMapInfo &) {};
  describes(true, nothing, args);
  describes(false, nothing, args);
  describes(true, nothing, {1 << 21, 128, 256});                       // the address
  describes(true, nothing, {1 << 20, 256, 256});                       // an extent
  describes(true, nothing, {1 << 20, 128, 512});                       // a stride
  describes(true, nothing, args, {7, 1, 1});                           // the grid
  describes(true, [](auto &map) { map.dimensions[1].box = 8; }, args); // the box
  describes(true, [](auto &map) { map.swizzle = 128; }, args);         // the swizzle
  describes(true, [](auto &map) { map.dtype = DType::F16; }, args);    // the type
  describes(true, [](auto &map) { map.dimensions.resize(4); }, args);  // the rank
  describes(true, [](auto &map) { map.offset = 0; }, args);            // the offset
  describes(false, nothing, args);
}

/// As many as the parameters have room for.
void many_tensor_maps() {
  KernelInfo info = kernelInfo();
  info.gpu.maps.assign(24, mapOf(3));
  for (unsigned i = 0; i < 24; ++i)
    info.gpu.maps[i].offset = 64 * int64_t(i);
  run(info);
  EXPECT_EQUAL(calls("cuTensorMapEncodeTiled"), 24);
  info.args.resize(128, info.args[1]);
  EXPECT(refusal([&] { run(info, std::vector<uint64_t>(128, 256)); }) ==
         "k has 128 arguments and 24 tensors copied in boxes; a GPU kernel's parameters have room for 4096 bytes");
}

/// A launch that breaks a condition runs the kernel that is there for it.
void conditions() {
  KernelInfo info = kernelInfo();
  ConditionInfo positive, divides{{}, 16};
  positive.value.terms = {{1, {1}}, {-1, {}}};
  divides.value.terms = {{1, {2}}};
  info.gpu.conditions = {positive, divides};
  KernelInfo other = kernelInfo();
  other.gpu.threads = 256;
  KernelPtr kernel = load({".version 8.0", {info}, ""})[0], second = load({".version 8.0", {other}, ""})[0];
  struct Context {
    const Kernel &second;
    int asked = 0;
  } context{*second};
  LaunchOptions options;
  options.context = &context;
  options.withoutBoxes = [](void *pointer, const Kernel &broken) -> const Kernel & {
    EXPECT(broken.info().name == "k");
    auto &context = *static_cast<Context *>(pointer);
    ++context.asked;
    return context.second;
  };
  const int64_t grid[3] = {6, 1, 1};
  auto run = [&](uint64_t m, uint64_t s, const LaunchOptions &options) {
    const uint64_t args[] = {1 << 20, m, s};
    launch(*kernel, grid, args, options);
  };
  run(1, 256, options);
  EXPECT_EQUAL(lastLaunch().threads, 128);
  EXPECT_EQUAL(context.asked, 0);
  run(0, 256, options);
  EXPECT_EQUAL(lastLaunch().threads, 256);
  run(1, 257, options);
  EXPECT_EQUAL(lastLaunch().threads, 256);
  EXPECT_EQUAL(context.asked, 2);
  EXPECT(refusal([&] { run(0, 256, {}); }) ==
         "the arguments of this launch break a condition of k, whose code takes it for granted");
  run(1, 256, {});
  EXPECT_EQUAL(lastLaunch().threads, 128);
}

/// A launch of few programs with many steps asks for code in which the blocks of a cluster share each.
void shared_steps() {
  KernelInfo info = kernelInfo();
  TensorMapInfo map = mapOf(2);
  map.dimensions[0].extent = PolynomialInfo{};
  map.dimensions[0].extent.terms = {{1, {1}}};
  info.gpu.maps = {map};
  info.gpu.split = {0, 0, 64};
  KernelPtr kernel = load({".version 8.0", {info}, ""})[0];
  struct Context {
    unsigned asked = 1;
    KernelPtr kernel;
  } context{1, kernel};
  LaunchOptions options;
  options.context = &context;
  options.clustered = [](void *pointer, const Kernel &, unsigned blocks) -> const Kernel & {
    auto &context = *static_cast<Context *>(pointer);
    context.asked = blocks;
    return *context.kernel;
  };
  auto asked = [&](int64_t programs, uint64_t extent) {
    context.asked = 1;
    const uint64_t args[] = {1 << 20, extent, 256};
    const int64_t grid[] = {programs, 1, 1};
    launch(*kernel, grid, args, options);
    return context.asked;
  };
  EXPECT_EQUAL(asked(60, 1 << 20), 2); // of which 60 run at once, 30 of 4 blocks, 15 of 8
  EXPECT_EQUAL(asked(61, 1 << 20), 1);
  EXPECT_EQUAL(asked(30, 1 << 20), 4);
  EXPECT_EQUAL(asked(31, 1 << 20), 2);
  EXPECT_EQUAL(asked(15, 1 << 20), 8);
  EXPECT_EQUAL(asked(1, 64 * 16 * 2 - 1), 1); // too few steps
  EXPECT_EQUAL(asked(1, 64 * 16 * 2), 2);
  EXPECT_EQUAL(asked(1, 64 * 16 * 8), 8);
}

/// Memory that blocks work in: a stream keeps what it has, and what it outgrew may still be in a graph.
void workspaces() {
  KernelInfo info = kernelInfo();
  symbol<void(int)>("fake_watch")(6); // after three arguments and three extents
  auto allocated = symbol<uint64_t()>("fake_allocated");
  auto at = [&](uint64_t bytes, int blocks, uintptr_t stream) {
    info.gpu.workspaceBytes = bytes;
    run(info, {1 << 20, 128, 256}, {blocks, 1, 1}, reinterpret_cast<void *>(stream));
    return lastLaunch().parameter;
  };
  uint64_t first = at(1000, 6, 0);
  EXPECT_EQUAL(allocated(), 6000);
  EXPECT_EQUAL(at(1000, 6, 0), first);
  EXPECT_EQUAL(at(100, 2, 0), first);
  uint64_t other = at(1000, 6, 64);
  EXPECT(other != first);
  EXPECT_EQUAL(calls("cuMemAlloc_v2"), 2);
  uint64_t grown = at(1000, 7, 0);
  EXPECT(grown != first && grown != other);
  EXPECT_EQUAL(allocated(), 12000);
  EXPECT_EQUAL(at(1000, 12, 0), grown);
  EXPECT_EQUAL(at(1000, 6, 64), other);
  at(1000, 100, 0);
  EXPECT_EQUAL(allocated(), 100000);
  EXPECT_EQUAL(calls("cuMemAlloc_v2"), 4);
  EXPECT_EQUAL(calls("cuMemFree_v2"), 0);
  symbol<void(const char *, int)>("fake_fail")("cuMemAlloc_v2", 2);
  EXPECT(refusal([&] { at(1000, 1000, 0); }).starts_with("allocating 1000000 bytes of GPU memory in which k works failed: "));
  symbol<void(const char *, int)>("fake_fail")("cuMemAlloc_v2", 0);
  at(1000, 1000, 0); // what failed is not remembered
  EXPECT_EQUAL(allocated(), 1000000);
}
} // namespace

int main(int, char **arguments) {
  driver = dlopen(arguments[1], RTLD_NOW | RTLD_GLOBAL);
  if (!driver || !dlopen(arguments[2], RTLD_NOW | RTLD_GLOBAL)) {
    std::fprintf(stderr, "%s\n", dlerror());
    return 2;
  }
  const std::map<std::string, void (*)()> programs = {{"plain", plain},
                                                      {"programmatic", programmatic},
                                                      {"cooperative", cooperative},
                                                      {"clusters", clusters},
                                                      {"clusters_on_an_old_gpu", clusters_on_an_old_gpu},
                                                      {"tensor_maps", tensor_maps},
                                                      {"known_tensor_maps", known_tensor_maps},
                                                      {"many_tensor_maps", many_tensor_maps},
                                                      {"conditions", conditions},
                                                      {"shared_steps", shared_steps},
                                                      {"workspaces", workspaces}};
  programs.at(arguments[3])();
}
