#include "compiler/targets/cuda/lower_to_blocks.h"
#include "compiler/block/find_kernel.h"
#include "compiler/block/passes.h"
#include "compiler/lower/verify_code.h"
#include "compiler/targets/cuda/emit_block.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;

namespace tilery::cuda {

FailureOr<OwningOpRef<ModuleOp>> lowerToBlocks(tile::KernelOp kernel) {
  std::string why;
  if (!hasRoles(kernel) && !block::findKernel(kernel, why))
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
