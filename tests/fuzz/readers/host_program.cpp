// Host programs: what is read runs on tensors of the shapes it asks for, in surroundings that launch nothing.
#include "tests/fuzz/readers/images.h"
#include "tests/fuzz/readers/reader.h"
#include "tilery/diagnostic.h"
#include <algorithm>

using namespace tilery;

namespace {
struct Nothing : HostEnvironment {
  void *allocate(std::span<const int64_t>, DType, bool) override { return memory; }
  bool launch(const Kernel &kernel, const int64_t *, const uint64_t *args, uint32_t) override {
    for (size_t slot = 0; slot < kernel.info().args.size(); ++slot) // a kernel reads them all
      sum += args[slot];
    return true;
  }
  char memory[8];
  volatile uint64_t sum = 0;
};
} // namespace

std::vector<std::string> readers::seeds() { return {hostProgram().serialize()}; }

void readers::read(std::string_view bytes) {
  const std::vector<KernelInfo> kernels = hostKernels();
  HostProgram program = HostProgram::parse(bytes, kernels);
  if (program.serialize() != bytes)
    defect("a host program does not come back as it was");
  std::vector<KernelPtr> loaded;
  for (const KernelInfo &kernel : kernels)
    loaded.push_back(std::make_shared<const Kernel>(kernel, nullptr, nullptr));
  for (int64_t extent : {int64_t(5), int64_t(0), int64_t(1) << 40}) {
    std::vector<Tensor> tensors(program.parameters.size());
    std::vector<std::vector<int64_t>> sizes(tensors.size());
    std::vector<HostArgument> arguments(tensors.size());
    for (size_t i = 0; i < tensors.size(); ++i) {
      const HostParameter &parameter = program.parameters[i];
      sizes[i].assign(size_t(std::max(parameter.rank, 0)), extent);
      tensors[i] = {&tensors, parameter.dtype, parameter.rank, sizes[i].data(), sizes[i].data(), {}};
      arguments[i] = parameter.rank < 0 ? HostArgument{nullptr, uint64_t(extent)} : HostArgument{&tensors[i], 0};
    }
    Nothing nothing;
    try {
      program.run(arguments, loaded, nothing);
    } catch (const Error &) {
    }
  }
}
