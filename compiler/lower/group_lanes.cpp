#include "compiler/lower/group_lanes.h"

using namespace mlir;

namespace tilery::lower {

analysis::LaneGroups groupsOf(const Evaluator &evaluator, Value integers, int dim, const Index &index) {
  int64_t width = evaluator.width();
  bool whole = evaluator.threads && index.step == 1 && !index.lanes && width > 1 && llvm::isPowerOf2_64(width) &&
               index.multiple % width == 0;
  if (!whole)
    return {};
  analysis::LaneGroups groups = analysis::laneGroups(integers, dim, width);
  if (groups.equal || groups.follow)
    return groups;
  groups = analysis::laneGroupsOfPositive(integers, dim, width);
  bool isAsked = (groups.equal || groups.follow) && evaluator.threads->asksForPositive(groups.positive);
  return isAsked ? groups : analysis::LaneGroups();
}

std::optional<GroupLanes> dividedInGroups(Evaluator &evaluator, Operation *op, ArrayRef<Index> point) {
  if (!evaluator.threads || !isa_and_nonnull<tile::DivOp, tile::RemOp>(op))
    return std::nullopt;
  auto moves = [](const Index &index) { return !index.uniform(); };
  if (llvm::count_if(point, moves) != 1)
    return std::nullopt;
  unsigned dim = llvm::find_if(point, moves) - point.begin();
  analysis::LaneGroups groups = groupsOf(evaluator, op->getResult(0), dim, point[dim]);
  if (!groups.equal && !groups.follow)
    return std::nullopt;
  Point first(point);
  first[dim].step = 0;
  return GroupLanes{evaluator.define(op->getResult(0), first), groups.equal ? 0 : 1};
}

} // namespace tilery::lower
