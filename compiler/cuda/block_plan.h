#pragma once
// The plan of a kernel of the general path: the CPU's, and how the block multiplies.
#include "compiler/cpu/plan.h"
#include "compiler/cuda/mma_plan.h"

namespace tilery::cuda {

struct BlockPlan {
  cpu::Plan plan;
  llvm::DenseMap<mlir::Operation *, MmaPlan> products; // of every dot and contraction
  uint64_t stagingBytes = 0; // behind the arena: for the stages of products that do not lie in their result's memory
  bool inResults = true;     // stages may lie there

  bool stagesInResult(const MmaPlan &product) const { return inResults && product.atOnce(); }
  uint64_t stagingOffset() const { return (plan.arenaBytes + 63) / 64 * 64; }
};

/// With as many stages in flight as shared memory holds. `lanes`: laneOptions of the compilation.
BlockPlan planBlock(tile::KernelOp kernel, const cpu::Options &lanes);

} // namespace tilery::cuda
