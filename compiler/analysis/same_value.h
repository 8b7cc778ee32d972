#pragma once
#include "mlir/IR/Value.h"

namespace tilery::analysis {

/// True if two values are one, or computed in the same way from the same values.
bool isSameValue(mlir::Value a, mlir::Value b);

} // namespace tilery::analysis
