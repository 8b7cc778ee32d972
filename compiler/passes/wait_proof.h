#pragma once
#include "compiler/ir/Tile.h"

namespace tilery {

/// True if one thread of control passes all waits of a kernel without roles, however often loops whose ends are known at run time only take
/// their turns. False as well if that cannot be told.
bool passesAllWaits(tile::KernelOp kernel);

} // namespace tilery
