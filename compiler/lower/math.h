#pragma once
// Mathematical functions on scalars and vectors of f32 and f64.
#include "compiler/lower/emitter.h"

namespace tilery::lower {

/// One scalar call of libm a lane ("exp" on f32 calls expf). For rare functions: calls spill every register around them.
Lanes callLibm(Emitter &e, llvm::StringRef name, llvm::ArrayRef<Lanes> operands);
/// The target's code for the libm function `name` at the operands' type, else our own polynomial; null where there is neither.
Lanes emitOwnMath(Emitter &e, llvm::StringRef name, llvm::ArrayRef<Lanes> operands);

/// The f32 functions that emitOwnMath() computes in f64 lanes and rounds once: within 1 ULP. Null for other names.
Lanes emitWideMath(Emitter &e, llvm::StringRef name, llvm::ArrayRef<Lanes> operands);

/// True for an op whose code is one of these polynomials without a call.
bool isInlineMath(mlir::Operation *op);

} // namespace tilery::lower
