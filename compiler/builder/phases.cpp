// Kernels whose blocks all meet: each part between two meetings is a kernel of its own, launched after the one before.
#include "compiler/builder/impl.h"
#include "compiler/source_chain.h"

namespace tilery {
namespace {

constexpr llvm::StringLiteral meeting = "tile.meeting";

/// May a later phase make it again? A buffer's content is what the program saves and restores.
bool isRemade(mlir::Operation &op) {
  return mlir::isa<tile::AllocOp>(op) || (op.getNumRegions() == 0 && mlir::isMemoryEffectFree(&op));
}

/// Keeps what a block does after `from` and before `to` (null: from its begin, to its end), and what that takes from before.
void keep(mlir::Block &block, mlir::Operation *from, mlir::Operation *to) {
  if (to)
    while (block.back().getPrevNode() != to)
      block.back().getPrevNode()->erase();
  for (mlir::Operation *op = from ? from->getPrevNode() : nullptr; op;) {
    mlir::Operation *before = op->getPrevNode();
    if (op->use_empty())
      op->erase();
    else if (!isRemade(*op))
      throw Error({Diagnostic::Kind::NotImplemented, "what is computed here is used after all blocks have met",
                   "keep it in a buffer or variable, or compute it again; barriers are of the part that makes them",
                   sourceChain(op->getLoc())});
    op = before;
  }
}

llvm::SmallVector<tile::SyncOp> meetingsOf(tile::KernelOp kernel) {
  llvm::SmallVector<tile::SyncOp> found;
  kernel.walk([&](tile::SyncOp op) {
    if (op->hasAttr(meeting))
      found.push_back(op);
  });
  return found;
}

void keepPhase(tile::KernelOp kernel, size_t phase) {
  llvm::SmallVector<tile::SyncOp> meetings = meetingsOf(kernel);
  mlir::Operation *from = phase ? meetings[phase - 1].getOperation() : nullptr;
  mlir::Operation *to = phase < meetings.size() ? meetings[phase].getOperation() : nullptr;
  mlir::Operation *threads = (from ? from : to)->getParentOp();
  keep(*(from ? from : to)->getBlock(), from, to);
  if (threads != kernel)
    keep(*threads->getBlock(), from ? threads : nullptr, to ? threads : nullptr);
  for (tile::SyncOp left : meetingsOf(kernel))
    left.erase();
}

} // namespace

void Builder::meet() { impl->create<tile::SyncOp>(0)->setAttr(meeting, impl->b.getUnitAttr()); }

bool Builder::isUsed(const Buffer &buffer) const { return !toMlir(buffer.handle).use_empty(); }

void splitIntoPhases(tile::KernelOp kernel) {
  llvm::SmallVector<tile::SyncOp> meetings = meetingsOf(kernel);
  if (meetings.empty())
    return;
  for (tile::SyncOp op : meetings) {
    mlir::Operation *parent = op->getParentOp();
    if (parent != kernel && !(mlir::isa<tile::ThreadsOp>(parent) && parent->getParentOp() == kernel))
      throw Error({Diagnostic::Kind::NotImplemented, "all blocks meet in a branch or loop that is decided at run time",
                   "move it out; loops of a number of turns known at compile time are taken apart", sourceChain(op.getLoc())});
  }
  mlir::Operation *last = kernel;
  for (size_t phase = 1; phase <= meetings.size(); ++phase) {
    tile::KernelOp next = kernel.clone();
    next.setSymName((kernel.getSymName() + "_phase" + std::to_string(phase)).str());
    kernel->getBlock()->getOperations().insertAfter(last->getIterator(), next);
    last = next;
    keepPhase(next, phase);
  }
  keepPhase(kernel, 0);
}

} // namespace tilery
