#include "runtime/cuda/launch.h"
#include "runtime/cuda/memory.h"
#include "runtime/cuda/reports.h"
#include "runtime/cuda/tensor_maps.h"
#include <algorithm>
#include <mutex>

namespace tilery::cuda {
namespace {
constexpr unsigned maxMaps = parameterBytes / sizeof(TensorMap), maxParameters = parameterBytes / 8 + 5; // Code has counted them

/// "launching matmul_kernel, grid 8x1x1 in 8 blocks of 384 threads with 196608 bytes of shared memory"
std::string describe(const KernelInfo &info, const int64_t grid[3], unsigned blocks) {
  return "launching " + info.name + ", grid " + std::to_string(grid[0]) + "x" + std::to_string(grid[1]) + "x" +
         std::to_string(grid[2]) + " in " + std::to_string(blocks) + " blocks of " + std::to_string(info.gpu.threads) +
         " threads with " + std::to_string(info.gpu.sharedBytes) + " bytes of shared memory";
}

/// The driver's result for a launch with attributes.
int launchWithAttributes(const KernelInfo &info, Function function, unsigned blocks, Stream stream, void **parameters) {
  const GpuInfo &gpu = info.gpu;
  LaunchAttribute attributes[3];
  LaunchConfig config;
  config.grid[0] = blocks;
  config.block[0] = gpu.threads;
  config.sharedBytes = gpu.sharedBytes;
  config.stream = stream;
  config.attributes = attributes;
  if (gpu.cluster > 1) {
    LaunchAttribute &attribute = attributes[config.attributeCount++];
    attribute.id = LaunchAttribute::ClusterDimension;
    attribute.cluster[0] = gpu.cluster, attribute.cluster[1] = attribute.cluster[2] = 1;
  }
  if (info.cooperative) {
    LaunchAttribute &attribute = attributes[config.attributeCount++];
    attribute.id = LaunchAttribute::Cooperative;
    attribute.cooperative = 1;
  }
  if (gpu.programmatic) {
    LaunchAttribute &attribute = attributes[config.attributeCount++];
    attribute.id = LaunchAttribute::ProgrammaticStreamSerialization;
    attribute.programmatic = 1;
  }
  return Driver::get().cuLaunchKernelEx(&config, function, parameters, nullptr);
}
} // namespace

std::array<unsigned, 3> clustersAtOnce(const KernelInfo &info, const Code &code, int device) {
  DeviceScope scope(device);
  return code.kernel(info, device).clusters;
}

void launch(const KernelInfo &info, const Code &code, const int64_t grid[3], const uint64_t *args, int device, void *stream) {
  DeviceScope scope(device);
  LoadedKernel kernel = code.kernel(info, device);
  const GpuInfo &gpu = info.gpu;
  TensorMap maps[maxMaps];
  void *parameters[maxParameters];
  unsigned count = 0;
  for (const TensorMapInfo &map : gpu.maps) {
    maps[count] = tensorMap(map, {info, args, grid});
    parameters[count] = &maps[count];
    ++count;
  }
  for (size_t i = 0; i < info.args.size(); ++i)
    parameters[count++] = const_cast<uint64_t *>(args + i);
  uint32_t extents[3] = {uint32_t(grid[0]), uint32_t(grid[1]), uint32_t(grid[2])};
  for (uint32_t &extent : extents)
    parameters[count++] = &extent;
  uint64_t programs = gpu.programs(grid);
  if (programs > INT32_MAX / gpu.cluster)
    throw Error({Diagnostic::Kind::Value,
                 "the grid of " + info.name + " has more than " + std::to_string(INT32_MAX / gpu.cluster) + " programs",
                 "",
                 {}});
  if (info.cooperative && programs > kernel.resident)
    throw Error({Diagnostic::Kind::Value,
                 "the grid of " + info.name + " has " + std::to_string(programs) + " programs, of which " +
                     std::to_string(kernel.resident) + " run at once: they may not wait for each other (launch_cooperative_grid)",
                 "launch no more programs than that, each of which does more",
                 {}});
  unsigned blocks = gpu.cluster * unsigned(gpu.persistent ? std::min<uint64_t>(programs, kernel.resident) : programs);
  auto cudaStream = static_cast<Stream>(stream);
  Address workspace = 0, reports = 0;
  if (gpu.workspaceBytes) {
    workspace = reserve(Use::Workspace, device, cudaStream, blocks * gpu.workspaceBytes, info.name);
    parameters[count++] = &workspace;
  }
  std::unique_lock<std::mutex> reporting;
  if (!gpu.sites.empty()) {
    static std::mutex mutex; // one launch at a time uses a stream's reports
    reporting = std::unique_lock(mutex);
    reports = reserve(Use::Reports, device, cudaStream, TILERY_REPORT_BYTES, info.name);
    parameters[count++] = &reports;
    clearReports(reports, cudaStream);
  }
  int result = gpu.cluster > 1 || gpu.programmatic || info.cooperative
                   ? launchWithAttributes(info, kernel.function, blocks, cudaStream, parameters)
                   : Driver::get().cuLaunchKernel(kernel.function, blocks, 1, 1, gpu.threads, 1, 1, gpu.sharedBytes, cudaStream,
                                                  parameters, nullptr);
  if (result)
    fail(result, describe(info, grid, blocks));
  if (reports)
    readReports(info, reports, extents, cudaStream);
}

} // namespace tilery::cuda
