// unlock-additions: what a program adds to a tile of memory while it holds a lock, and does nothing else under, is added without the lock, each
// element in one indivisible step. Programs then wait for nobody between their products.
#include "compiler/analysis/integer_op.h"
#include "compiler/block/ir/gpu.h"
#include "compiler/block/passes/passes.h"
#include "compiler/block/recognise/access_lines.h"
#include "compiler/block/recognise/kernel_work.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace tilery::block {
namespace {

/// `while cas(lock, free, held) == held: pass`, `sum = load + addend` at one place and its store, `exchange(lock, free)`.
struct LockedAddition {
  scf::WhileOp wait;
  tile::AtomicCasOp take;
  tile::LoadOp load;
  Operation *sum;
  tile::StoreOp store;
  tile::AtomicRmwOp release;

  Value addend() { return sum->getOperand(sum->getOperand(0) == load.getResult() ? 1 : 0); }
};

/// One instruction adds such a number to memory; others would be compared and swapped until that succeeds.
bool isAddedAtOnce(Type element, const Gpu &gpu) {
  return element.getIntOrFloatBitWidth() >= 32 || element.isF16() || (element.isBF16() && gpu.warpgroups);
}

/// The attempt to take a lock that the loop repeats until it succeeds; null: it does something else.
tile::AtomicCasOp takenBy(scf::WhileOp wait) {
  tile::AtomicCasOp take;
  for (Operation &op : wait.getBefore().front())
    if (auto swap = dyn_cast<tile::AtomicCasOp>(op); swap && !take)
      take = swap;
    else if (!isa<scf::ConditionOp>(op) && !isMemoryEffectFree(&op))
      return {};
  auto compare = wait.getConditionOp().getCondition().getDefiningOp<arith::CmpIOp>();
  if (!take || !compare || wait.getNumResults() || wait.getAfter().front().getOperations().size() != 1)
    return {};
  std::optional<int64_t> free = analysis::constantOf(take.getExpected()), held = analysis::constantOf(take.getDesired());
  Value other = compare.getLhs() == take.getResult() ? compare.getRhs() : compare.getLhs();
  bool asks = compare.getLhs() == take.getResult() || compare.getRhs() == take.getResult(),
       isHeld = analysis::constantOf(other) == held, isFree = analysis::constantOf(other) == free;
  bool goesOn = (compare.getPredicate() == arith::CmpIPredicate::eq && isHeld) ||
                (compare.getPredicate() == arith::CmpIPredicate::ne && isFree);
  return free && held && free != held && asks && goesOn ? take : tile::AtomicCasOp();
}

/// No two lanes that exist lie in one place, whatever the strides that arguments give.
bool areApart(tile::AccessOp access) {
  SmallVector<Value> live;
  SmallVector<int32_t> kinds(access.getSteps().size(), 0);
  ArrayRef<int64_t> shape = cast<tile::AccessType>(access.getType()).getShape();
  for (unsigned d = 0; d < kinds.size(); ++d) {
    if (shape[d] > 1 && access.isStrided(d) && analysis::constantOf(access.getSteps()[d]) == 0)
      return false;
    live.push_back(access.getBoundKinds()[d] == 1 ? access.getBound(d)[1] : Value());
  }
  OpBuilder builder(access); // rows that begin again are those of the tensor where the mask ends before they do
  auto unmasked = tile::AccessOp::create(builder, access.getLoc(), access.getType(), access.getBase(), access.getOffset(),
                                         access.getSteps(), ValueRange(), Value(), kinds);
  std::string why;
  bool known = linesOf(unmasked, live, why).has_value();
  unmasked->erase();
  return known;
}

std::optional<LockedAddition> additionBehind(scf::WhileOp wait) {
  LockedAddition found{wait, takenBy(wait), {}, nullptr, {}, {}};
  if (!found.take)
    return std::nullopt;
  for (Operation *op = wait->getNextNode(); op && !found.release; op = op->getNextNode()) {
    if (auto load = dyn_cast<tile::LoadOp>(op); load && !found.load)
      found.load = load;
    else if (auto store = dyn_cast<tile::StoreOp>(op); store && !found.store)
      found.store = store;
    else if (auto release = dyn_cast<tile::AtomicRmwOp>(op))
      found.release = release;
    else if (!isMemoryEffectFree(op))
      return std::nullopt;
  }
  if (!found.release || !found.load || !found.store || !found.load->isBeforeInBlock(found.store))
    return std::nullopt;
  found.sum = found.store.getValue().getDefiningOp();
  auto access = found.store.getPlace().getDefiningOp<tile::AccessOp>();
  bool isReleased = found.release.getKind() == tile::RmwKind::exchange && found.release.getPlace() == found.take.getPlace() &&
                    analysis::constantOf(found.release.getValue()) == analysis::constantOf(found.take.getExpected()) &&
                    found.release.getResult().use_empty();
  bool isAdded = isa_and_nonnull<arith::AddFOp, arith::AddIOp>(found.sum) && found.sum->hasOneUse() && found.load->hasOneUse() &&
                 llvm::is_contained(found.sum->getOperands(), found.load.getResult());
  bool isOneTile = access && found.load.getPlace() == found.store.getPlace() && isa<RankedTensorType>(found.load.getType()) &&
                   !found.load.getIsVolatile() && !found.store.getIsVolatile();
  return isReleased && isAdded && isOneTile && areApart(access) ? std::optional(found) : std::nullopt;
}

/// Locks may order other work, too, where there is any that others see; and nobody else may look at what is added to meanwhile.
bool meetOtherWork(tile::KernelOp kernel, MutableArrayRef<LockedAddition> additions, const llvm::DenseSet<Operation *> &parts) {
  llvm::DenseSet<Value> roots;
  for (LockedAddition &each : additions)
    roots.insert(rootOf(each.store.getPlace()));
  auto meets = [&](Value place) {
    Value root = rootOf(place);
    return !isa_and_nonnull<BlockArgument>(root) || roots.contains(root);
  };
  auto look = [&](Operation *op) {
    if (parts.contains(op) || op->getNumRegions() || op->hasTrait<OpTrait::IsTerminator>() || isMemoryEffectFree(op))
      return WalkResult::advance();
    auto load = dyn_cast<tile::LoadOp>(op);
    auto store = dyn_cast<tile::StoreOp>(op);
    bool isPlain = (load && !load.getIsVolatile()) || (store && !store.getIsVolatile());
    return isPlain && !meets(load ? load.getPlace() : store.getPlace()) ? WalkResult::advance() : WalkResult::interrupt();
  };
  return !llvm::all_of(roots, [](Value root) { return isa_and_nonnull<BlockArgument>(root); }) ||
         kernel.walk(look).wasInterrupted();
}
} // namespace

void runUnlockAdditions(tile::KernelOp kernel) {
  SmallVector<LockedAddition> additions;
  llvm::DenseSet<Operation *> parts;
  kernel.walk([&](scf::WhileOp wait) {
    if (std::optional<LockedAddition> found = additionBehind(wait)) {
      parts.insert_range(ArrayRef<Operation *>{found->take.getOperation(), found->load.getOperation(),
                                               found->store.getOperation(), found->release.getOperation()});
      additions.push_back(*found);
    }
  });
  auto isQuick = [gpu = Gpu::of(kernel)](LockedAddition &each) {
    return isAddedAtOnce(getElementTypeOrSelf(each.store.getValue()), gpu);
  };
  if (additions.empty() || !llvm::all_of(additions, isQuick) || meetOtherWork(kernel, additions, parts))
    return;
  for (LockedAddition &each : additions) {
    OpBuilder builder(each.store);
    auto kind = isa<arith::AddFOp>(each.sum) ? tile::RmwKind::fadd : tile::RmwKind::add;
    tile::AtomicRmwOp::create(builder, each.store.getLoc(), each.store.getValue().getType(), kind, each.store.getPlace(),
                              each.addend(), tile::MemoryOrder::relaxed, tile::SyncScope::gpu);
    for (Operation *op :
         {each.store.getOperation(), each.sum, each.load.getOperation(), each.release.getOperation(), each.wait.getOperation()})
      op->erase();
  }
}

} // namespace tilery::block
