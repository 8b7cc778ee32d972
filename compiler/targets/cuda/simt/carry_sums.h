#pragma once
// Sums of rows that a loop adds up: added up lane by lane, and along the rows once, behind the loop.
#include "compiler/ir/Tile.h"

namespace tilery::cuda {

/// Loops that only add the sums of a tile's rows to a number carry the tile's lanes in place of it: threads then tell each other of their sums
/// once, not in each turn. Where threads have registers for these lanes, and in kernels without products, whose sums lie in registers already.
void carrySums(tile::KernelOp kernel);

} // namespace tilery::cuda
