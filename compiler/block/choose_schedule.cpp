// choose-schedule: writes `block.schedule` on kernels that the block level takes. Later passes only carry it out.
#include "compiler/block/find_kernel.h"
#include "compiler/block/passes.h"
#include "compiler/block/schedule.h"
#include "tilery/diagnostic.h"

using namespace mlir;

namespace tilery::block {

ScheduleProblem problemOf(const ProductKernel &found) {
  const BoxProduct &product = found.product;
  ScheduleProblem problem{product.m, product.n, product.k, product.elementBytes(), {}};
  problem.stagesHint = product.stagesHint();
  std::string why;
  for (tile::StoreOp store : found.stores)
    if (std::optional<MappedTile> tile = mapStored(store, product, why))
      problem.outputs.push_back(tile->element.getIntOrFloatBitWidth() / 8);
    else
      ++problem.fromRegisters;
  return problem;
}

namespace {
struct ChooseSchedule : PassWrapper<ChooseSchedule, OperationPass<tile::KernelOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ChooseSchedule)
  StringRef getArgument() const final { return "choose-schedule"; }
  StringRef getDescription() const final { return "the cheapest schedule by the model becomes the kernel's `block.schedule`"; }

  void runOnOperation() final {
    markAllAnalysesPreserved();
    std::string why;
    std::optional<ProductKernel> found = findKernel(getOperation(), why);
    if (!found)
      return;
    try {
      std::optional<Schedule> schedule = chooseSchedule(problemOf(*found));
      if (schedule && !schedule->general)
        getOperation()->setAttr("block.schedule", schedule->attribute(&getContext()));
    } catch (const tilery::Error &error) {
      getOperation().emitError() << error.diagnostic().message
                                 << (error.diagnostic().hint.empty() ? "" : ": " + error.diagnostic().hint);
      signalPassFailure();
    }
  }
};
} // namespace

std::unique_ptr<Pass> createChooseSchedule() { return std::make_unique<ChooseSchedule>(); }

} // namespace tilery::block
