#pragma once
#include "mlir/IR/Value.h"

namespace tilery::tile {

/// True if every lane of a number or tile is known to be zero, of either sign.
bool isZero(mlir::Value value);
/// The same of 0 and +0 alone: what a sum may start from.
bool isPlusZero(mlir::Value value);

} // namespace tilery::tile
