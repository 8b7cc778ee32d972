#include "compiler/targets/cuda/simt/own_buffers.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tilery::cuda {
namespace {
/// The outermost parallel loop around an op.
Operation *parallelAround(Operation *op) {
  Operation *outermost = nullptr;
  for (Operation *at = op->getParentOp(); at; at = at->getParentOp())
    if (isa<tile::ParallelOp>(at))
      outermost = at;
  return outermost;
}

/// Does a store come before a load in the same turn of all loops around both, under no branch of its own?
bool comesBefore(Operation *store, Operation *load) {
  for (Operation *at = store; at; at = at->getParentOp()) {
    if (Operation *reader = at->getBlock()->findAncestorOpInBlock(*load))
      return reader != at && at->isBeforeInBlock(reader);
    if (!isa<scf::ForOp>(at->getParentOp()))
      return false;
  }
  return false;
}
} // namespace

bool belongsToPoints(tile::AllocOp alloc) {
  if (alloc.getType().getSpace() != tile::Space::local)
    return false;
  llvm::SmallSetVector<Operation *, 4> loops;
  SmallVector<Operation *> stores, loads;
  bool constantPlaces = true;
  for (Operation *user : alloc->getUsers()) {
    Operation *loop = parallelAround(user);
    if (!loop || loop->getParentOfType<tile::ThreadsOp>())
      return false;
    if (auto store = dyn_cast<tile::ElementStoreOp>(user); store && store.getBuffer() == alloc.getResult())
      stores.push_back(user);
    else if (isa<tile::ElementLoadOp>(user))
      loads.push_back(user);
    else
      return false;
    loops.insert(loop);
    auto indices = isa<tile::ElementLoadOp>(user) ? cast<tile::ElementLoadOp>(user).getIndices()
                                                  : cast<tile::ElementStoreOp>(user).getIndices();
    constantPlaces &= llvm::all_of(indices, [](Value index) { return matchPattern(index, m_Constant()); });
  }
  bool once = loops.size() == 1 && (loops[0]->getBlock() == alloc->getBlock() || loops[0]->isAncestor(alloc));
  return once || (loops.size() == 1 && constantPlaces) || llvm::all_of(loads, [&](Operation *load) {
           return llvm::any_of(stores, [&](Operation *store) {
             return parallelAround(store) == parallelAround(load) && comesBefore(store, load);
           });
         });
}

} // namespace tilery::cuda
