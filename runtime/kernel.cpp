// Loaded kernels.
#include "runtime/cuda/code.h"
#include "runtime/elf_code.h"
#include "runtime/panels.h"
#include "runtime/registration.h"
#include "tilery/diagnostic.h"
#include "tilery/environment.h"
#include "tilery/runtime.h"
#include <atomic>

namespace tilery {
namespace {
struct LoadedCode {
  explicit LoadedCode(std::string_view object) : code(object), registration(code) {}
  ElfCode code;
  Registration registration;
};
} // namespace

Kernel::Kernel(KernelInfo info, TileryKernel entry, std::shared_ptr<const void> code)
    : info_(std::move(info)), entry_(entry), code(std::move(code)) {}

Kernel::Kernel(KernelInfo info, std::shared_ptr<const cuda::Code> code)
    : info_(std::move(info)), entry_(nullptr), gpuCode_(std::move(code)) {}

double Kernel::cost(bool alone) const { return std::atomic_ref<double>(costs_[alone]).load(std::memory_order_relaxed); }
void Kernel::setCost(double nanoseconds, bool alone) const {
  std::atomic_ref<double>(costs_[alone]).store(nanoseconds, std::memory_order_relaxed);
}

std::vector<KernelPtr> load(const CodeImage &image) {
  checkEnvironment();
  panelBudget(); // known before the first launch, in the midst of which a fork may come
  if (image.kernels.empty())
    return {}; // a program may only check its arguments
  std::vector<KernelPtr> kernels;
  if (image.kernels.front().gpu.threads) {
    auto code = std::make_shared<const cuda::Code>(image.object);
    for (const KernelInfo &info : image.kernels)
      kernels.push_back(std::make_shared<const Kernel>(info, code));
    return kernels;
  }
  auto loaded = std::make_shared<const LoadedCode>(image.object);
  for (const KernelInfo &info : image.kernels) {
    uint64_t address = loaded->code.find(info.name);
    if (!address)
      throw Error({Diagnostic::Kind::Runtime, "cannot load compiled code: it has no kernel " + info.name, "", {}});
    kernels.push_back(std::make_shared<const Kernel>(info, reinterpret_cast<TileryKernel>(address), loaded));
  }
  return kernels;
}
} // namespace tilery
