// order-sums: without a loop, where registers do not hold all sums, a product whose sums are stored, and no more, is over before products
// begin whose sums wait: its sums have no registers beside theirs.
//
//   a = x y; c = z w; store c; store a + ...
// becomes
//   c = z w; store c; a = x y; store a + ...
//
// Loads stay where they are: no store moves in front of one.
#include "compiler/block/recognise/find_kernel.h"
#include "compiler/block/passes/kernel_pass.h"
#include "compiler/block/passes/passes.h"
#include "compiler/block/price/live_words.h"
#include "compiler/block/price/straight_schedules.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tilery::block {
namespace {

/// Products before the store that it does not need, with the elementwise work on them, in their order: all that may stand behind it.
SmallVector<Operation *> waitingFor(tile::StoreOp store) {
  llvm::SetVector<Operation *> needed;
  BackwardSliceOptions options;
  options.omitBlockArguments = true;
  (void)getBackwardSlice(store, &needed, options);
  llvm::SetVector<Operation *> computed; // of products
  for (Operation &op : llvm::make_range(store->getBlock()->begin(), store->getIterator())) {
    bool ofOne = llvm::any_of(op.getOperands(), [&](Value each) { return computed.contains(each.getDefiningOp()); });
    if (isa<tile::DotOp>(op) || (ofOne && !op.getNumRegions() && isMemoryEffectFree(&op)))
      computed.insert(&op);
  }
  llvm::DenseSet<Operation *> moved;
  for (Operation *op : llvm::reverse(computed)) {
    bool waits = llvm::all_of(op->getUsers(), [&](Operation *user) {
      Operation *taker = store->getBlock()->findAncestorOpInBlock(*user);
      return moved.contains(taker) || store->isBeforeInBlock(taker);
    });
    if (waits && !needed.contains(op))
      moved.insert(op);
  }
  return llvm::to_vector(llvm::make_filter_range(computed, [&](Operation *op) { return moved.contains(op); }));
}
} // namespace

void runOrderSums(KernelPass &pass) {
  const LoopKernel *kernel = pass.getAnalysis<KernelAnalysis>().loops();
  if (!kernel || !kernel->loops.empty() || !kernel->branches.empty())
    return pass.markAllAnalysesPreserved();
  auto takesRegisters = [&](tile::DotOp op) {
    auto dot = llvm::find_if(kernel->dots, [&](const BoxProduct &each) { return each.op == op; });
    return !dot->loadedA && !dot->writtenA && !kernel->isShown(*dot);
  };
  Block &body = pass.getOperation().getBody().front();
  unsigned words = mostLiveWords(body, takesRegisters), most = words;
  for (tile::StoreOp store : SmallVector<tile::StoreOp>(body.getOps<tile::StoreOp>())) {
    if (holdsWords(words, kernel->rows()))
      break;
    SmallVector<Operation *> waiting = waitingFor(store);
    auto next = llvm::map_to_vector(waiting, [](Operation *op) { return op->getNextNode(); });
    for (Operation *op : llvm::reverse(waiting))
      op->moveAfter(store);
    if (unsigned fewer = mostLiveWords(body, takesRegisters); fewer < words)
      words = fewer;
    else // back, the last one first
      for (auto [op, behind] : llvm::reverse(llvm::zip(waiting, next)))
        op->moveBefore(behind);
  }
  if (words == most)
    pass.markAllAnalysesPreserved();
}

} // namespace tilery::block
