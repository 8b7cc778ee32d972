#pragma once
// Which of two products is multiplied and added in one rounding.
#include "compiler/ir/Tile.h"

namespace tilery::cuda {

/// Puts the product whose last factor is there first on the left of each floating-point sum of two products. Instruction selection fuses
/// the one on the left with the addition, so that the result is the one that Triton and nvcc give, however the sum is written.
void roundSums(tile::KernelOp kernel);

} // namespace tilery::cuda
