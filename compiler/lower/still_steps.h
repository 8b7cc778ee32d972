#pragma once
// Operands that are broadcast when a kernel is launched: their step along a row is a number of the launch, and 0.
#include "compiler/lower/plan.h"

namespace tilery::lower {

/// The steps along the nest's dimension `dim`, known at run time only, of what it loads: where all are 0, a row reads each at one place.
/// Empty: there are none, or so many that a second version of the nest would be long.
llvm::SmallVector<mlir::Value> stepsOfLoads(const Plan &plan, const Nest &nest, unsigned dim);

} // namespace tilery::lower
