#pragma once
// How far apart in memory the neighbours of a tile lie, in the numbers of a launch.
#include "compiler/count/scalars.h"
#include <optional>

namespace tilery::count {

/// Whether some places of the access are computed from numbers that the launch knows, and neighbours lie far apart along each dimension.
bool liesApart(tile::AccessOp place, Scalars &scalars);

/// Rows of a tile that fill a vector or two and lie far apart.
struct ShortRows {
  int64_t elements, bytes; ///< of a row
  int64_t apart;           ///< bytes from where one begins to the next
};
std::optional<ShortRows> shortRows(tile::AccessOp place, Scalars &scalars);

} // namespace tilery::count
