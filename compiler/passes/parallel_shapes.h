#pragma once
#include "compiler/ir/Tile.h"

namespace tilery {

/// A tile.parallel all of whose effects stand under `if i < 16` runs over so many points of that variable.
void narrowToGuard(tile::ParallelOp op);

/// A tile.parallel that updates elements 4 * j to 4 * j + 3 of memory, one statement each, with as many neighbours of a buffer is one over
/// all of these elements with one statement.
void joinNeighbours(tile::ParallelOp op);

} // namespace tilery
