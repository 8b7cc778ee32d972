// Verifiers of the ops in TileReduce.td.
#include "compiler/ir/Tile.h"

using namespace mlir;
using namespace tilery::tile;

LogicalResult ReduceOp::verify() { return success(); }
LogicalResult ScanOp::verify() { return success(); }
LogicalResult HistogramOp::verify() { return success(); }
