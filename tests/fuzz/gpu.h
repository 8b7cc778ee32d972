#pragma once
// A program on a real GPU.
#include "program.h"

namespace tilery::fuzz {

/// Compiles the module (after the passes) for the first GPU and runs its first kernel there on copies of `arrays`, which receive what the
/// kernel left. `unsupported` receives the message of what cannot be translated. Throws Error for what the driver reports.
void runOnGpu(const Program &program, mlir::ModuleOp module, bool disjoint, std::vector<std::vector<uint8_t>> &arrays,
              std::string &unsupported);

} // namespace tilery::fuzz
