#pragma once
#include "runtime/cuda/code.h"

namespace tilery::cuda {

/// Puts the kernel on the stream and returns at once. Throws Error.
void launch(const KernelInfo &info, const Code &code, const int64_t grid[3], const uint64_t *args, int device, void *stream);

/// How many clusters of 2, 4 and 8 blocks of the kernel run at once (LoadedKernel::clusters). Throws Error.
std::array<unsigned, 3> clustersAtOnce(const KernelInfo &info, const Code &code, int device);

} // namespace tilery::cuda
