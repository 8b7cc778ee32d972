#pragma once
#include "compiler/ir/Tile.h"

namespace tilery {

/// Removes the carried values of every scf.for under `root` that no result, effect or live carried value needs, with what computes them.
void removeDeadCarried(mlir::Operation *root);

} // namespace tilery
