#pragma once
// Passes over kernels in block IR.

namespace mlir {
class OpPassManager;
}

namespace tilery::tile {
class KernelOp;
}

namespace tilery::block {

class KernelPass;

// The functions of the lists in passes.cpp, in their order.
void runUnwrapRows(KernelPass &pass);
void runDecideMasks(KernelPass &pass);
void runUnlockAdditions(tile::KernelOp kernel);
void runOpenBuffers(tile::KernelOp kernel);
void runOpenNumbers(tile::KernelOp kernel);
void runOpenRemainders(tile::KernelOp kernel);
void runSplitReductions(tile::KernelOp kernel);
void runFlattenLoops(tile::KernelOp kernel);
void runWideSums(tile::KernelOp kernel);
void runStartFromZero(tile::KernelOp kernel);
void runShareLoads(tile::KernelOp kernel);
void runOpenReturns(tile::KernelOp kernel);
void runJoinLoads(tile::KernelOp kernel);
void runOpenTables(tile::KernelOp kernel);
void runOpenExtracts(tile::KernelOp kernel);
void runSkipSteps(tile::KernelOp kernel);
void runOpenContractions(tile::KernelOp kernel);
void runTransposeOperands(tile::KernelOp kernel);
void runPadRows(tile::KernelOp kernel);
void runTransposeProducts(tile::KernelOp kernel);
void runLoadTwice(tile::KernelOp kernel);
void runHoistOperands(KernelPass &pass);
void runScaleLate(KernelPass &pass);
void runOrderSums(KernelPass &pass);
void runChooseSchedule(KernelPass &pass);
void runPipeline(KernelPass &pass);
void runSpreadProducts(tile::KernelOp kernel);
void runBranchMasks(tile::KernelOp kernel);
void runOverlapProducts(tile::KernelOp kernel);
void runDelayAdditions(tile::KernelOp kernel);
void runSplitK(tile::KernelOp kernel);
void runEarlyLoads(tile::KernelOp kernel);
void runLoadAhead(tile::KernelOp kernel);
void runStageStores(tile::KernelOp kernel);
void runOrderPrograms(tile::KernelOp kernel);
void runSplitRoles(tile::KernelOp kernel);
void runRunAhead(tile::KernelOp kernel);
void runJoinFetches(tile::KernelOp kernel);
void runAssignLayouts(tile::KernelOp kernel);
void runGatherFences(tile::KernelOp kernel);
void runPlaceSyncs(tile::KernelOp kernel);
void runDealPrograms(tile::KernelOp kernel);
void runVerifyLayouts(KernelPass &pass);

/// Contractions become loops, wherever they stand. False: there are none.
bool openContractions(tile::KernelOp kernel);

/// From tile IR, as it is after tilery::buildPipeline, to block IR, for a manager anchored on a kernel, in three parts: masks, which other
/// code for GPUs is made from, too; loops, branches and rows as findAnyKernel finds them; and block IR. What has no products of boxes stays
/// tile IR.
void addMasks(mlir::OpPassManager &kernel);
void addOpening(mlir::OpPassManager &kernel);
void addBlocks(mlir::OpPassManager &kernel);
/// All of them, for a manager anchored on the module.
void buildBlockPipeline(mlir::OpPassManager &pm);

/// Makes every pass known to tilery-opt by its name.
void registerBlockPasses();

} // namespace tilery::block
