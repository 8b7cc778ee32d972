#pragma once
// What a program says of the arithmetic of floats in all of its kernels.
#include "llvm/ADT/StringRef.h"

namespace tilery::tile {

/// Attribute of a module: products and sums of floats round each, none become fused multiply-adds.
inline constexpr llvm::StringLiteral roundsEachName = "tile.rounds_each";

} // namespace tilery::tile
