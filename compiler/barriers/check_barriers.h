#pragma once
#include "mlir/Pass/Pass.h"
#include <memory>

namespace tilery {
/// Roles, of tile IR and of block IR, that use their barriers in a wrong phase, count or number of bytes are errors.
std::unique_ptr<mlir::Pass> createCheckBarriers();
} // namespace tilery
