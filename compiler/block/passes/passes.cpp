#include "compiler/block/passes/passes.h"
#include "compiler/barriers/check_barriers.h"
#include "compiler/block/ir/layouts.h"
#include "compiler/block/passes/kernel_pass.h"
#include "compiler/passes/passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace tilery::block {

void runVerifyLayouts(KernelPass &pass) {
  pass.markAllAnalysesPreserved();
  if (failed(verifyLayouts(pass.getOperation())))
    pass.signalPassFailure();
}

namespace {
constexpr PassRow masks[] = {
    {"unwrap-rows", "rows of fetched factors end where they would begin again for nothing", runUnwrapRows},
    {"decide-masks", "masks of fetched factors lose comparisons whose results are known", runDecideMasks},
};

constexpr PassRow opening[] = {
    {"unlock-additions", "additions that a lock protects become indivisible ones of each element", runUnlockAdditions},
    {"open-buffers", "lines of buffers that are stored are lanes of whole stores", runOpenBuffers},
    {createPromoteBuffers},
    {"open-numbers", "numbers that loops carry and branches give as tiles of one lane are numbers", runOpenNumbers},
    {"open-remainders", "what a quotient leaves is a remainder", runOpenRemainders},
    {"split-reductions", "lanes that lie flat are reduced along the dimensions that they had before", runSplitReductions},
    {"flatten-loops", "two loops that count one number become one", runFlattenLoops},
    {"wide-sums", "products that give f16 give f32, which is rounded", runWideSums},
    {"start-from-zero", "sums of one product start from zero; what they started from is added to them", runStartFromZero},
    {"share-loads", "elements that neighbouring lanes of a factor share are loaded once", runShareLoads},
    {"open-returns", "branches around all products become ops that end programs", runOpenReturns},
    {"join-loads", "branches that choose what is loaded become loads at chosen places", runJoinLoads},
    {"open-tables", "arrays of loaded numbers are read where these lie in memory", runOpenTables},
    {"open-extracts", "lanes of loaded tiles become loads of numbers, tiles of one lane numbers", runOpenExtracts},
    {"skip-steps", "loops that multiply in some steps only go over those", runSkipSteps},
    {"open-contractions", "contractions beside other products become loops", runOpenContractions},
    {"transpose-operands", "computed factors are converted before their dimensions are exchanged, those of 32 bits lie along k",
     runTransposeOperands},
    {"pad-rows", "products of loops get as many rows as the tensor cores take", runPadRows},
    {"transpose-products", "products with too few rows are computed as transposed ones", runTransposeProducts},
    {"load-twice", "tiles that are multiplied and computed with are loaded for each", runLoadTwice},
};

constexpr PassRow blocks[] = {
    {"hoist-operands", "factors that are the same in all steps of a loop are loaded in front of it", runHoistOperands},
    {"scale-late", "maxima of a product's rows are taken before it is scaled", runScaleLate},
    {"order-sums", "sums that are only stored are stored before other products begin", runOrderSums},
    {"choose-schedule", "the cheapest schedule by the model becomes the kernel's `block.schedule`", runChooseSchedule},
    {"pipeline", "products of boxes become loops over a ring", runPipeline},
    {"spread-products", "products start early in a step and are waited for late", runSpreadProducts},
    {"branch-masks", "loops with products select lanes in steps that need it only", runBranchMasks},
    {"overlap-products", "products with a computed factor run under the next step's work", runOverlapProducts},
    {"delay-additions", "products that are added to memory start a step late", runDelayAdditions},
    {"split-k", "the blocks of a cluster share the steps of a product", runSplitK},
    {"early-loads", "what the work on a product's result loads is under way before that is there", runEarlyLoads},
    {"load-ahead", "what threads load for a step's factor is loaded in the step before", runLoadAhead},
    {"stage-stores", "tiles that go to boxes are stored by the copy engine", runStageStores},
    {"order-programs", "blocks run program after program, in an order that shares operands", runOrderPrograms},
    {"split-roles", "what fills rings becomes a role of its own", runSplitRoles},
    {"run-ahead", "threads that multiply start the copies of later steps", runRunAhead},
    {"join-fetches", "threads load the factors of several steps before they write the first", runJoinFetches},
    {createCanonicalizerPass},
    {createCSEPass},
    {createLoopInvariantCodeMotionPass},
    {createCanonicalizerPass}, // loops carry nothing that only the other role needs
    {"assign-layouts", "tiles in registers and in shared memory get layouts", runAssignLayouts},
    {"gather-fences", "one fence for what threads write and read between products", runGatherFences},
    {"place-syncs", "threads wait, fence and meet where they hand shared memory on", runPlaceSyncs},
    {"deal-programs", "instances of the role that multiplies take programs by turns", runDealPrograms},
    {"verify-layouts", "layouts of tiles that do not follow from each other are errors", runVerifyLayouts},
    {createCheckBarriers},
};

void add(OpPassManager &kernel, ArrayRef<PassRow> rows) {
  for (const PassRow &row : rows)
    kernel.addPass(row.make());
}
} // namespace

std::unique_ptr<Pass> PassRow::make() const { return create ? create() : std::make_unique<KernelPass>(*this); }

void addMasks(OpPassManager &kernel) { add(kernel, masks); }
void addOpening(OpPassManager &kernel) { add(kernel, opening); }
void addBlocks(OpPassManager &kernel) { add(kernel, blocks); }

void buildBlockPipeline(OpPassManager &pm) {
  OpPassManager &kernel = pm.nest<tile::KernelOp>();
  addMasks(kernel);
  addOpening(kernel);
  addBlocks(kernel);
}

void registerBlockPasses() {
  for (const PassRow &row : llvm::concat<const PassRow>(masks, opening, blocks))
    if (row.name)
      registerPass([row] { return row.make(); });
  PassPipelineRegistration<>("block-pipeline", "tile IR to block IR, for GPUs", buildBlockPipeline);
}

} // namespace tilery::block
