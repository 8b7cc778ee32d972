// Verifiers of the ops in TileShape.td.
#include "compiler/ir/Tile.h"

using namespace mlir;
using namespace tilery::tile;

LogicalResult RangeOp::verify() { return success(); }
LogicalResult SplatOp::verify() { return success(); }
LogicalResult ExpandDimsOp::verify() { return success(); }
LogicalResult BroadcastOp::verify() { return success(); }
LogicalResult ReshapeOp::verify() { return success(); }
LogicalResult PermuteOp::verify() { return success(); }
LogicalResult JoinOp::verify() { return success(); }
LogicalResult SplitOp::verify() { return success(); }
LogicalResult CatOp::verify() { return success(); }
LogicalResult TakeOp::verify() { return success(); }
LogicalResult ExtractOp::verify() { return success(); }
LogicalResult SortOp::verify() { return success(); }
