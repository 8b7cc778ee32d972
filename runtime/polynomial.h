#pragma once
// Integers that depend on a launch's arguments and grid.
#include "tilery/runtime.h"
#include <optional>

namespace tilery {

/// A launch, as far as polynomials speak of it.
struct LaunchValues {
  const KernelInfo &info;
  const uint64_t *args; ///< one slot an argument
  const int64_t *grid;  ///< three extents
};

/// Nothing if it does not fit into 64 bits.
std::optional<int64_t> evaluate(const PolynomialInfo &polynomial, const LaunchValues &launch);

bool holds(const ConditionInfo &condition, const LaunchValues &launch);

} // namespace tilery
