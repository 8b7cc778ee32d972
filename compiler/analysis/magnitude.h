#pragma once
// How large an integer can be by its type and by what it is made of: sums in 64 bits of numbers of 32 do not wrap, whoever says so.
#include "compiler/ir/Tile.h"

namespace tilery::analysis {

/// The least n, so far as is known, for which the number (each of a tile's) is at least -2^n and at most 2^n, whatever wraps on
/// the way.
unsigned magnitudeOf(mlir::Value value);

/// Whether the sum, difference or product is that of whole numbers: marked so, or of numbers that are small for its type.
bool isExact(mlir::Value value);

} // namespace tilery::analysis
