#pragma once
#include "mlir/IR/Region.h"

namespace tilery::tile {

/// How much is known of a region that combines two groups of values into one.
enum class Bracketing {
  any,    ///< only the program's bracketing is known to give its bits
  exact,  ///< in whatever way neighbours are bracketed, the bits are the same
  choice, ///< exact, and what is combined with itself stays what it is: each result is one of its operands
};

/// Integer arithmetic is exact. A region that only compares its operands with each other and chooses by that (maxima with their places, ties
/// to either side, NaNs anywhere in the order) is tried with all orders that three groups can be in.
Bracketing bracketingOf(mlir::Region &combine);

} // namespace tilery::tile
