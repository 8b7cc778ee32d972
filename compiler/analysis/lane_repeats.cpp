#include "compiler/analysis/lane_repeats.h"
#include "compiler/analysis/lane_groups.h"
#include "compiler/analysis/lane_strands.h"

using namespace mlir;

namespace tilery::analysis {

int64_t laneRepeats(Value places) {
  auto type = dyn_cast<RankedTensorType>(places.getType());
  if (!type || type.getRank() != 1)
    return 1;
  for (int64_t width : {8, 4, 2})
    if (type.getDimSize(0) > width && type.getDimSize(0) % width == 0 && laneGroups(places, 0, width).equal &&
        growthOver(places, 0, width) == 1)
      return width;
  return 1;
}

} // namespace tilery::analysis
