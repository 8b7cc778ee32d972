// The driver of the emulated GPU, in place of runtime/cuda/library.cpp. Its memory is the host's, a launch has run when it returns.
#include "runtime/cuda/library.h"
#include "driver.h"
#include "tilery/gpu_memory.h"
#include <iterator>
#include <string_view>

namespace tilery {
const bool gpuInHostMemory = true;

namespace cuda {
namespace {
struct Entry {
  std::string_view name;
  void *function;
};
#define F(name, ...) Entry{#name, reinterpret_cast<void *>(&emulator::driver::name)},
const Entry entries[] = {TILERY_CUDA_FUNCTIONS(F) F(cuGetErrorName) F(cuGetErrorString)};
#undef F
} // namespace

void *driverLibrary(bool) { return const_cast<Entry *>(entries); }
void *driverFunction(void *, const char *name) {
  for (const Entry &entry : entries)
    if (entry.name == name)
      return entry.function;
  return nullptr;
}
} // namespace cuda
} // namespace tilery
