#pragma once
// Between which numbers an integer lies, as far as constants, counters of loops and numbers of programs say.
#include "compiler/ir/Tile.h"

namespace tilery::analysis {

struct Interval {
  int64_t least, greatest;
};

/// Of a tile: all its elements. Nothing where it is not known. Sums and products count as those of whole numbers, as in addresses.
std::optional<Interval> intervalOf(mlir::Value value);

} // namespace tilery::analysis
