#include "compiler/targets/cuda/lower_to_blocks.h"
#include "compiler/analysis/integer_op.h"
#include "compiler/block/find_kernel.h"
#include "compiler/block/passes.h"
#include "compiler/lower/verify_code.h"
#include "compiler/targets/cuda/emit_block.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;

namespace tilery::cuda {

/// The kernel is a product, of more steps than none.
static bool multiplies(tile::KernelOp kernel) {
  std::string why;
  std::optional<block::ProductKernel> found = block::findKernel(kernel, why);
  return found && (!found->product.steps() || analysis::constantOf(found->product.steps()).value_or(1) > 0);
}

FailureOr<OwningOpRef<ModuleOp>> lowerToBlocks(tile::KernelOp kernel) {
  if (!hasRoles(kernel) && !multiplies(kernel))
    return OwningOpRef<ModuleOp>();
  OwningOpRef<ModuleOp> module = ModuleOp::create(kernel.getLoc());
  module->getBody()->push_back(kernel->clone());
  auto made = [&] { return *module->getOps<tile::KernelOp>().begin(); };
  if (!hasRoles(made())) {
    PassManager manager(kernel.getContext());
    manager.enableVerifier(lower::verifies());
    block::buildBlockPipeline(manager);
    if (failed(manager.run(*module)))
      return failure();
  }
  if (!hasRoles(made()))
    return OwningOpRef<ModuleOp>();
  return module;
}

} // namespace tilery::cuda
