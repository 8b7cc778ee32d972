#pragma once
#include "compiler/block/passes/kernel_pass.h"
#include "compiler/block/passes/passes.h"
#include <mlir/Pass/PassManager.h>
#include <mlir/Transforms/Passes.h>

namespace tilery::block {

/// From tiles to loops over rings.
inline void addLoops(mlir::OpPassManager &pm) {
  pm.addPass(PassRow("choose-schedule", "", runChooseSchedule).make());
  pm.addPass(PassRow("pipeline", "", runPipeline).make());
}

/// From tiles to roles whose tiles have places, checked.
inline void buildRoles(mlir::OpPassManager &pm) {
  auto add = [&](std::initializer_list<PassRow> rows) {
    for (const PassRow &row : rows)
      pm.addPass(row.make());
  };
  addLoops(pm);
  add({{"stage-stores", "", runStageStores},
       {"order-programs", "", runOrderPrograms},
       {"split-roles", "", runSplitRoles},
       {mlir::createCanonicalizerPass},
       {mlir::createCSEPass},
       {"assign-layouts", "", runAssignLayouts},
       {"place-syncs", "", runPlaceSyncs},
       {"verify-layouts", "", runVerifyLayouts}});
}

} // namespace tilery::block
