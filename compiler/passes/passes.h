// Target-independent passes over `tile.kernel`: one file each, in the order of buildPipeline.
#pragma once
#include "mlir/Pass/Pass.h"
#include <memory>

namespace mlir {
class OpPassManager;
}

namespace tilery {

/// Makes every pass known to tilery-opt by its name (its `getArgument()`).
void registerTilePasses();

/// Appends the passes that run before any target, to a manager anchored on the module.
void buildPipeline(mlir::OpPassManager &pm);

} // namespace tilery
