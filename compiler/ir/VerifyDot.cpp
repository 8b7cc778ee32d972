// Verifiers of the ops in TileDot.td.
#include "compiler/ir/Tile.h"

using namespace mlir;
using namespace tilery::tile;

LogicalResult DotOp::verify() { return success(); }
LogicalResult ContractOp::verify() { return success(); }
