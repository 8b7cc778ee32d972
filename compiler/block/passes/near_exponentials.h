#pragma once
// Exponentials between products, which the tensor cores wait for.
#include "compiler/ir/Tile.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace tilery::block {

/// A softmax's weights, which a product takes in 16 bits, of what lies below rows' maxima; or what a change of those maxima scales sums by.
bool isOfSoftmax(mlir::Operation *exponential);

/// Exponentials become one instruction: powers of two in these loops, and those of softmaxes anywhere, with a multiplication in front of
/// natural ones.
void computeNearly(tile::KernelOp kernel, llvm::ArrayRef<mlir::scf::ForOp> loops);

} // namespace tilery::block
