#pragma once
// libm for GPUs.
#include "llvm/IR/Module.h"
#include <string>

namespace tilery::cuda {

/// Gives bodies to the libm functions that `module` declares: "exp" of f64 and "expf" of f32, which is computed in f64 and rounded once
/// (0.5 ULP; rare functions only, the frequent ones are polynomials of compiler/lower/math_f32.cpp). f64: 2 ULP, erfc 2.5.
/// Returns the name of a function that is in no library, or nothing.
std::string linkMath(llvm::Module &module);

} // namespace tilery::cuda
