#pragma once
// From MLIR's element types to the names that users and the runtime have for them.
#include "tilery/dtype.h"
#include "mlir/IR/Types.h"
#include <optional>

namespace tilery {
/// The dtype of a scalar of this type; integers, which are signless in the IR, are signed if `isSigned`. Nothing for a type that
/// has no dtype (pointers, i7).
std::optional<DType> dtypeOf(mlir::Type type, bool isSigned = true);
} // namespace tilery
