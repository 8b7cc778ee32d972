#pragma once
// Loops of which a part runs a step late.
#include "compiler/block/ir/Block.h"

namespace tilery::block {

/// What each of a kernel's own loops holds for `Loop` (`find`) is rewritten (`write`).
template <typename Loop> void rewriteLoops(tile::KernelOp kernel) {
  for (auto loop : llvm::make_early_inc_range(kernel.getBody().getOps<mlir::scf::ForOp>()))
    if (auto found = Loop(loop).find())
      Loop(loop).write(*found);
}

struct LateStep {
  llvm::function_ref<bool(mlir::Operation *)> isLate; ///< ops that the first step goes without
  llvm::function_ref<llvm::SmallVector<mlir::Value>(const mlir::IRMapping &)>
      starts;                                           ///< of the other steps, from the first one's
  llvm::function_ref<void(mlir::scf::ForOp)> writeStep; ///< the body of the other steps
  llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::OpBuilder &, mlir::scf::ForOp)>
      finish; ///< the last late part; the results
};

/// The loop becomes a branch: where there is a step, the first one, a loop over the others, and the last late part.
void runLate(mlir::scf::ForOp loop, const LateStep &parts);

} // namespace tilery::block
