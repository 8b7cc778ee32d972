#pragma once
// What kernels print and assert.
#include "runtime/cuda/driver.h"
#include "tilery/runtime.h"

namespace tilery::cuda {

/// Empties the reports, in the stream's order.
void clearReports(Address reports, Stream stream);
/// Prints what the kernel reported, program after program. `records`: what follows the head, as far as there was room. Throws Error for a
/// failed assertion.
void deliverReports(const KernelInfo &info, const TileryReports &head, std::string_view records, const uint32_t grid[3]);
/// Waits for the stream and delivers.
void readReports(const KernelInfo &info, Address reports, const uint32_t grid[3], Stream stream);

} // namespace tilery::cuda
