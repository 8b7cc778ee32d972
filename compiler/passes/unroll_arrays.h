#pragma once
// Loops by whose numbers a thread picks elements of its own arrays.
#include "compiler/ir/Tile.h"

namespace tilery {

/// Unrolls them where they alone say which elements are meant, and the code stays short.
void unrollArrays(tile::ThreadsOp threads);
/// The number that pure arithmetic of constants gives; nothing if it is none.
std::optional<int64_t> foldedNumber(mlir::Value value);

} // namespace tilery
