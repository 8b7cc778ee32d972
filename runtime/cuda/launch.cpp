#include "runtime/cuda/launch.h"
#include "runtime/cuda/memory.h"
#include "runtime/cuda/reports.h"
#include "runtime/cuda/tensor_maps.h"
#include <algorithm>
#include <array>
#include <mutex>

namespace tilery::cuda {
namespace {
constexpr unsigned maxParameters = 128;

/// "launching matmul_kernel, grid 8x1x1 in 8 blocks of 384 threads with 196608 bytes of shared memory"
std::string describe(const KernelInfo &info, const int64_t grid[3], unsigned blocks) {
  return "launching " + info.name + ", grid " + std::to_string(grid[0]) + "x" + std::to_string(grid[1]) + "x" +
         std::to_string(grid[2]) + " in " + std::to_string(blocks) + " blocks of " + std::to_string(info.gpu.threads) +
         " threads with " + std::to_string(info.gpu.sharedBytes) + " bytes of shared memory";
}
} // namespace

void launch(const KernelInfo &info, const Code &code, const int64_t grid[3], const uint64_t *args, int device, void *stream) {
  DeviceScope scope(device);
  LoadedKernel kernel = code.kernel(info, device);
  std::array<TensorMap, 4> maps;
  void *parameters[maxParameters];
  unsigned count = 0;
  if (info.gpu.maps.size() > maps.size() || info.gpu.maps.size() + info.args.size() + 5 > maxParameters)
    throw Error({Diagnostic::Kind::Value, info.name + " has more than 120 arguments", "", {}});
  for (const TensorMapInfo &map : info.gpu.maps) {
    maps[count] = tensorMap(map, info, args);
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
  unsigned blocks = unsigned(info.gpu.persistent ? std::min<uint64_t>(programs, kernel.resident) : programs);
  auto cudaStream = static_cast<Stream>(stream);
  Address workspace = 0, reports = 0;
  if (info.gpu.workspaceBytes) {
    workspace = reserve(Use::Workspace, device, cudaStream, blocks * info.gpu.workspaceBytes, info.name);
    parameters[count++] = &workspace;
  }
  std::unique_lock<std::mutex> reporting;
  if (!info.gpu.sites.empty()) {
    static std::mutex mutex; // one launch at a time uses a stream's reports
    reporting = std::unique_lock(mutex);
    reports = reserve(Use::Reports, device, cudaStream, TILERY_REPORT_BYTES, info.name);
    parameters[count++] = &reports;
    clearReports(reports, cudaStream);
  }
  if (int result = Driver::get().cuLaunchKernel(kernel.function, blocks, 1, 1, info.gpu.threads, 1, 1, info.gpu.sharedBytes,
                                                cudaStream, parameters, nullptr))
    fail(result, describe(info, grid, blocks));
  if (reports)
    readReports(info, reports, extents, cudaStream);
}

} // namespace tilery::cuda
