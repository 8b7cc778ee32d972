#pragma once
// Places that several neighbouring lanes share: of weights that are packed into bytes or words, `k // 2`; of windows two apart, `(x + 1) // 2`.
#include "compiler/ir/Tile.h"

namespace tilery::analysis {

/// Lane i of a row is at the place of lane 0 and (i + ahead) / width more, from each multiple of the width on.
struct LaneRepeats {
  int64_t width = 1; // 2, 4, 8; 1: not so, by the looks of it
  int64_t ahead = 0; // less than the width
};
LaneRepeats laneRepeats(mlir::Value places);

} // namespace tilery::analysis
