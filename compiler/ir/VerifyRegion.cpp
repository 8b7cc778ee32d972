// Verifiers of the ops in TileRegion.td.
#include "compiler/ir/Tile.h"

using namespace mlir;
using namespace tilery::tile;

LogicalResult ParallelOp::verify() { return success(); }
LogicalResult ThreadsOp::verify() { return success(); }
LogicalResult RolesOp::verify() { return success(); }
LogicalResult BarrierAllocOp::verify() { return success(); }
