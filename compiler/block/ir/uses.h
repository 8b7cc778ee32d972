#pragma once
// Where values of the block dialect go: through loops and branches, and how often on each path.
#include "compiler/ir/Tile.h"

namespace tilery::block {

/// `value` and every result and block argument that may hold it: carried by loops, given by branches.
llvm::SmallVector<mlir::Value> flowOf(mlir::Value value);

struct PathUses {
  unsigned least = 0, most = 0; // most: 2 stands for several
};
/// How often a run from the definition of `value` on executes a use that `counts`.
PathUses usesOnPaths(mlir::Value value, llvm::function_ref<bool(mlir::OpOperand &)> counts);

/// True if every run that comes to `op` has executed `before`, an op of the same function.
bool precedes(mlir::Operation *before, mlir::Operation *op);

} // namespace tilery::block
