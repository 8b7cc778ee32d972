#pragma once
#include "compiler/ir/Tile.h"

namespace tilery::block {

/// Contractions of a kernel with other products become loops again, those over the same steps one loop: such kernels are found as loops.
void openContractions(tile::KernelOp kernel);

} // namespace tilery::block
