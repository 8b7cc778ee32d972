#include "compiler/block/passes/passes.h"
#include "compiler/block/passes/wide_sums.h"
#include "compiler/block/ir/layouts.h"
#include "compiler/barriers/check_barriers.h"
#include "compiler/passes/passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace tilery::block {

namespace {
struct VerifyLayouts : PassWrapper<VerifyLayouts, OperationPass<tile::KernelOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(VerifyLayouts)
  StringRef getArgument() const final { return "verify-layouts"; }
  StringRef getDescription() const final { return "layouts of tiles that do not follow from each other are errors"; }
  void runOnOperation() final {
    markAllAnalysesPreserved();
    if (failed(verifyLayouts(getOperation())))
      signalPassFailure();
  }
};
} // namespace

std::unique_ptr<Pass> createVerifyLayouts() { return std::make_unique<VerifyLayouts>(); }

void addMasks(OpPassManager &kernel) {
  kernel.addPass(createUnwrapRows());
  kernel.addPass(createDecideMasks());
}

void addOpening(OpPassManager &kernel) {
  kernel.addPass(createUnlockAdditions());
  kernel.addPass(createOpenBuffers());
  kernel.addPass(createPromoteBuffers());
  kernel.addPass(createOpenNumbers());
  kernel.addPass(createOpenRemainders());
  kernel.addPass(createSplitReductions());
  kernel.addPass(createFlattenLoops());
  kernel.addPass(createWideSums());
  kernel.addPass(createStartFromZero());
  kernel.addPass(createShareLoads());
  kernel.addPass(createOpenReturns());
  kernel.addPass(createJoinLoads());
  kernel.addPass(createOpenTables());
  kernel.addPass(createOpenExtracts());
  kernel.addPass(createSkipSteps());
  kernel.addPass(createOpenContractions());
  kernel.addPass(createTransposeOperands());
  kernel.addPass(createPadRows());
  kernel.addPass(createTransposeProducts());
  kernel.addPass(createLoadTwice());
}

void addBlocks(OpPassManager &kernel) {
  kernel.addPass(createHoistOperands());
  kernel.addPass(createScaleLate());
  kernel.addPass(createOrderSums());
  kernel.addPass(createChooseSchedule());
  kernel.addPass(createPipeline());
  kernel.addPass(createSpreadProducts());
  kernel.addPass(createBranchMasks());
  kernel.addPass(createOverlapProducts());
  kernel.addPass(createDelayAdditions());
  kernel.addPass(createSplitK());
  kernel.addPass(createEarlyLoads());
  kernel.addPass(createLoadAhead());
  kernel.addPass(createStageStores());
  kernel.addPass(createOrderPrograms());
  kernel.addPass(createSplitRoles());
  kernel.addPass(createRunAhead());
  kernel.addPass(createJoinFetches());
  kernel.addPass(createCanonicalizerPass());
  kernel.addPass(createCSEPass());
  kernel.addPass(createLoopInvariantCodeMotionPass());
  kernel.addPass(createCanonicalizerPass()); // loops carry nothing that only the other role needs
  kernel.addPass(createAssignLayouts());
  kernel.addPass(createGatherFences());
  kernel.addPass(createPlaceSyncs());
  kernel.addPass(createDealPrograms());
  kernel.addPass(createVerifyLayouts());
  kernel.addPass(createCheckBarriers());
}

void buildBlockPipeline(OpPassManager &pm) {
  OpPassManager &kernel = pm.nest<tile::KernelOp>();
  addMasks(kernel);
  addOpening(kernel);
  addBlocks(kernel);
}

void registerBlockPasses() {
  registerPass(createChooseSchedule);
  registerPass(createUnwrapRows);
  registerPass(createDecideMasks);
  registerPass(createUnlockAdditions);
  registerPass(createOpenBuffers);
  registerPass(createOpenNumbers);
  registerPass(createOpenRemainders);
  registerPass(createSplitReductions);
  registerPass(createFlattenLoops);
  registerPass(createWideSums);
  registerPass(createStartFromZero);
  registerPass(createShareLoads);
  registerPass(createTransposeOperands);
  registerPass(createTransposeProducts);
  registerPass(createLoadTwice);
  registerPass(createOpenReturns);
  registerPass(createJoinLoads);
  registerPass(createOpenTables);
  registerPass(createOpenExtracts);
  registerPass(createSkipSteps);
  registerPass(createOpenContractions);
  registerPass(createHoistOperands);
  registerPass(createScaleLate);
  registerPass(createOrderSums);
  registerPass(createPadRows);
  registerPass(createPipeline);
  registerPass(createSpreadProducts);
  registerPass(createBranchMasks);
  registerPass(createOverlapProducts);
  registerPass(createDelayAdditions);
  registerPass(createSplitK);
  registerPass(createEarlyLoads);
  registerPass(createLoadAhead);
  registerPass(createStageStores);
  registerPass(createOrderPrograms);
  registerPass(createSplitRoles);
  registerPass(createRunAhead);
  registerPass(createJoinFetches);
  registerPass(createAssignLayouts);
  registerPass(createGatherFences);
  registerPass(createPlaceSyncs);
  registerPass(createDealPrograms);
  registerPass(createVerifyLayouts);
  PassPipelineRegistration<>("block-pipeline", "tile IR to block IR, for GPUs", buildBlockPipeline);
}

} // namespace tilery::block
