#pragma once
// Neighbouring vectors computed side by side, so that the processor always has independent work at hand.
#include "compiler/lower/emitter.h"

namespace tilery::lower {

/// Vectors of a nest's inner loop to compute side by side: more than one if the expressions are long chains of dependent instructions
/// (a polynomial has fifteen) that would fill the processor's window with waiting ones.
/// `reached`: ops whose code the loop's body has.
unsigned vectorsSideBySide(llvm::ArrayRef<mlir::Operation *> reached, const Machine &machine);

/// Emits part(0), ..., part(count - 1) and merges their code, an instruction of each in turn. A part may take values of those
/// before it (what all lanes have in common), but reads no memory that another writes.
void emitInterleaved(llvm::IRBuilder<> &b, unsigned count, llvm::function_ref<void(unsigned)> part);

} // namespace tilery::lower
