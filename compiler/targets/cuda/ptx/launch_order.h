#pragma once
// Kernels that run beside the launches before and after them (programmatic dependent launches, from Hopper on).
#include "compiler/targets/cuda/ptx/thread_machine.h"

namespace tilery::cuda {

/// Where a kernel begins, in all threads: waits for the launch before it, and lets the one after it begin, where its program says so. Gives
/// GpuInfo::programmatic. Wherever the program waits, all that it does is then behind that wait; what of it may go on beside the launch before is the
/// start of blocks.
bool orderLaunches(lower::Emitter &e, tile::KernelOp kernel, ThreadMachine &machine);

} // namespace tilery::cuda
