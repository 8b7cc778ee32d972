#pragma once
// How far apart in memory the neighbours of a tile lie, in the numbers of a launch.
#include "compiler/count/scalars.h"

namespace tilery::count {

/// Whether some places of the access are computed from numbers that the launch knows, and neighbours lie far apart along each dimension.
bool liesApart(tile::AccessOp place, Scalars &scalars);

} // namespace tilery::count
