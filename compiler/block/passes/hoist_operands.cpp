// hoist-operands: a factor that a loop loads anew in each step, always the same tile, is loaded in front of the loop: it then stays in shared
// memory, where each step would else wait for it and have a slot of its own.
//
// The loop may run no step at all. Boxes are what a launch asks for in any case, and the copy engine reads nothing that is not there.
#include "compiler/block/recognise/find_kernel.h"
#include "compiler/block/passes/kernel_pass.h"
#include "compiler/block/passes/passes.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tilery::block {
namespace {

/// All in the loop that tells the load's place, operands before users; nothing where steps have a part in it.
std::optional<llvm::SetVector<Operation *>> placeInLoop(tile::LoadOp load, scf::ForOp loop) {
  llvm::SetVector<Operation *> ops;
  auto add = [&](auto &self, Value value) -> bool {
    if (value.getParentBlock() != loop.getBody())
      return !loop->isAncestor(value.getParentBlock()->getParentOp());
    Operation *op = value.getDefiningOp();
    if (!op || op->getNumRegions() || !isMemoryEffectFree(op))
      return false;
    if (!llvm::all_of(op->getOperands(), [&](Value operand) { return self(self, operand); }))
      return false;
    ops.insert(op);
    return true;
  };
  return llvm::all_of(load->getOperands(), [&](Value operand) { return add(add, operand); }) ? std::optional(ops) : std::nullopt;
}
} // namespace

void runHoistOperands(KernelPass &pass) {
  const LoopKernel *kernel = pass.getAnalysis<KernelAnalysis>().loops();
  if (!kernel) // what it stores and adds is of other arguments than what its loops load
    return pass.markAllAnalysesPreserved();
  std::vector<std::pair<tile::LoadOp, llvm::SetVector<Operation *>>> same;
  bool others = false; // a loop that loads no factor is nobody's
  for (const LoopRing &ring : kernel->rings())
    for (tile::LoadOp load : ring.loads) {
      auto loop = dyn_cast<scf::ForOp>(load->getParentOp());
      if (!loop)
        continue;
      if (auto place = ring.fetched || ring.isRead ? std::nullopt : placeInLoop(load, loop))
        same.push_back({load, *place});
      else if (!ring.isRead)
        others = true;
    }
  if (same.empty() || !others)
    return pass.markAllAnalysesPreserved();
  for (auto &[load, place] : same) {
    Operation *loop = load->getParentOp();
    for (Operation *op : place)
      if (op->getParentOp() == loop)
        op->moveBefore(loop);
    load->moveBefore(loop);
  }
}

} // namespace tilery::block
