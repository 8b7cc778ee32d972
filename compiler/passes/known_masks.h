#pragma once
// Comparisons whose results index arithmetic knows, taken out of masks.
#include "compiler/ir/Tile.h"

namespace tilery::passes {

/// A comparison that comes out the same in every lane becomes a constant, and so does what is computed from it; an access loses bounds that
/// always hold. For ops in the order in which they are computed.
void decideMask(mlir::Operation *op);
/// Of all accesses of the kernel.
void decideMasks(tile::KernelOp kernel);
/// Unsigned comparisons of tiles with what is not negative, which the canonicalizer makes of an index's two bounds, become the two again.
void separateBounds(tile::KernelOp kernel);

} // namespace tilery::passes
