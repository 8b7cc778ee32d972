#pragma once
// What moving a tile between registers and shared memory costs.
#include "compiler/layout/layout.h"

namespace tilery::layout {

/// How a warp moves a tile between registers and shared memory: the widest vectors, or ldmatrix or stmatrix where that takes no longer.
struct Transfer {
  unsigned bytes; // of one access of a lane
  unsigned passes,
      least; // through the banks, of one warp for the whole tile: what it takes, and the least that such accesses can
  bool matrix;
};
/// `registers`: Register, Lane, Warp -> dimensions; `memory`: dimensions -> Offset in elements. Nothing if the two do not compose.
std::optional<Transfer> cheapestTransfer(const Layout &registers, const Layout &memory, unsigned elementBytes);

} // namespace tilery::layout
