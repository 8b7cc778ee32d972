#pragma once
// Places that are the same for the neighbouring lanes of a vector.
#include "compiler/analysis/lane_groups.h"
#include "compiler/lower/lane_index.h"

namespace tilery::lower {

/// True if all `lanes` that begin at the index lie where the first one does.
inline bool areAlike(mlir::Value steps, const Index &index, unsigned lanes) {
  bool follow = index.step == 1 && !index.lanes && llvm::isPowerOf2_32(lanes) && index.multiple % lanes == 0;
  return follow && analysis::laneGroups(steps, 0, lanes).equal;
}

} // namespace tilery::lower
