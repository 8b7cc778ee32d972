#pragma once
// How far integers of neighbouring lanes count up by one before they jump: pieces of rows that lie in memory as they are.
#include "compiler/ir/Tile.h"

namespace tilery::analysis {

/// About how many lanes of a tile of rank 1 follow each other in a row, where the index arithmetic says so (`p % width + p / width * stride`:
/// width). INT64_MAX: all. 0: none, or it is not seen. A guess to plan by: what divides may be a number that the launch brings.
int64_t laneRun(mlir::Value integers);

} // namespace tilery::analysis
