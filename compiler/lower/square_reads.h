#pragma once
// Tiles that the rows of a square read across (squares.cpp): loaded as they lie in memory, and transposed in registers.
#include "compiler/lower/evaluator.h"

namespace tilery::lower {

/// Within these bytes of a vector shuffles are one instruction, and loads fill parts of a vector.
constexpr unsigned squareLaneBytes = 16;

/// A load's, or a stored tile's, lanes in the current square; null: there is none, or it does not read that across.
Lanes loadedFromSquare(Evaluator &ev, tile::LoadOp load, llvm::ArrayRef<Index> point);
Lanes storedFromSquare(Evaluator &ev, int buffer, mlir::Value tile, llvm::ArrayRef<Index> point);

} // namespace tilery::lower
