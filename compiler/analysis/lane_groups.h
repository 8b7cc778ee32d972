#pragma once
// What integers of neighbouring lanes have to do with each other, group by group: what wide accesses need to know of computed places.
#include "compiler/ir/Tile.h"

namespace tilery::analysis {

/// Of the lanes w*g to w*g + w - 1 along a dimension of a tile, for every g.
struct LaneGroups {
  bool follow = false; // each is one more than the lane before it
  bool equal = false;
  int64_t divisor = 1; // a power of two, at most 256, that divides the first one of each group
  /// All of that holds where these scalars are positive: what is divided by them is 0 where one is 0.
  llvm::SmallVector<mlir::Value, 0> positive = {};
};
/// `width`: w, a power of two. dim -1: all lanes are those of one place. Integers and conditions; scalars are equal in all lanes.
LaneGroups laneGroups(mlir::Value value, int dim, int64_t width);
/// The same if scalars by which it is divided are positive (without, `positive` is empty).
LaneGroups laneGroupsOfPositive(mlir::Value value, int dim, int64_t width);

} // namespace tilery::analysis
