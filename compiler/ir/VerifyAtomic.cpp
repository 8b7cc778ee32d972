// Verifiers of the ops in TileAtomic.td.
#include "compiler/ir/Tile.h"

using namespace mlir;
using namespace tilery::tile;

LogicalResult AtomicRmwOp::verify() { return success(); }
LogicalResult AtomicCasOp::verify() { return success(); }
