#include "runtime/cuda/tensor_maps.h"
#include <functional>
#include <gtest/gtest.h>

using namespace tilery;

namespace {
/// A (b, m, k) tensor of bf16 in boxes of 1 x 64 x 64, described at a launch; refused before any driver is asked.
struct Launch {
  KernelInfo info{"matmul",
                  0,
                  {{"a", DType::BF16, true, false},
                   {"m", DType::I32, false, false},
                   {"k", DType::I32, false, false},
                   {"stride", DType::I64, false, false}}};
  TensorMapInfo map;
  uint64_t args[4] = {1 << 20, 128, 256, 256};
  int64_t grid[3] = {4, 8, 1};

  Launch() {
    PolynomialInfo m, k, stride, batches, batchStride;
    m.terms = {{1, {1}}}, k.terms = {{1, {2}}}, stride.terms = {{1, {3}}};
    batches.terms = {{1, {PolynomialInfo::gridExtent + 1}}}, batchStride.terms = {{1, {1, 3}}};
    map.dtype = DType::BF16;
    map.dimensions = {{k, 1, 64}, {m, stride, 64}, {batches, batchStride, 1}};
    map.swizzle = 128;
  }

  Diagnostic refusal() {
    try {
      cuda::tensorMap(map, {info, args, grid});
    } catch (const Error &error) {
      return error.diagnostic();
    }
    return {};
  }
};

void expectRefused(const std::string &message, const std::function<void(Launch &)> &change) {
  Launch launch;
  change(launch);
  EXPECT_EQ(launch.refusal().message, message);
}
const std::string name = "argument 'a' of matmul ";
} // namespace

TEST(TensorMaps, WhatTheCopyEngineDoesNotTakeIsNamed) {
  expectRefused(name + "has the stride 0; the GPU's copy engine takes positive ones", [](Launch &l) { l.args[3] = 0; });
  expectRefused(name + "has the stride -256; the GPU's copy engine takes positive ones",
                [](Launch &l) { l.args[3] = uint64_t(-256); });
  expectRefused(name + "has a stride of 514 bytes; the GPU's copy engine takes multiples of 16",
                [](Launch &l) { l.args[3] = 257; });
  expectRefused(name + "has a stride of 1099511627776 bytes; the GPU's copy engine takes less than 2^40",
                [](Launch &l) { l.args[3] = uint64_t(1) << 39; });
  expectRefused(name + "has a stride of 1099511627776 bytes; the GPU's copy engine takes less than 2^40", [](Launch &l) {
    l.args[1] = 1 << 20, l.args[3] = 1 << 19; // rows are 1 MiB apart, batches 1 TiB
  });
  expectRefused(name + "has more than 2147483648 elements along a dimension",
                [](Launch &l) { l.map.dimensions[2].extent = (int64_t(1) << 31) + 1; });
  expectRefused(name + "is read from an address that is no multiple of 16 bytes, as the GPU's copy engine needs it",
                [](Launch &l) { l.args[0] += 8; });
  expectRefused(name + "is read from an address that is no multiple of 16 bytes, as the GPU's copy engine needs it",
                [](Launch &l) { l.map.offset.terms = {{1, {1}}, {4, {}}}; });
  expectRefused(name + "has a stride of more than 64 bits", [](Launch &l) { l.args[3] = INT64_MAX; });
  expectRefused(name + "has an offset of more than 64 bits", [](Launch &l) {
    l.map.offset.terms = {{1, {3, 3}}};
    l.args[3] = INT64_MAX;
  });
}

TEST(TensorMaps, WhatNoKernelMayAskForIsADefect) {
  auto defect = [](const std::string &message, const std::function<void(Launch &)> &change) {
    expectRefused(name + message, change);
    Launch launch;
    change(launch);
    EXPECT_EQ(launch.refusal().hint, "this is a defect of Tilery's code generator");
  };
  defect("is copied in boxes of 257 elements along a dimension; the copy engine takes 256",
         [](Launch &l) { l.map.dimensions[1].box = 257; });
  defect("is copied in boxes of 0 elements along a dimension; the copy engine takes 256",
         [](Launch &l) { l.map.dimensions[2].box = 0; });
  defect("is copied in rows of 128 bytes with a swizzle of 64, which the copy engine does not take",
         [](Launch &l) { l.map.swizzle = 64; });
  defect("is copied in rows of 24 bytes with a swizzle of 32, which the copy engine does not take",
         [](Launch &l) { l.map.swizzle = 32, l.map.dimensions[0].box = 12; });
  defect("is copied in rows of 128 bytes with a swizzle of 256, which the copy engine does not take",
         [](Launch &l) { l.map.swizzle = 256; });
}

TEST(TensorMaps, BoxesHaveBytes) { EXPECT_EQ(Launch().map.boxBytes(), 64 * 64 * 2); }
