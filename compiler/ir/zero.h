#pragma once
#include "mlir/IR/Value.h"

namespace tilery::tile {

/// True if every lane of a number or tile is known to be zero, of either sign.
bool isZero(mlir::Value value);

} // namespace tilery::tile
