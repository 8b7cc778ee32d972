#pragma once
// PTX to machine code, by the compiler that every NVIDIA driver brings along (libnvidia-ptxjitcompiler).
#include "runtime/cuda/assembler_log.h"

namespace tilery::cuda {

struct Assembly {
  std::string code;          ///< machine code; empty: the compiler is not there, or refuses
  std::string refusal;       ///< what it says then; empty if it is not there
  std::vector<Spill> spills; ///< of kernels that have some
};

/// Whether PTX says which lines of the source its instructions are of.
bool hasLines(const std::string &ptx);

/// Machine code for GPUs of `arch` ("sm_90a"). No GPU and no context is needed, threads may assemble at once. Without it the driver itself
/// takes PTX, as code.h does: slower to load. Throws Error for a log with a C75xx line (assembler_log.h).
Assembly assemble(const std::string &ptx, const std::string &arch);

} // namespace tilery::cuda
