#pragma once
// Which threads of a `tile.threads` come to an op, where their numbers alone decide.
#include "compiler/ir/Tile.h"
#include "llvm/ADT/BitVector.h"

namespace tilery::analysis {

/// What an op gives whose operands are these integers, as far as they are known; nothing if that does not tell.
std::optional<int64_t> folded(mlir::Operation *op, llvm::ArrayRef<std::optional<int64_t>> operands);

using Numbers = llvm::DenseMap<mlir::Value, std::optional<int64_t>>;
/// A value where those in `known` (a thread's number) are these; what is computed on the way is noted there.
std::optional<int64_t> numberOf(mlir::Value value, Numbers &known);

/// One bit a thread of the region around the op. Nothing if data decides, or how often a loop turns.
std::optional<llvm::BitVector> threadsAt(mlir::Operation *op);

/// Threads that hardware lets wait for each other beside the others: whole warps, or some of one warp.
bool canMeet(const llvm::BitVector &threads);

} // namespace tilery::analysis
