#pragma once
// Exponentials in loops with several products, which the tensor cores wait for.
#include "compiler/ir/Tile.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tilery::block {

/// A softmax's weights, which a product takes in 16 bits, of what lies below rows' maxima; or what a change of those maxima scales sums by.
bool isOfSoftmax(mlir::math::ExpOp op);

/// Exponentials become one instruction: powers of two, and those of softmaxes, with a multiplication in front.
void computeNearly(mlir::scf::ForOp loop);

} // namespace tilery::block
