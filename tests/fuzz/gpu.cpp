#include "gpu.h"
#include "compiler/targets/cuda/cuda.h"
#include "runtime/cuda/driver.h"
#include "tilery/runtime.h"

using namespace mlir;

namespace tilery::fuzz {
namespace {

/// Device memory with the bytes of an array, given back at the end.
class DeviceArray {
public:
  explicit DeviceArray(std::vector<uint8_t> &host) : host(host) {
    if (host.empty())
      return;
    const cuda::Driver &driver = cuda::Driver::get();
    cuda::check(driver.cuMemAlloc_v2(&address, host.size()), "allocating an argument");
    cuda::check(driver.cuMemcpyHtoDAsync_v2(address, host.data(), host.size(), nullptr), "filling an argument");
  }
  ~DeviceArray() {
    if (address)
      cuda::Driver::get().cuMemFree_v2(address);
  }
  DeviceArray(const DeviceArray &) = delete;
  void read() {
    const cuda::Driver &driver = cuda::Driver::get();
    if (address)
      cuda::check(driver.cuMemcpyDtoHAsync_v2(host.data(), address, host.size(), nullptr), "reading an argument");
    cuda::check(driver.cuStreamSynchronize(nullptr), "running the program");
  }
  cuda::Address address = 0;

private:
  std::vector<uint8_t> &host;
};

std::vector<KernelPtr> compileForGpu(ModuleOp module, bool disjoint, bool boxes) {
  cuda::Options options;
  options.target = *cuda::targetNamed(gpuTarget(0));
  options.disjoint = disjoint;
  options.fpContract = false;
  options.boxes = boxes;
  FailureOr<Translation> compiled = cuda::compileModule(module, options);
  return failed(compiled) ? std::vector<KernelPtr>() : load(CodeImage{compiled->object, compiled->kernels, ""});
}

/// Code for a launch that the copy engine does not take, compiled when there is one.
struct WithoutBoxes {
  OwningOpRef<ModuleOp> module;
  bool disjoint;
  std::vector<KernelPtr> kernels;
  static const Kernel &of(void *context, const Kernel &) {
    auto &self = *static_cast<WithoutBoxes *>(context);
    self.kernels = compileForGpu(*self.module, self.disjoint, false);
    return *self.kernels.at(0);
  }
};

} // namespace

void runOnGpu(const Program &program, ModuleOp module, bool disjoint, std::vector<std::vector<uint8_t>> &arrays,
              std::string &unsupported) {
  WithoutBoxes second{module.clone(), disjoint, {}};
  std::vector<KernelPtr> kernels = compileForGpu(module, disjoint, true);
  if (kernels.empty()) {
    unsupported = "the GPU cannot run it";
    return;
  }
  cuda::DeviceScope device(0);
  std::vector<std::unique_ptr<DeviceArray>> copies;
  std::vector<uint64_t> slots;
  for (auto [argument, array] : llvm::zip(program.args, arrays)) {
    copies.push_back(std::make_unique<DeviceArray>(array));
    slots.push_back(array.empty() ? argument.scalar : copies.back()->address + guardBytes);
  }
  const int64_t grid[3] = {program.grid[0], program.grid[1], program.grid[2]};
  LaunchOptions launchOptions;
  launchOptions.flags = disjoint ? TILERY_DISJOINT : 0;
  launchOptions.context = &second;
  launchOptions.withoutBoxes = WithoutBoxes::of;
  launch(*kernels[0], grid, slots.data(), launchOptions);
  for (auto &copy : copies)
    copy->read();
}

} // namespace tilery::fuzz
