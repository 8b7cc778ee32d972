#pragma once
// Emission of `tile.dot` and `tile.contract`: operands packed into panels, register micro-kernels over them.
#include "compiler/targets/cpu/dot_plan.h"
#include "compiler/lower/evaluator.h"

namespace tilery::cpu {
using namespace lower;

/// What a dot needs from the kernel around it.
struct DotSurroundings {
  llvm::Value *launch;                          // const TileryLaunch *
  llvm::ArrayRef<llvm::Value *> grid;           // i32, by axis
  std::function<void(mlir::Block &)> emitBlock; // the ops of a contraction's region at the current position (scalars of one step)
  std::function<void(mlir::Operation *store, llvm::Value *where)>
      written; // the store has nothing left to do where this i1 is true
};

/// Emits `op` as planned into its result's buffer, which holds the accumulator unless the product starts at zero.
void emitDot(Evaluator &evaluator, mlir::Operation *op, const DotPlan &plan, const DotSurroundings &around);

} // namespace tilery::cpu
