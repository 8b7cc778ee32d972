#pragma once
// Reductions of pairs as arithmetic on their halves.
#include "compiler/ir/Tile.h"

namespace tilery::lower {

enum class Pairs {
  all,
  spread, ///< whose result goes to both of the pair again
};

/// A reduction along a dimension of two elements becomes the combination of both halves of the tile, which is computed wherever it is used:
/// programs pick the left or the right one of a pair so, in each step of a sorting network.
void openPairs(tile::KernelOp kernel, Pairs which);

} // namespace tilery::lower
