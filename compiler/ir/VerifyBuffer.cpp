// Verifiers of the ops in TileBuffer.td.
#include "compiler/ir/Tile.h"

using namespace mlir;
using namespace tilery::tile;

LogicalResult SubviewOp::verify() { return success(); }
LogicalResult ReinterpretOp::verify() { return success(); }
LogicalResult BufferLoadOp::verify() { return success(); }
LogicalResult BufferStoreOp::verify() { return success(); }
LogicalResult ElementLoadOp::verify() { return success(); }
LogicalResult ElementStoreOp::verify() { return success(); }
