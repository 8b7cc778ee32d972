#pragma once
// Passes over kernels in block IR.
#include "mlir/Pass/Pass.h"
#include <memory>

namespace mlir {
class OpPassManager;
}

namespace tilery::tile {
class KernelOp;
}

namespace tilery::block {

/// Kernels that the block level takes get the cheapest schedule of the model (schedule.h) as attribute `block.schedule`. The passes below
/// leave others alone.
std::unique_ptr<mlir::Pass> createChooseSchedule();
/// Rows of what threads fetch that begin again behind the last end there, where nobody takes what comes then.
std::unique_ptr<mlir::Pass> createUnwrapRows();
/// Masks of what threads fetch lose comparisons whose results follow from the ranges of their operands.
std::unique_ptr<mlir::Pass> createDecideMasks();
/// Lines of buffers that are stored are lanes of whole stores.
std::unique_ptr<mlir::Pass> createOpenBuffers();
/// Tiles of one lane that loops carry, and that are numbers in each step, are carried as numbers.
std::unique_ptr<mlir::Pass> createOpenNumbers();
/// What a quotient leaves of a number is a remainder.
std::unique_ptr<mlir::Pass> createOpenRemainders();
/// What programs add to tiles of memory under a lock, each element is added without it.
std::unique_ptr<mlir::Pass> createUnlockAdditions();
/// Lanes that lie flat are reduced along the dimensions that they had before.
std::unique_ptr<mlir::Pass> createSplitReductions();
/// Two loops, one in the other, that count one number become one.
std::unique_ptr<mlir::Pass> createFlattenLoops();
/// A product that starts from a tile (a bias) starts from zero, and the tile is added behind it; one that clears its sums starts from zero.
std::unique_ptr<mlir::Pass> createStartFromZero();
/// Elements that neighbouring lanes of a load share (packed words, scales of groups) are loaded once, where a factor can be computed of them
/// in registers.
std::unique_ptr<mlir::Pass> createShareLoads();
/// Branches around all products, as early returns leave them, become ops that end programs.
std::unique_ptr<mlir::Pass> createOpenReturns();
/// Branches that choose between two places of a tensor to load from become loads at places that are chosen.
std::unique_ptr<mlir::Pass> createJoinLoads();
/// Arrays of loaded numbers are read where these lie in memory.
std::unique_ptr<mlir::Pass> createOpenTables();
std::unique_ptr<mlir::Pass> createOpenExtracts();
/// Loops that multiply in some of their steps only go over those.
std::unique_ptr<mlir::Pass> createSkipSteps();
/// Tiles that are multiplied, and computed with besides, are loaded once for each.
std::unique_ptr<mlir::Pass> createLoadTwice();
/// Contractions beside other products become loops again.
std::unique_ptr<mlir::Pass> createOpenContractions();
/// So does the kernel's only product. False, with nothing changed: it has others, or stands in a loop or branch.
bool openOnlyContraction(tile::KernelOp kernel);
/// Factors that are the same tile in all steps of a loop are loaded in front of it.
std::unique_ptr<mlir::Pass> createHoistOperands();
/// Without a loop, sums that are only stored are stored before products begin whose sums wait, where registers hold no more.
std::unique_ptr<mlir::Pass> createOrderSums();
/// Running maxima are of what a product gives, not of that times a positive number.
std::unique_ptr<mlir::Pass> createScaleLate();
/// Loops whose products have fewer rows than the tensor cores take at once get 64, of which those before exist.
std::unique_ptr<mlir::Pass> createPadRows();
/// Products of boxes become loops over a ring, in one thread of control.
std::unique_ptr<mlir::Pass> createPipeline();
/// Products whose factors are loaded start where a step begins, and each is waited for where its result is first used.
std::unique_ptr<mlir::Pass> createSpreadProducts();
/// Loops with products select lanes in the steps that need it only.
std::unique_ptr<mlir::Pass> createBranchMasks();
/// Products with a computed factor run under the next step's work.
std::unique_ptr<mlir::Pass> createOverlapProducts();
/// Computed factors are converted before their dimensions are exchanged.
std::unique_ptr<mlir::Pass> createTransposeOperands();
/// Products with too few rows for the tensor cores, and enough columns, are computed as transposed ones.
std::unique_ptr<mlir::Pass> createTransposeProducts();
/// Products that are added to memory, of factors that all consumers have a part in, start a step late.
std::unique_ptr<mlir::Pass> createDelayAdditions();
/// Where the schedule says so, the blocks of a cluster share the steps of a product and add their sums up, always in the same order.
std::unique_ptr<mlir::Pass> createSplitK();
/// What the work on a product's result loads is under way before that is there, as far as registers go.
std::unique_ptr<mlir::Pass> createEarlyLoads();
/// Lines and numbers that a step computes a factor with are loaded in the step before, where the schedule says so.
std::unique_ptr<mlir::Pass> createLoadAhead();
/// Tiles that go to boxes are stored by the copy engine.
std::unique_ptr<mlir::Pass> createStageStores();
/// Blocks run program after program, in an order in which a wave shares operands.
std::unique_ptr<mlir::Pass> createOrderPrograms();
/// What fills rings becomes a role of its own.
std::unique_ptr<mlir::Pass> createSplitRoles();
/// Where the threads that multiply copy what they multiply, loops start the copies of later steps.
std::unique_ptr<mlir::Pass> createRunAhead();
std::unique_ptr<mlir::Pass> createDealPrograms();
/// Threads load the factors of several steps before they write the first of them, where the schedule says so.
std::unique_ptr<mlir::Pass> createJoinFetches();
/// Tiles in shared memory and in the registers of roles get layouts.
std::unique_ptr<mlir::Pass> createAssignLayouts();
/// What one fence can show is brought together.
std::unique_ptr<mlir::Pass> createGatherFences();
/// Waits for stores, fences and meetings where threads hand shared memory on.
std::unique_ptr<mlir::Pass> createPlaceSyncs();
/// Layouts of tiles that do not follow from each other are errors.
std::unique_ptr<mlir::Pass> createVerifyLayouts();

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
