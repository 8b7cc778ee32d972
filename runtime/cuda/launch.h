#pragma once
#include "runtime/cuda/code.h"

namespace tilery::cuda {

/// Puts the kernel on the stream and returns at once. Throws Error.
void launch(const KernelInfo &info, const Code &code, const int64_t grid[3], const uint64_t *args, int device, void *stream);

} // namespace tilery::cuda
