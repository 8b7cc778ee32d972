#pragma once
#include "compiler/ir/Tile.h"

namespace tilery::block {

/// Loops whose products stand in a branch that some steps do not take, and which do nothing else in those, go over the steps that take it.
void skipSteps(tile::KernelOp kernel);

} // namespace tilery::block
