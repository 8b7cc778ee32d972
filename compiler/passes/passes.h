// Passes over `tile.kernel`, one file each; `buildPipeline` has their order, which is another where a target has threads of its own.
#pragma once
#include "mlir/Pass/Pass.h"
#include <memory>

namespace mlir {
class OpPassManager;
}

namespace tilery {

/// Roles become one thread of control, their barriers numbers in memory or nothing.
std::unique_ptr<mlir::Pass> createOrderRoles();
/// Which elements at places that are computed one by one have tile form: those that a product takes or that take its result, or all.
enum class Gathers { none, beside_products, all };
/// Scalar code over boxes of static extents becomes tile ops.
std::unique_ptr<mlir::Pass> createParallelToTiles(Gathers gathers = Gathers::none);
/// Buffers whose windows lie apart become a buffer for each.
std::unique_ptr<mlir::Pass> createSplitBuffers();
/// What is loaded under a condition, else 0, is a load with a mask.
std::unique_ptr<mlir::Pass> createMaskLoads();
/// Places that a condition chooses are those that it chooses where the mask says how. `split`: else loads of them are two loads.
std::unique_ptr<mlir::Pass> createPlaceChoices(bool split = true);
/// Branches that only choose how a tile is loaded are loads.
std::unique_ptr<mlir::Pass> createBranchLoads();
/// What counts beside a loop's number is computed from it.
std::unique_ptr<mlir::Pass> createFollowCounter();
/// Parts of buffers that were just written are not read again.
std::unique_ptr<mlir::Pass> createForwardStores();
/// Loops over neighbouring windows of buffers, which copy or multiply them, are copies and products of the whole.
std::unique_ptr<mlir::Pass> createJoinWindows();
/// What a loop's turns load, and multiply, for the next turn is loaded there.
std::unique_ptr<mlir::Pass> createRotateBack();
/// Short loops over slots of buffers that other code names are unrolled.
std::unique_ptr<mlir::Pass> createUnrollSlots();
/// What the threads of a block do becomes tile code, one lane a thread.
std::unique_ptr<mlir::Pass> createThreadsToTiles();
/// So does what the threads of a role do, on every target: roles become one thread of control.
std::unique_ptr<mlir::Pass> createRoleThreadsToTiles();
/// Long straight-line code that repeats itself becomes a loop.
std::unique_ptr<mlir::Pass> createRollSteps();
/// Buffers that are read and written as a whole become tile values.
std::unique_ptr<mlir::Pass> createPromoteBuffers();
/// Variables of points of tile.parallel (`T.alloc_var` in a T.Parallel) become values.
std::unique_ptr<mlir::Pass> createPromoteVariables();
/// Loops that copy all elements of a window of a buffer become one load and one store.
std::unique_ptr<mlir::Pass> createCollectCopies();
/// What threads fill for themselves amid the products of a block is a loop over it, and the block one thread of control.
std::unique_ptr<mlir::Pass> createCollectThreads();
std::unique_ptr<mlir::Pass> createSpreadRows();
/// Windows of tiles that are only stored in memory become masks.
std::unique_ptr<mlir::Pass> createWidenStores();
/// Buffers take tiles whose rows were cut as they were before.
std::unique_ptr<mlir::Pass> createFlattenStores();

/// Makes every pass known to tilery-opt by its name (its `getArgument()`).
void registerTilePasses();

/// Appends the passes that run before any target, to a manager anchored on the module. keepThreads: the target has threads that
/// tile.threads can be. plain: only those without which targets do not take a program.
void buildPipeline(mlir::OpPassManager &pm, bool keepThreads = false, bool plain = false);

/// Pointer tiles with masks become separable accesses.
std::unique_ptr<mlir::Pass> createRaiseAccesses();
/// Views of roots become separable accesses.
std::unique_ptr<mlir::Pass> createLowerViews();
/// Loops of dots become contractions over all of K.
std::unique_ptr<mlir::Pass> createContractLoops();
/// Loops over the elements of threads' own arrays are unrolled.
std::unique_ptr<mlir::Pass> createUnrollArrays();
/// Dots learn which rows and columns of their results are used.
std::unique_ptr<mlir::Pass> createDeadLanes();

} // namespace tilery
