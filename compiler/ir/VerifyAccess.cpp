// Verifiers of the ops in TileAccess.td.
#include "compiler/ir/Tile.h"

using namespace mlir;
using namespace tilery::tile;

LogicalResult AddPtrOp::verify() { return success(); }
LogicalResult PointerAccessOp::verify() { return success(); }
LogicalResult AccessOp::verify() { return success(); }
LogicalResult RootOp::verify() { return success(); }
LogicalResult ViewOp::verify() { return success(); }
LogicalResult LoadOp::verify() { return success(); }
LogicalResult StoreOp::verify() { return success(); }
