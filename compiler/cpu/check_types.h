#pragma once
// What the CPU target refuses by its element type.
#include "compiler/ir/Tile.h"

namespace tilery::cpu {

/// 8-bit floats are moved, but nothing is computed with them: reports the first op that does and fails.
mlir::LogicalResult checkTypes(mlir::ModuleOp module);

} // namespace tilery::cpu
