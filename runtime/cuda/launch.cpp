#include "runtime/cuda/launch.h"
#include <algorithm>
#include <array>

namespace tilery::cuda {
namespace {
constexpr unsigned maxParameters = 128;

int64_t evaluate(const LinearInfo &linear, const KernelInfo &info, const uint64_t *args) {
  int64_t sum = linear.constant;
  for (const LinearInfo::Term &term : linear.terms)
    sum += term.coefficient *
           (byteWidth(info.args[term.slot].dtype) == 4 ? int64_t(int32_t(args[term.slot])) : int64_t(args[term.slot]));
  return sum;
}

int mapType(DType dtype) { // CUtensorMapDataType
  switch (dtype) {
  case DType::F16:
    return 6;
  case DType::F32:
    return 7;
  case DType::BF16:
    return 9;
  default:
    return 0; // bytes
  }
}

TensorMap encode(const TensorMapInfo &map, const KernelInfo &info, const uint64_t *args) {
  constexpr int64_t most = int64_t(1) << 31;
  unsigned bytes = byteWidth(map.dtype);
  int64_t step = evaluate(map.stride, info, args);
  if (step <= 0)
    throw Error({Diagnostic::Kind::NotImplemented,
                 "argument '" + info.args[map.slot].name + "' of " + info.name + " has the stride " + std::to_string(step) +
                     "; the GPU's copy engine takes positive ones",
                 "pass it .contiguous()",
                 {}});
  uint64_t extents[2], stride = uint64_t(step) * bytes;
  for (int d = 0; d < 2; ++d) {
    int64_t extent = evaluate(map.extents[d], info, args);
    if (extent > most)
      throw Error(
          {Diagnostic::Kind::Value,
           "argument '" + info.args[map.slot].name + "' of " + info.name + " has more than 2147483648 elements along a dimension",
           "",
           {}});
    extents[d] = uint64_t(std::max<int64_t>(extent, 1));
  }
  const uint32_t ones[2] = {1, 1};
  unsigned rowBytes = map.box[0] * bytes;
  int swizzle = rowBytes == 128 ? 3 : rowBytes == 64 ? 2 : rowBytes == 32 ? 1 : 0;
  TensorMap result;
  check(Driver::get().cuTensorMapEncodeTiled(&result, mapType(map.dtype), 2, reinterpret_cast<void *>(args[map.slot]), extents,
                                             &stride, map.box, ones, 0, swizzle, /*promote to 128 bytes of L2=*/2, 0),
        "describing argument '" + info.args[map.slot].name + "' of " + info.name + " to the copy engine");
  return result;
}
} // namespace

void launch(const KernelInfo &info, const Code &code, const int64_t grid[3], const uint64_t *args, int device, void *stream) {
  const Driver &driver = Driver::get();
  enterDevice(device);
  Function function = code.function(info, device);
  std::array<TensorMap, 4> maps;
  void *parameters[maxParameters];
  unsigned count = 0;
  if (info.gpu.maps.size() > maps.size() || info.gpu.maps.size() + info.args.size() + 3 > maxParameters)
    throw Error({Diagnostic::Kind::Value, info.name + " has more than 120 arguments", "", {}});
  for (const TensorMapInfo &map : info.gpu.maps) {
    maps[count] = encode(map, info, args);
    parameters[count] = &maps[count];
    ++count;
  }
  for (size_t i = 0; i < info.args.size(); ++i)
    parameters[count++] = const_cast<uint64_t *>(args + i);
  uint32_t extents[3] = {uint32_t(grid[0]), uint32_t(grid[1]), uint32_t(grid[2])};
  for (uint32_t &extent : extents)
    parameters[count++] = &extent;
  uint64_t programs = uint64_t(grid[0]) * uint64_t(grid[1]) * uint64_t(grid[2]);
  if (programs > INT32_MAX)
    throw Error({Diagnostic::Kind::Value, "the grid of " + info.name + " has more than 2147483647 programs", "", {}});
  unsigned blocks =
      unsigned(info.gpu.persistent ? std::min<uint64_t>(programs, deviceProperties(device).multiprocessors) : programs);
  check(driver.cuLaunchKernel(function, blocks, 1, 1, info.gpu.threads, 1, 1, info.gpu.sharedBytes, static_cast<Stream>(stream),
                              parameters, nullptr),
        "launching " + info.name);
}

} // namespace tilery::cuda
