#pragma once
// GPU code in memory: PTX to the device's machine code, and its kernels in every context they run in.
#include "runtime/cuda/driver.h"
#include "tilery/runtime.h"
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace tilery::cuda {

/// Machine code of the device for PTX text, by the driver's own assembler. Throws Error for what it refuses and for a log with a C75xx
/// line (assembler_log.h).
std::string assemble(const std::string &ptx, int device);

/// A kernel on a device.
struct LoadedKernel {
  Function function = nullptr;
  unsigned resident = 0; ///< blocks of a persistent launch: as many as run at once
};

/// A module, loaded on each device when a kernel of it first runs there.
class Code {
public:
  explicit Code(std::string object) : object(std::move(object)) {}
  ~Code();
  Code(const Code &) = delete;

  /// The kernel on the current context's device, ready to launch. Throws Error if its needs exceed the device's limits.
  LoadedKernel kernel(const KernelInfo &info, int device) const;

private:
  struct Loaded {
    ModuleHandle module = nullptr;
    std::vector<std::pair<const KernelInfo *, LoadedKernel>> kernels;
  };
  LoadedKernel load(const KernelInfo &info, int device, Loaded &loaded) const;

  std::string object; // PTX or machine code
  mutable std::mutex mutex;
  mutable std::vector<Loaded> devices;
};

} // namespace tilery::cuda
