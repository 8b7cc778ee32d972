#pragma once
// Branches that end where something waits.
#include "compiler/ir/Tile.h"

namespace tilery {

/// Cuts each branch in the block, and in what stands in it, that waits and has no result: in front of its waits, into branches under the
/// same condition.
void cutBranchesAtWaits(mlir::Block &block);
/// Joins branches under the same condition that stand side by side.
void joinBranches(mlir::Block &block);

} // namespace tilery
