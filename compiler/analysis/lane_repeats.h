#pragma once
// Places that several neighbouring lanes share: of weights that are packed into bytes or words, `k // 2`.
#include "compiler/ir/Tile.h"

namespace tilery::analysis {

/// How many lanes share a place (2, 4, 8), group by group from a multiple of that, where the next group's is one more. 1: not so, by the
/// looks of it.
int64_t laneRepeats(mlir::Value places);

} // namespace tilery::analysis
