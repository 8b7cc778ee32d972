#pragma once
// What elementwise functions cost on a CPU, beside the sums and products that a launch's operations are counted in.
#include "mlir/IR/Operation.h"
#include <optional>

namespace tilery::count {

struct FunctionCost {
  const char *name;
  bool calls = false;  ///< each element is a call: there are no vectors of it
  double products = 0; ///< fused products of float32 that take as long as one element
  const char *instead; ///< a cheaper spelling, with what it takes away; may be empty
};

/// Of a function, quotient or root that takes as long as several fused products.
std::optional<FunctionCost> functionCost(mlir::Operation *op);

} // namespace tilery::count
