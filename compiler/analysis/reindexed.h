#pragma once
// Which dimension of its operand a dimension of a shape op's result is.
#include "compiler/ir/Tile.h"

namespace tilery::analysis {

/// The operand's dimension that lanes along dimension `dim` of the result go along, -1 where all of these lanes are one of the operand's (also
/// for dim = -1); -2: it is not known. For expand_dims, broadcast, permute, reshape.
int operandDim(mlir::Operation *op, int dim);

} // namespace tilery::analysis
