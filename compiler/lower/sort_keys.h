#pragma once
// The order of tile.sort as that of integers: compared, exchanged and sorted in one way for all types.
#include "compiler/lower/emitter.h"

namespace tilery::lower {

/// Signed integers, as wide as an element is in memory, whose increasing order is the one that the sort asks for: NaNs are the greatest,
/// -0 is below 0, decreasing orders are turned round. Values and keys are scalars or vectors.
Lanes sortKey(Emitter &e, tile::SortOp op, Lanes value);
/// The value of a key; of all NaNs it is one.
Lanes valueOfSortKey(Emitter &e, tile::SortOp op, Lanes key);
/// The greatest key.
llvm::APInt lastSortKey(tile::SortOp op);

} // namespace tilery::lower
