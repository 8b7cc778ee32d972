// gather-fences: what threads show the copy engine and the tensor cores, or have read, is brought together, so that one fence serves for all:
//
//   write h; store h -> box; take s; read s; release s; ..; acquire o; write v -> o; publish o
// becomes
//   write h; take s; read s; ..; acquire o; write v -> o; publish o; store h -> box; release s
//
// A fence waits for all that a thread has written, memory included, so each of them is in the chain of a loop's steps.
#include "compiler/block/ir/gpu.h"
#include "compiler/block/passes/filled_slots.h"
#include "compiler/block/passes/passes.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace tilery::block {
namespace {

/// Ops that a stretch of straight code keeps in their order although nothing waits for them.
bool isHarmless(Operation &op) { return isMemoryEffectFree(&op) || isa<TakeOp, MmaStartOp>(op); }

/// The pointer to the tensor that an op loads or stores, if it is an argument as it stands and the op is no signal.
Value argumentOf(Operation *op) {
  Value place, base;
  if (auto load = dyn_cast<tile::LoadOp>(op); load && !load.getIsVolatile())
    place = load.getPlace();
  else if (auto box = dyn_cast<StoreBoxOp>(op))
    place = box.getMap();
  if (auto access = place ? place.getDefiningOp<tile::AccessOp>() : tile::AccessOp())
    base = access.getBase();
  else if (auto map = place ? place.getDefiningOp<MapOp>() : MapOp())
    base = map.getBase();
  return base && isa<BlockArgument>(base) ? base : Value();
}

/// Whatever has an effect in the branches is such.
bool hasOnly(Operation &branch, llvm::function_ref<bool(Operation &)> isSuch) {
  return llvm::all_of(branch.getRegions(), [&](Region &region) {
    return region.empty() || llvm::all_of(region.front(), [&](Operation &each) {
             return each.hasTrait<OpTrait::IsTerminator>() || isMemoryEffectFree(&each) || isSuch(each);
           });
  });
}

class Stretch {
public:
  Stretch(RoleOp role, Block &block) : role(role), block(block) {}

  void gather() {
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block))) {
      if (auto store = dyn_cast<StoreBoxOp>(op))
        sink(store, [&](Operation &over) { return mayStoreBehind(store, over); });
      else if (auto release = dyn_cast<ReleaseOp>(op); release && isReadByWarps(release))
        sink(release, [&](Operation &over) { return mayReleaseBehind(release, over); });
    }
  }

private:
  /// Behind the next slots that threads have written and the products that start with them, if all in between allows it.
  void sink(Operation *op, llvm::function_ref<bool(Operation &)> allows) {
    auto isShown = [](Operation *over) {
      auto publish = dyn_cast<PublishOp>(over);
      return publish && isFilledBy<WriteOp>(publish.getSlot());
    };
    Operation *over = op->getNextNode(), *last = nullptr;
    while (over && allows(*over) && !isShown(over))
      over = over->getNextNode();
    for (; over && allows(*over) && (isShown(over) || isHarmless(*over)); over = over->getNextNode())
      if (isShown(over) || isa<MmaStartOp>(over))
        last = over;
    if (last)
      op->moveAfter(last);
  }

  /// What is written elsewhere, waited for or computed meanwhile; of what is loaded, other tensors than the one that is stored.
  bool mayStoreBehind(StoreBoxOp store, Operation &op) {
    if (isHarmless(op) || isa<AcquireOp, PublishOp, ReleaseOp, ReadOp>(op))
      return true;
    if (auto write = dyn_cast<WriteOp>(op))
      return write.getShared().getDefiningOp<PartOp>();
    return loadsOnlyOthers(store, op);
  }

  bool loadsOnlyOthers(StoreBoxOp store, Operation &op) {
    if (isa<scf::IfOp>(op))
      return hasOnly(op, [&](Operation &each) { return loadsOnlyOthers(store, each); });
    Value stored = argumentOf(store), loaded = isa<tile::LoadOp>(op) ? argumentOf(&op) : Value();
    return stored && loaded && stored != loaded;
  }

  /// Threads have read the slot, and each warp gives it back for itself; two more are there, so that nobody waits for this one yet.
  bool isReadByWarps(ReleaseOp release) {
    auto take = release.getSlot().getDefiningOp<TakeOp>();
    return take && take->getBlock() == &block && take.getRing().getType().getCount() > 2 &&
           arrivalsOf(role, take.getRing()) == role.getWarps() && llvm::any_of(take->getUsers(), [](Operation *part) {
             return isa<PartOp>(part) && llvm::any_of(part->getUsers(), [](Operation *user) { return isa<ReadOp>(user); });
           });
  }

  /// Nothing that waits for more than the same step's slots, which are filled before the one that takes this one's place.
  bool mayReleaseBehind(ReleaseOp release, Operation &op) {
    if (auto take = dyn_cast<TakeOp>(op))
      return take.getPosition() == release.getSlot().getDefiningOp<TakeOp>().getPosition();
    if (auto acquire = dyn_cast<AcquireOp>(op))
      return acquire->hasAttr("block.consumer_filled");
    if (isHarmless(op) || isa<PublishOp, ReadOp, WriteOp, ReleaseOp, StoreBoxOp, tile::LoadOp, tile::StoreOp>(op))
      return true;
    return isa<scf::IfOp>(op) && hasOnly(op, [](Operation &each) { return isa<tile::LoadOp>(each); });
  }

  RoleOp role;
  Block &block;
};
} // namespace

void runGatherFences(tile::KernelOp kernel) {
  if (!Gpu::of(kernel).warpgroups)
    return; // and no fences
  kernel.walk([](RoleOp role) { role.walk([&](Block *block) { Stretch(role, *block).gather(); }); });
}

} // namespace tilery::block
