#include "runtime/cuda/library.h"
#include "tilery/gpu_memory.h"
#include <dlfcn.h>

namespace tilery {
const bool gpuInHostMemory = false;

namespace cuda {
void *driverLibrary(bool loaded) { return dlopen("libcuda.so.1", RTLD_NOW | (loaded ? RTLD_LOCAL : RTLD_NOLOAD)); }
void *driverFunction(void *library, const char *name) { return dlsym(library, name); }
} // namespace cuda
} // namespace tilery
