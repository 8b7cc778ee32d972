// Verifiers of the ops in TileHost.td.
#include "compiler/ir/Tile.h"

using namespace mlir;
using namespace tilery::tile;

LogicalResult LaunchOp::verify() { return success(); }
