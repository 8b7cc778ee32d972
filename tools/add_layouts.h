#pragma once
// A pass for tests: what becomes of IR whose tiles have layouts.
#include "mlir/Pass/Pass.h"

namespace tilery {

/// add-layouts{seed=N}: each tile of a shape gets one random layout, with conversions where an op's rule asks for another one.
std::unique_ptr<mlir::Pass> createAddLayouts();

} // namespace tilery
