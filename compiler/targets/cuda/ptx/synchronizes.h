#pragma once
// What a kernel has to do with others while it runs.
#include "compiler/ir/Tile.h"

namespace tilery::cuda {

/// May another kernel, or another process, write what this one reads while it runs? It then takes what an atomic update gives that acquires,
/// reads a number again and again, or signals that it has read.
bool synchronizesWithOthers(tile::KernelOp kernel);

} // namespace tilery::cuda
