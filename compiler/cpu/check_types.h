#pragma once
// What targets refuse by its element type.
#include "compiler/ir/Tile.h"

namespace tilery::cpu {

/// 8-bit floats are moved, but nothing is computed with them: reports the first op that does and fails. `target`: who refuses it.
mlir::LogicalResult checkTypes(mlir::ModuleOp module, llvm::StringRef target);

} // namespace tilery::cpu
