// join-fetches: threads that bring factors load those of several steps before they write the first of them, so that they wait for memory
// once for all of these.
#include "compiler/block/ir/Block.h"
#include "compiler/block/passes/passes.h"
#include "compiler/block/price/schedule.h"
#include "mlir/Dialect/SCF/Utils/Utils.h"

using namespace mlir;

namespace tilery::block {
namespace {

/// Tiles that the loop's writes are computed from are loaded in the loop.
SmallVector<tile::LoadOp> loadsOf(scf::ForOp loop) {
  SmallVector<tile::LoadOp> loads;
  bool writes = !loop.getBody()->getOps<WriteOp>().empty(), acquires = !loop.getBody()->getOps<AcquireOp>().empty();
  for (auto load : loop.getBody()->getOps<tile::LoadOp>())
    if (writes && acquires && isa<RankedTensorType>(load.getType()))
      loads.push_back(load);
  return loads;
}

void join(scf::ForOp loop, unsigned steps) {
  FailureOr<UnrolledLoopInfo> unrolled = loopUnrollByFactor(loop, steps);
  if (failed(unrolled) || !unrolled->mainLoopOp)
    return;
  Block &body = *unrolled->mainLoopOp->getBody();
  for (tile::LoadOp load : loadsOf(*unrolled->mainLoopOp))
    load->setAttr("block.early", UnitAttr::get(load.getContext()));
  SmallVector<Operation *> last;
  for (Operation &op : body)
    if (isa<WriteOp, PublishOp>(op))
      last.push_back(&op);
  for (Operation *op : last)
    op->moveBefore(body.getTerminator());
}
} // namespace

void runJoinFetches(tile::KernelOp kernel) {
  std::optional<Schedule> schedule = Schedule::of(kernel);
  if (!schedule || schedule->joined < 2)
    return;
  SmallVector<scf::ForOp> loops;
  kernel.walk([&](scf::ForOp loop) {
    if (!loadsOf(loop).empty())
      loops.push_back(loop);
  });
  for (scf::ForOp loop : loops)
    join(loop, schedule->joined);
}

} // namespace tilery::block
