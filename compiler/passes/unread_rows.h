// Rows of factors that products multiply by nothing but zeros.
#pragma once
#include "mlir/IR/Value.h"

namespace tilery::tile {

/// True if the rows of a tile of rank 2 for which `mask` does not hold (of its shape, the same along each row) change nothing that is
/// computed of the tile, as long as they are finite: as columns of a second factor they are added to -inf alone, as rows of one they meet
/// zeros. Where they are not finite, results may be NaN instead.
bool areUnread(mlir::Value tile, mlir::Value mask);

} // namespace tilery::tile
