#pragma once
// What kernels print and assert.
#include "runtime/cuda/driver.h"
#include "tilery/runtime.h"

namespace tilery::cuda {

/// Empties the reports, in the stream's order.
void clearReports(Address reports, Stream stream);
/// Waits for the stream and prints what the kernel reported, program after program. Throws Error for a failed assertion.
void readReports(const KernelInfo &info, Address reports, const uint32_t grid[3], Stream stream);

} // namespace tilery::cuda
