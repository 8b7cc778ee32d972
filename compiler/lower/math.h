#pragma once
// Mathematical functions on scalars and vectors of f32 and f64.
#include "compiler/lower/emitter.h"

namespace tilery::lower {

/// One scalar call of libm a lane ("exp" on f32 calls expf). For rare functions: calls spill every register around them.
Lanes callLibm(Emitter &e, llvm::StringRef name, llvm::ArrayRef<Lanes> operands);
/// Our own polynomial for the libm function `name` at the operands' type, or null where there is none.
Lanes emitOwnMath(Emitter &e, llvm::StringRef name, llvm::ArrayRef<Lanes> operands);

/// True for an op whose code is one of these polynomials without a call.
bool isInlineMath(mlir::Operation *op);
/// x / divisor of f32 with one divisor for all lanes of a vector, rounded correctly by multiplications with its reciprocal.
Lanes divideByUniform(Emitter &e, Lanes x, Lanes divisor);
/// x / divisor of f32 within 2 ULP: by the divisor's reciprocal where one divisor is for all lanes, else by NVIDIA's div.full.
Lanes divideNearly(Emitter &e, Lanes x, Lanes divisor);

} // namespace tilery::lower
