#pragma once
// Which buffers the points of parallel loops have for themselves.
#include "compiler/ir/Tile.h"

namespace tilery::cuda {

/// Is a local buffer one of single points of `tile.parallel`s, which run side by side in several threads? Nothing else touches it, and each loop
/// stores before it loads; or it is one loop, of which no point loads what another one has stored in an earlier turn of loops around it.
bool belongsToPoints(tile::AllocOp alloc);

} // namespace tilery::cuda
