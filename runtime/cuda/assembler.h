#pragma once
// PTX to machine code, by the compiler that every NVIDIA driver brings along (libnvidia-ptxjitcompiler).
#include "runtime/cuda/assembler_log.h"
#include "tilery/runtime.h"

namespace tilery::cuda {

struct Assembly {
  std::string code;          ///< machine code; empty: the compiler is not there, or refuses
  std::string refusal;       ///< what it says then; empty if it is not there
  std::vector<Spill> spills; ///< of kernels that have some
  std::string gaveUp;        ///< the line of the log that says so (assembler_log.h)
};

/// Whether PTX says which lines of the source its instructions are of.
bool hasLines(const std::string &ptx);

/// Machine code for GPUs of `arch` ("sm_90a"). No GPU and no context is needed, threads may assemble at once. Without it the driver itself
/// takes PTX, as code.h does: slower to load.
Assembly assemble(const std::string &ptx, const std::string &arch);

/// As assembled() of runtime.h, which throws where `gaveUp` is not empty afterwards and TILERY_VERIFY=1.
CodeImage assembled(CodeImage image, int device, std::string &gaveUp);

} // namespace tilery::cuda
