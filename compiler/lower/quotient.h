#pragma once
// Quotients of whole numbers, where machines have no instruction for them or a slow one.
#include "compiler/lower/emitter.h"

namespace tilery::lower {

/// x / y of integers, rounded toward zero, for scalars and vectors. Every quotient must exist.
Lanes quotientOf(Emitter &e, Lanes x, Lanes y, bool isUnsigned);

/// Whether all elements of a tile are one number, which is not known before the kernel runs.
bool isOneNumber(mlir::Value tile);

/// The same where all elements of a tile are divided by one number: its reciprocal is computed once. Division by 0 gives anything, and
/// the least number over -1 gives itself. Null where the machine is better off with quotientOf().
Lanes quotientByUniform(Emitter &e, Lanes x, Lanes y, bool isUnsigned);

} // namespace tilery::lower
