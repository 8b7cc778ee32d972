#pragma once
// How errors call the barriers of a program.
#include "compiler/ir/Tile.h"
#include <optional>

namespace tilery::analysis {

/// "`full[1]`": the variable that holds a ring, and which of its barriers; without a number, "`full`". Where it has no name, "barrier 1 of
/// line 12": the line that makes it; where that is not known either, "a barrier".
std::string barrierName(mlir::Value ring, std::optional<int64_t> number = {});

} // namespace tilery::analysis
