#include "compiler/targets/cuda/ptx/synchronizes.h"
#include "compiler/lower/aliasing.h"

using namespace mlir;

namespace tilery::cuda {
namespace {
template <typename Update> bool learns(Update update) {
  bool acquires = update.getOrder() == tile::MemoryOrder::acquire || update.getOrder() == tile::MemoryOrder::acq_rel;
  return acquires && !update.getResult().use_empty();
}
} // namespace

bool synchronizesWithOthers(tile::KernelOp kernel) {
  return kernel
      .walk([](Operation *op) {
        auto rmw = dyn_cast<tile::AtomicRmwOp>(op);
        auto swap = dyn_cast<tile::AtomicCasOp>(op);
        auto load = dyn_cast<tile::LoadOp>(op);
        bool found = (rmw && learns(rmw)) || (swap && learns(swap)) || lower::isSignal(op) || (load && load.getIsVolatile());
        return found ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}
} // namespace tilery::cuda
