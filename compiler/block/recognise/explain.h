#pragma once
// What TILERY_EXPLAIN=1 says of a kernel's way to block IR.
#include "compiler/ir/Tile.h"

namespace tilery::block {

/// A line on stderr, with the place of the kernel's first product, where the user asks.
void explain(tile::KernelOp kernel, const std::string &text);

} // namespace tilery::block
