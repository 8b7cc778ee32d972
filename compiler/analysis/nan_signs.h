#pragma once
#include "mlir/IR/Value.h"

namespace tilery::analysis {

/// Whether anything that is made of a float can tell the sign of a NaN in it: arithmetic gives NaNs of bits that are not specified,
/// comparisons are false. What is stored, passed on or read as bits is told.
bool tellsNaNSign(mlir::Value value);

} // namespace tilery::analysis
