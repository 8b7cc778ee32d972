#pragma once
// f32 functions from the approximations that NVIDIA GPUs have instructions for. Vectors are taken lane by lane.
#include "compiler/lower/floats.h"

namespace tilery::cuda {

/// 2 ULP; denormal results are rounded once, NaN stays.
lower::Lanes approximateExp(lower::Emitter &e, lower::Lanes x);
/// The same, where all that becomes of it is a sum.
lower::Lanes summedExp(lower::Emitter &e, lower::Lanes x);
/// Within 2^-21 and |x| 2^-24 of it, by three instructions; denormal results are rounded once.
lower::Lanes nearExp(lower::Emitter &e, lower::Lanes x);
/// 2.1 ULP.
lower::Lanes approximateExp2(lower::Emitter &e, lower::Lanes x);
/// One instruction: within 2^-22 of it, 0 below 2^-126.
lower::Lanes nearExp2(lower::Emitter &e, lower::Lanes x);
/// 1.7 ULP.
lower::Lanes approximateErf(lower::Emitter &e, lower::Lanes x);
/// 2 ULP.
lower::Lanes approximateTanh(lower::Emitter &e, lower::Lanes x);
/// Within 2^-22, also where it is small: for what is added to 1.
lower::Lanes nearErf(lower::Emitter &e, lower::Lanes x);
/// A function of fast math ("log nearly") by the hardware's lg2, ex2, sin, cos and rsqrt, as CUDA's __logf, __powf, __sinf and their like;
/// null for other names.
lower::Lanes fastFunction(lower::Emitter &e, llvm::StringRef name, llvm::ArrayRef<lower::Lanes> operands);
/// x / y within 2 ULP of equally many lanes: div.full.
lower::Lanes approximateQuotient(lower::Emitter &e, lower::Lanes x, lower::Lanes y);

// A division takes more than twice the time of a multiplication and four fmas. Where one divisor is for all lanes of a vector (`divisor` is a
// scalar), its reciprocal is computed once:
/// rounded correctly;
lower::Lanes divideByUniform(lower::Emitter &e, lower::Lanes x, lower::Lanes divisor);
/// within 2 ULP.
lower::Lanes divideByUniformNearly(lower::Emitter &e, lower::Lanes x, lower::Lanes divisor);

} // namespace tilery::cuda
