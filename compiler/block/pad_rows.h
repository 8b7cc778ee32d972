#pragma once
#include "compiler/ir/Tile.h"

namespace tilery::block {

/// Gives loops whose products have from 2 to 63 rows 64, of which those before are loaded and stored. Leaves kernels alone in which an op
/// mixes rows, or whose products have different numbers of them.
void padRows(tile::KernelOp kernel);

} // namespace tilery::block
