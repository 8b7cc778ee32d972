#pragma once
// A program as Hopper's machine code, on a machine without a GPU.
#include "program.h"

namespace tilery::fuzz {

/// Compiles the module (after the passes) for sm_90a, with the copy engine's boxes and without, and has ptxas (which is on the path)
/// assemble it. What it says against the code: that it refuses it, or has given up on instructions (C75xx); empty: nothing. `unsupported`
/// receives the message of what cannot be translated.
std::string assemblersComplaint(mlir::ModuleOp module, bool disjoint, std::string &unsupported);

} // namespace tilery::fuzz
