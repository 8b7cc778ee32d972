#pragma once
// GPU code in memory: its kernels in every context they run in.
#include "runtime/cuda/driver.h"
#include "tilery/runtime.h"
#include <array>
#include <atomic>
#include <forward_list>
#include <mutex>
#include <string>
#include <vector>

namespace tilery::cuda {

/// A kernel on a device.
struct LoadedKernel {
  Function function = nullptr;
  unsigned resident =
      0; ///< programs of a persistent launch, the most of a cooperative one: as many blocks, or clusters, as run at once
  /// Clusters of 2, 4 and 8 such blocks that run at once; of kernels whose steps clusters may share.
  std::array<unsigned, 3> clusters{};
};

/// The bytes of parameters that every driver takes.
constexpr unsigned parameterBytes = 4096;

/// A module, loaded on each device when a kernel of it first runs there.
class Code {
public:
  explicit Code(std::string object) : object(std::move(object)) {}
  ~Code();
  Code(const Code &) = delete;

  /// The kernel on the current context's device, ready to launch. Throws Error if its needs exceed the device's limits.
  LoadedKernel kernel(const KernelInfo &info, int device) const {
    const Entry *entry = last.load(std::memory_order_acquire);
    return entry && entry->info == &info && entry->device == device ? entry->kernel : find(info, device);
  }

private:
  struct Entry {
    const KernelInfo *info;
    int device;
    LoadedKernel kernel;
  };
  LoadedKernel find(const KernelInfo &info, int device) const;
  LoadedKernel load(const KernelInfo &info, int device) const;

  std::string object; // PTX or machine code
  mutable std::mutex mutex;
  mutable std::vector<ModuleHandle> modules; // by device; null: not loaded
  mutable std::forward_list<Entry> entries;  // they stay where they are, so that a launch may read one without the mutex
  mutable std::atomic<const Entry *> last = nullptr;
};

} // namespace tilery::cuda
