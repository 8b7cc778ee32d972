#pragma once
// Runs the GPU's general code on the CPU: the threads of a block are fibers that change places at barriers and shuffles.
#include "compiler/ir/Tile.h"
#include <string>

namespace tilery::fuzz {

/// Translates the first kernel as for a GPU, but into code of this processor, and runs all programs of the grid. `slots`: the kernel's
/// arguments (abi.h). Returns what went wrong ("" if nothing): threads that part at a barrier, a write past the shared memory.
/// `unsupported` receives the message of what cannot be translated. Prints, and throws Error for a failed assertion, as a launch does.
std::string runBlocks(mlir::ModuleOp module, bool disjoint, const uint32_t grid[3], const uint64_t *slots,
                      std::string &unsupported);

} // namespace tilery::fuzz
