#pragma once
// Numbers that the host computes at a launch.
#include "compiler/analysis/index_polynomial.h"
#include "tilery/runtime.h"

namespace tilery::cuda {

/// The polynomial as the host computes it: its atoms are arguments of the kernel and extents of the grid (analysis::hostKnows).
PolynomialInfo hostPolynomial(const analysis::IndexPolynomial &polynomial);
/// Adds the condition to the launch's, once.
void addCondition(ConditionInfo condition, std::vector<ConditionInfo> &conditions);

} // namespace tilery::cuda
