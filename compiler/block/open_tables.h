#pragma once
#include "compiler/ir/Tile.h"

namespace tilery::block {

/// Arrays that a loop fills with numbers it loads, one a step, are read where these lie in memory.
void openTables(tile::KernelOp kernel);

} // namespace tilery::block
