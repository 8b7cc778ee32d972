#pragma once
#include "compiler/lower/emitter.h"

namespace tilery::lower {

/// The number that all lanes are, where it is known at run time only and they are integers of up to 32 bits that vectors of the target
/// divide by way of f64; null: none, or divisions are other code.
llvm::Value *oneDivisor(Emitter &e, Lanes x, Lanes y, bool isUnsigned);

/// x / by, towards zero; 0 where `by` is. The least number by -1 is itself.
Lanes quotientByOne(Emitter &e, Lanes x, llvm::Value *by, bool isUnsigned);

} // namespace tilery::lower
