#pragma once
#include "compiler/ir/Tile.h"

namespace tilery::count {

/// The ops that compute what a kernel stores or multiplies, unlike those that say where and whether.
llvm::DenseSet<mlir::Operation *> dataOps(tile::KernelOp kernel);

/// How many operations an element of the op's result takes; 0: it moves, compares or converts.
unsigned operationsOf(mlir::Operation *op);

} // namespace tilery::count
