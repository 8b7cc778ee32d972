#pragma once
// How f32 become 16-bit floats.
#include "llvm/IR/Module.h"

namespace tilery::cuda {

/// Conversions of vectors of f32 to f16 and bf16 take two numbers an instruction. LLVM would convert one by one what is computed with
/// afterwards, and the assembler serialise the products before single conversions of their sums (C7514). What is computed of numbers of the same 16 bits alone stays: LLVM computes it in these.
void pairConversions(llvm::Module &module);

} // namespace tilery::cuda
