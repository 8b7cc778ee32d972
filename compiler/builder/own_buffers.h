#pragma once
#include "mlir/Pass/Pass.h"

namespace tilery {

/// Local buffers that iterations of parallel loops keep something in from one loop, or turn of a loop, to the next become one for each
/// iteration. That is what programs mean: the builder does so with each that it finishes.
void divideLocalBuffers(mlir::Operation *root);

/// own-buffers: the same as a pass.
std::unique_ptr<mlir::Pass> createOwnBuffers();

} // namespace tilery
