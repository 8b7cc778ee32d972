#pragma once
// Matrix products on Hopper: copy engine into a ring of stages, one producer warp, warpgroups that multiply, a persistent grid.
#include "compiler/targets/cuda/block_machine.h"
#include "compiler/targets/cuda/gemm_match.h"
#include "compiler/targets/cuda/gemm_schedule.h"

namespace tilery::cuda {

GemmProblem problemOf(const GemmKernel &gemm);
/// Emits the kernel into the emitter's module; gives how it is launched.
GpuInfo emitHopperGemm(lower::Emitter &e, const GemmKernel &gemm, const GemmSchedule &schedule, BlockMachine &machine);

} // namespace tilery::cuda
