#include "compiler/passes/passes.h"
#include "compiler/builder/own_buffers.h"
#include "compiler/ir/Tile.h"
#include "compiler/barriers/check_barriers.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

void tilery::registerTilePasses() {
  registerPass(createBranchLoads);
  registerPass(createCheckBarriers);
  registerPass(createOrderRoles);
  registerPass(createOwnBuffers);
  registerPass(createFlattenStores);
  registerPass(createFollowCounter);
  registerPass(createForwardStores);
  registerPass(createJoinWindows);
  registerPass(createMaskLoads);
  registerPass([] { return createPlaceChoices(); });
  registerPass([] { return createParallelToTiles(); });
  registerPass(createPromoteBuffers);
  registerPass(createPromoteVariables);
  registerPass(createRollSteps);
  registerPass(createUnrollArrays);
  registerPass(createRotateBack);
  registerPass(createSplitBuffers);
  registerPass(createUnrollSlots);
  registerPass(createWidenStores);
  registerPass(createCollectCopies);
  registerPass(createCollectThreads);
  registerPass(createSpreadRows);
  registerPass(createThreadsToTiles);
  registerPass(createRoleThreadsToTiles);
  PassPipelineRegistration<>("tile-pipeline", "all passes over tile IR, of CPUs", [](OpPassManager &pm) { buildPipeline(pm); });
  PassPipelineRegistration<>("tile-pipeline-threads", "all passes over tile IR, of targets with threads of their own",
                             [](OpPassManager &pm) { buildPipeline(pm, true); });
  registerPass(createRaiseAccesses);
  registerPass(createLowerViews);
  registerPass(createContractLoops);
  registerPass(createDeadLanes);
}

void tilery::buildPipeline(OpPassManager &pm, bool keepThreads, bool plain) {
  OpPassManager &kernel = pm.nest<tile::KernelOp>();
  kernel.addPass(createRoleThreadsToTiles());
  kernel.addPass(createCheckBarriers());
  kernel.addPass(createOrderRoles());
  if (!keepThreads)
    kernel.addPass(createThreadsToTiles());
  if (plain)
    return kernel.addPass(createLowerViews());
  if (keepThreads)
    kernel.addPass(createCollectThreads());
  kernel.addPass(createRollSteps());
  kernel.addPass(createJoinWindows());
  kernel.addPass(createUnrollSlots());
  kernel.addPass(createPromoteVariables());
  kernel.addPass(createParallelToTiles(keepThreads ? Gathers::beside_products : Gathers::all));
  kernel.addPass(createSplitBuffers());
  kernel.addPass(createForwardStores());
  kernel.addPass(createPromoteBuffers());
  kernel.addPass(createCollectCopies());
  kernel.addPass(createForwardStores());
  kernel.addPass(createWidenStores());
  kernel.addPass(createPromoteBuffers());
  if (!keepThreads)
    kernel.addPass(createFlattenStores());
  kernel.addPass(createFollowCounter());
  kernel.addPass(createCanonicalizerPass());
  kernel.addPass(createCSEPass());
  kernel.addPass(createLoopInvariantCodeMotionPass());
  kernel.addPass(createRotateBack());
  kernel.addPass(createBranchLoads());
  kernel.addPass(createMaskLoads());
  kernel.addPass(createPlaceChoices(!keepThreads));
  kernel.addPass(createLowerViews());
  kernel.addPass(createRaiseAccesses());
  kernel.addPass(createContractLoops());
  kernel.addPass(createDeadLanes());
  kernel.addPass(createCanonicalizerPass());
  kernel.addPass(createCSEPass());
  kernel.addPass(createLoopInvariantCodeMotionPass());
  if (keepThreads) {
    kernel.addPass(createUnrollArrays());
    kernel.addPass(createSpreadRows());
  }
}
