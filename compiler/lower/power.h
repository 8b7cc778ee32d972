#pragma once
// Powers whose exponent is a constant.
#include "compiler/lower/emitter.h"

namespace tilery::lower {

/// x to the power of y, of f32 or f64, by products, a quotient or a root, rounded once more than the general function at most. Null where y
/// is no such constant.
Lanes powerOfConstant(Emitter &e, Lanes x, Lanes y);

} // namespace tilery::lower
