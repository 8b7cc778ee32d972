#pragma once
#include "mlir/Pass/Pass.h"
#include <memory>

namespace tilery::block {
/// Products whose sums are f16 or bf16 give sums of f32, which are rounded.
std::unique_ptr<mlir::Pass> createWideSums();
} // namespace tilery::block
