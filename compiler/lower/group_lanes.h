#pragma once
// Places of a thread's neighbouring lanes that are whole groups: the same, or counting up by one, though quotients make them.
#include "compiler/analysis/lane_groups.h"
#include "compiler/lower/evaluator.h"

namespace tilery::lower {

/// What the lanes at the index along a dimension have to do with each other; nothing is known of others than whole groups, or without
/// threads. The launch is asked for what that hangs on.
analysis::LaneGroups groupsOf(const Evaluator &evaluator, mlir::Value integers, int dim, const Index &index);

/// The first of the lanes, and how much more each is than the one before it: 0 or 1.
struct GroupLanes {
  Lanes first;
  int64_t step;
};
/// Of a quotient or a remainder, so that it is divided once.
std::optional<GroupLanes> dividedInGroups(Evaluator &evaluator, mlir::Operation *op, llvm::ArrayRef<Index> point);

} // namespace tilery::lower
