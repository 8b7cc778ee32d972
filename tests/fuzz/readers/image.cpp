// Images of code as the cache and bundles hold them.
#include "runtime/polynomial.h"
#include "tests/fuzz/readers/images.h"
#include "tests/fuzz/readers/reader.h"

using namespace tilery;

std::vector<std::string> readers::seeds() {
  return {serialize({"object", hostKernels(), hostProgram().serialize()}), serialize({".version 8.0", {gpuKernel()}, ""})};
}

void readers::read(std::string_view bytes) {
  CodeImage image = deserialize(bytes);
  if (deserialize(serialize(image)) != image)
    defect("an image does not come back as it was");
  const int64_t grid[3] = {1, 2, 3};
  for (const KernelInfo &kernel : image.kernels) { // what a launch computes without asking again
    std::vector<uint64_t> args(kernel.args.size(), 7);
    LaunchValues launch{kernel, args.data(), grid};
    for (const ConditionInfo &condition : kernel.gpu.conditions)
      holds(condition, launch);
    for (const TensorMapInfo &map : kernel.gpu.maps)
      for (const TensorMapInfo::Dimension &dimension : map.dimensions)
        evaluate(dimension.extent, launch), evaluate(dimension.stride, launch);
  }
  if (!image.host.empty())
    HostProgram::parse(image.host, image.kernels);
}
