#pragma once
// The driver's functions, as far as the runtime calls them, for the emulated GPU.
#include "runtime/cuda/driver.h"

namespace tilery::emulator::driver {
using cuda::Address, cuda::Context, cuda::Device, cuda::Function, cuda::LaunchAttribute, cuda::LaunchConfig, cuda::ModuleHandle,
    cuda::Stream, cuda::TensorMap;

#define F(name, ...) int name(__VA_ARGS__);
TILERY_CUDA_FUNCTIONS(F)
#undef F
int cuGetErrorName(int result, const char **name);
int cuGetErrorString(int result, const char **text);

} // namespace tilery::emulator::driver
