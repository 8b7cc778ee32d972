#pragma once
// Sorts of numbers in memory, for tile.sort on CPUs.
#include "tilery/dtype.h"

namespace tilery {

/// The first `keep` (at most `count`) of `count` elements in order come to the front of `values`; what follows them is not defined.
/// Increasing or decreasing, where -0 is below 0; NaNs come last in both, in the order they had. `scratch` has room for as many
/// elements. n log n at most: n for a fixed width, less where few are kept.
void sortValues(void *values, void *scratch, int64_t count, int64_t keep, DType dtype, bool descending);

} // namespace tilery
