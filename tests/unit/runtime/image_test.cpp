#include "tilery/diagnostic.h"
#include "tilery/runtime.h"
#include <gtest/gtest.h>

using namespace tilery;

TEST(Image, SurvivesSerialisation) {
  CodeImage image{
      std::string("\x7f"
                  "ELF\0\0x",
                  7),
      {{"matmul", 4096, {{"a", DType::BF16, true, false}, {"c", DType::F32, true, true}, {"n", DType::U64, false, false}}},
       {"empty", 0, {}}},
      std::string("host\0program", 12)};
  EXPECT_EQ(deserialize(serialize(image)), image);
}

namespace {
/// A GPU's kernel that has one of everything.
KernelInfo gpuKernel() {
  KernelInfo kernel{"k", 0, {{"a", DType::BF16, true, true}, {"m", DType::I32, false, false}, {"k", DType::I64, false, false}}};
  kernel.cooperative = true;
  kernel.gpu.threads = 384;
  kernel.gpu.sharedBytes = 1 << 17;
  kernel.gpu.persistent = true;
  kernel.gpu.cluster = 2;
  kernel.gpu.programmatic = true;
  kernel.gpu.workspaceBytes = uint64_t(1) << 33;
  kernel.gpu.spillBytes = 28;
  PolynomialInfo rows;
  rows.terms = {{3, {}}, {-2, {1}}, {1, {1, 2, PolynomialInfo::gridExtent + 2}}};
  TensorMapInfo map;
  map.dtype = DType::BF16;
  map.offset = rows;
  map.dimensions = {{64, 1, 64}, {rows, 128, 32}, {2, rows, 1}};
  map.swizzle = 128;
  kernel.gpu.maps = {map};
  kernel.gpu.conditions = {{rows, 0}, {rows, 16}};
  kernel.gpu.split = {0, 2, 64};
  kernel.gpu.sites = {{true, "n > 0", "file.py", 3, 4, false, {}}};
  return kernel;
}
} // namespace

TEST(Image, KeepsHowAGpuRunsIt) {
  CodeImage image{".version 8.0", {gpuKernel()}, ""};
  EXPECT_EQ(deserialize(serialize(image)), image);
  std::string bytes = serialize(image);
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_THROW(deserialize(bytes.substr(0, size)), Error) << size;
}

TEST(Image, RefusesWhatNoLaunchCanUse) {
  auto refused = [](auto change) {
    CodeImage image{".version 8.0", {gpuKernel()}, ""};
    change(image.kernels[0].gpu);
    EXPECT_THROW(deserialize(serialize(image)), Error);
  };
  refused([](GpuInfo &gpu) { gpu.cluster = 0; });
  refused([](GpuInfo &gpu) { gpu.maps[0].slot = 3; });
  refused([](GpuInfo &gpu) { gpu.sites[0].values = {{{2}, 200}}; });
  refused([](GpuInfo &gpu) { gpu.sites[0].values = {{{-1}, uint32_t(DType::I8)}}; });
  refused([](GpuInfo &gpu) { gpu.sites[0].values = {{{1 << 20, 1 << 20}, uint32_t(DType::I8)}}; });
  refused([](GpuInfo &gpu) { gpu.conditions[0].divisor = uint64_t(1) << 63; });
  refused([](GpuInfo &gpu) { gpu.maps[0].dimensions.clear(); });
  refused([](GpuInfo &gpu) { gpu.split.map = 1; });
  refused([](GpuInfo &gpu) { gpu.split.dimension = 3; });
  refused([](GpuInfo &gpu) { gpu.maps[0].dimensions.resize(6); });
  refused([](GpuInfo &gpu) { gpu.maps[0].offset.terms[1].factors[0] = 3; });
  refused([](GpuInfo &gpu) { gpu.maps[0].dimensions[1].stride.terms = {{1, {PolynomialInfo::gridExtent + 3}}}; });
}

TEST(Image, RefusesDamage) {
  std::string bytes = serialize({"object", {{"k", 1, {{"a", DType::F32, true, true}}}}, "host"});
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_THROW(deserialize(bytes.substr(0, size)), Error) << size;
  EXPECT_THROW(deserialize(bytes + "x"), Error);
  bytes[0] ^= 1;
  EXPECT_THROW(deserialize(bytes), Error);
}
