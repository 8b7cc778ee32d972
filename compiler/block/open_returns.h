#pragma once
#include "compiler/ir/Tile.h"

namespace tilery::block {

/// A branch around all of a kernel's products that nothing stands behind, as an early return leaves it, becomes `block.return_if` and the
/// code that the branch held. Leaves kernels with fewer than two products alone, and those that touch tiles before.
void openReturns(tile::KernelOp kernel);

} // namespace tilery::block
