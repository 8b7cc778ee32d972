#pragma once
#include "compiler/block/passes/passes.h"
#include <mlir/Pass/PassManager.h>
#include <mlir/Transforms/Passes.h>

namespace tilery::block {

/// From tiles to roles whose tiles have places, checked.
inline void buildRoles(mlir::OpPassManager &pm) {
  pm.addPass(createChooseSchedule());
  pm.addPass(createPipeline());
  pm.addPass(createStageStores());
  pm.addPass(createOrderPrograms());
  pm.addPass(createSplitRoles());
  pm.addPass(mlir::createCanonicalizerPass());
  pm.addPass(mlir::createCSEPass());
  pm.addPass(createAssignLayouts());
  pm.addPass(createPlaceSyncs());
  pm.addPass(createVerifyLayouts());
}

} // namespace tilery::block
