#pragma once
// Powers of two that are known to divide scalars: what vector accesses need to know of addresses and bounds.
#include "compiler/ir/Tile.h"

namespace tilery::lower {

/// The largest power of two (at most 256) that surely divides an integer, or the address in bytes of a pointer. Both are scalars; wrapping
/// arithmetic keeps such factors.
int64_t divisorOf(mlir::Value scalar);

} // namespace tilery::lower
