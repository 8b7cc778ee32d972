// own-buffers: local buffers that iterations of parallel loops keep something in are one for each iteration.
//
// A local buffer is a thread's, and an iteration of a parallel loop belongs to a thread. One that is made outside of the loops, and that
// iterations find as they left it, gets the loops' iterations as further dimensions; what is written to it outside of the loops, each of
// them finds. Where each iteration writes before it reads, one buffer will do for all of them.
#include "compiler/builder/own_buffers.h"
#include "compiler/ir/Tile.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include <set>

using namespace mlir;
using namespace tilery;
using namespace tilery::tile;

namespace {
constexpr int64_t mostElements = 1 << 16; // of the buffers of all iterations

OperandRange indicesOf(Operation *user) {
  return isa<ElementLoadOp>(user) ? cast<ElementLoadOp>(user).getIndices() : cast<ElementStoreOp>(user).getIndices();
}

/// The loop a user's place runs along: from the first element to the last one, one after the other.
scf::ForOp sweepOf(Value index, int64_t size) {
  while (auto extend = index.getDefiningOp<arith::ExtSIOp>())
    index = extend.getIn();
  auto argument = dyn_cast<BlockArgument>(index);
  auto loop = argument ? dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp()) : scf::ForOp();
  if (!loop || loop.getInductionVar() != index || !matchPattern(loop.getLowerBound(), m_Zero()) ||
      !matchPattern(loop.getStep(), m_One()))
    return {};
  std::optional<int64_t> end = getConstantIntValue(loop.getUpperBound());
  return end && *end >= size ? loop : scf::ForOp();
}

/// Does an iteration write what it loads before, in the same turn of all loops around both?
class WrittenBefore {
public:
  WrittenBefore(ArrayRef<int64_t> shape, ArrayRef<Operation *> stores) : shape(shape), stores(stores) {}

  bool covers(Operation *load) const {
    std::set<SmallVector<int64_t>> places; // constant ones that have been written
    std::optional<SmallVector<int64_t>> wanted = constants(load);
    for (Operation *store : stores) {
      Operation *loop = nullptr; // the outermost one around the store alone
      if (!comesBefore(store, load, loop))
        continue;
      std::optional<SmallVector<int64_t>> place = constants(store);
      if (place)
        places.insert(*place);
      if (wanted ? place == wanted : llvm::equal(indicesOf(store), indicesOf(load)) && !loop)
        return true;
      if (!place && sweeps(store, loop))
        return true;
    }
    return int64_t(places.size()) == ShapedType::getNumElements(shape);
  }

private:
  static std::optional<SmallVector<int64_t>> constants(Operation *user) {
    SmallVector<int64_t> place;
    for (Value index : indicesOf(user)) {
      std::optional<int64_t> number = getConstantIntValue(index);
      if (!number)
        return std::nullopt;
      place.push_back(*number);
    }
    return place;
  }
  /// Under no branch of its own.
  static bool comesBefore(Operation *store, Operation *load, Operation *&loop) {
    for (Operation *at = store; at; at = at->getParentOp()) {
      if (Operation *reader = at->getBlock()->findAncestorOpInBlock(*load))
        return reader != at && at->isBeforeInBlock(reader);
      loop = at->getParentOp();
      if (!isa_and_present<scf::ForOp>(loop))
        return false;
    }
    return false;
  }
  /// The store fills the buffer in loops around it alone.
  bool sweeps(Operation *store, Operation *outermost) const {
    SmallPtrSet<Operation *, 4> used;
    for (auto [index, size] : llvm::zip(indicesOf(store), shape)) {
      if (size == 1)
        continue;
      scf::ForOp loop = sweepOf(index, size);
      if (!loop || !outermost || !outermost->isAncestor(loop) || !used.insert(loop).second)
        return false;
    }
    return true;
  }

  ArrayRef<int64_t> shape;
  ArrayRef<Operation *> stores;
};

/// The only parallel loop around an op; null: there are none, or several, or threads.
ParallelOp loopAround(Operation *op) {
  auto loop = op->getParentOfType<ParallelOp>();
  return loop && !loop->getParentOfType<ParallelOp>() && !op->getParentOfType<ThreadsOp>() ? loop : ParallelOp();
}

std::optional<SmallVector<int64_t>> extentsOf(ParallelOp loop) {
  SmallVector<int64_t> extents;
  for (Value extent : loop.getExtents()) {
    std::optional<int64_t> size = getConstantIntValue(extent);
    if (!size || *size < 1)
      return std::nullopt;
    extents.push_back(*size);
  }
  return extents;
}

/// The number that all elements of a tile are; null: it is not known.
Value numberOf(Value tile) {
  Operation *op = tile.getDefiningOp();
  return isa_and_present<SplatOp, ReshapeOp>(op) && !isa<RankedTensorType>(op->getOperand(0).getType()) ? op->getOperand(0)
                                                                                                        : Value();
}

/// Is it a store outside of parallel loops, which all iterations see, and which can be done for each?
bool isForAll(Operation *user, AllocOp alloc) {
  if (user->getParentOfType<ParallelOp>() || user->getParentOfType<ThreadsOp>())
    return false;
  if (auto store = dyn_cast<ElementStoreOp>(user))
    return store.getBuffer() == alloc.getResult();
  auto fill = dyn_cast<BufferStoreOp>(user);
  return fill && fill.getBuffer() == alloc.getResult() && !fill.getMask() && numberOf(fill.getValue());
}

/// An access of iteration `numbers`' part of what all have.
void readdress(OpBuilder &b, Operation *user, Value all, ValueRange numbers) {
  SmallVector<Value> indices;
  for (Value number : numbers)
    indices.push_back(
        number.getType().isInteger(64) ? number : arith::ExtSIOp::create(b, user->getLoc(), b.getI64Type(), number).getResult());
  llvm::append_range(indices, indicesOf(user));
  if (auto load = dyn_cast<ElementLoadOp>(user))
    load.replaceAllUsesWith(ElementLoadOp::create(b, user->getLoc(), load.getType(), all, indices).getResult());
  else
    ElementStoreOp::create(b, user->getLoc(), all, indices, cast<ElementStoreOp>(user).getValue());
}

void writeForAll(OpBuilder &b, Operation *user, Value all, ArrayRef<int64_t> extents) {
  Location loc = user->getLoc();
  if (auto fill = dyn_cast<BufferStoreOp>(user)) {
    auto whole =
        RankedTensorType::get(cast<BufferType>(all.getType()).getShape(), cast<BufferType>(all.getType()).getElementType());
    BufferStoreOp::create(b, loc, all, SplatOp::create(b, loc, whole, numberOf(fill.getValue())), Value());
    return;
  }
  SmallVector<Value> sizes;
  for (int64_t extent : extents)
    sizes.push_back(arith::ConstantIntOp::create(b, loc, extent, 64));
  auto loop = ParallelOp::create(b, loc, sizes);
  Block &body = loop.getBody().emplaceBlock();
  for (Value size : sizes)
    body.addArgument(size.getType(), loc);
  b.setInsertionPointToEnd(&body);
  readdress(b, user, all, body.getArguments());
  YieldOp::create(b, loc);
}

void divide(AllocOp alloc) {
  SmallPtrSet<Operation *, 4> loops;
  SmallVector<Operation *> stores, loads, outside;
  std::optional<SmallVector<int64_t>> extents;
  for (Operation *user : alloc->getUsers()) {
    if (isForAll(user, alloc)) {
      outside.push_back(user);
      continue;
    }
    ParallelOp loop = loopAround(user);
    auto store = dyn_cast<ElementStoreOp>(user);
    if (!loop || !(isa<ElementLoadOp>(user) || (store && store.getBuffer() == alloc.getResult())))
      return;
    std::optional<SmallVector<int64_t>> own = extentsOf(loop);
    if (!own || (extents && *own != *extents))
      return;
    extents = own;
    loops.insert(loop);
    (store ? stores : loads).push_back(user);
  }
  bool once = loops.size() == 1 && outside.empty() && (*loops.begin())->getBlock() == alloc->getBlock();
  WrittenBefore written(alloc.getType().getShape(), stores);
  if (loads.empty() || stores.empty() || once || llvm::all_of(loads, [&](Operation *load) { return written.covers(load); }))
    return;
  SmallVector<int64_t> shape(*extents);
  llvm::append_range(shape, alloc.getType().getShape());
  if (ShapedType::getNumElements(shape) > mostElements)
    return;
  OpBuilder b(alloc);
  auto all = AllocOp::create(b, alloc.getLoc(), BufferType::get(shape, alloc.getType().getElementType(), Space::fragment));
  all->setDiscardableAttrs(alloc->getDiscardableAttrDictionary());
  for (Operation *user : llvm::make_early_inc_range(alloc->getUsers())) {
    b.setInsertionPoint(user);
    if (llvm::is_contained(outside, user))
      writeForAll(b, user, all, *extents);
    else
      readdress(b, user, all, loopAround(user).getBody().front().getArguments());
    user->erase();
  }
  alloc.erase();
}

struct OwnBuffers : PassWrapper<OwnBuffers, OperationPass<KernelOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(OwnBuffers)
  StringRef getArgument() const final { return "own-buffers"; }
  StringRef getDescription() const final { return "local buffers that iterations of parallel loops keep are one for each"; }
  void runOnOperation() final { divideLocalBuffers(getOperation()); }
};
} // namespace

void tilery::divideLocalBuffers(Operation *root) {
  SmallVector<AllocOp> allocs;
  root->walk([&](AllocOp alloc) {
    if (alloc.getType().getSpace() == Space::local && !alloc->getParentOfType<ParallelOp>() &&
        !alloc->getParentOfType<ThreadsOp>())
      allocs.push_back(alloc);
  });
  for (AllocOp alloc : allocs)
    divide(alloc);
}

std::unique_ptr<Pass> tilery::createOwnBuffers() { return std::make_unique<OwnBuffers>(); }
