// Slots of rings and their barriers, boxes on their way in and out, threads that meet.
#include "compiler/analysis/search.h"
#include "compiler/block/ir/layouts.h"
#include "compiler/block/ir/uses.h"
#include "compiler/targets/cuda/block/block_emitter.h"
#include "compiler/targets/cuda/ptx/emit_layout.h"

using namespace mlir;

namespace tilery::cuda {
namespace {
/// The boxes of a map that cover a shared tile.
class Boxes {
public:
  struct Box {
    unsigned offset;                 // bytes from the tile's beginning
    SmallVector<int64_t, 5> element; // its first, in the map's dimensions, outermost first
    SmallVector<int64_t, 2> number;  // along each of the tile's dimensions
  };
  Boxes(block::MapType map, block::SharedType shared) : bytes(tile::elementBytes(shared.getElementType())) {
    memory = layout::invert(shared.getLayout().getLayout());
    ArrayRef<int64_t> shape = shared.getShape();
    auto dims = *block::walkedDimensions(map, shape);
    SmallVector<int64_t> box;
    for (auto [d, dim] : llvm::enumerate(dims))
      box.push_back(dim < 0 ? shape[d] : map.getBox()[dim]);
    for (auto [d, extent] : llvm::enumerate(box))
      counts.push_back(shape[d] / extent);
    SmallVector<int64_t> at(shape.size(), 0);
    for (bool more = true; more;) {
      Box &one = all.emplace_back(Box{offsetOf(at), SmallVector<int64_t, 5>(map.getRank(), 0), {}});
      for (auto [d, extent] : llvm::enumerate(box))
        one.number.push_back(at[d] / extent);
      for (auto [d, dim] : llvm::enumerate(dims))
        if (dim >= 0)
          one.element[dim] = at[d];
      more = false;
      for (int d = int(at.size()) - 1; d >= 0 && !more; --d) {
        at[d] += box[d];
        more = at[d] < shape[d];
        if (!more)
          at[d] = 0;
      }
    }
  }
  unsigned offsetOf(ArrayRef<int64_t> element) const {
    SmallVector<layout::Layout::Place> place;
    for (auto [d, x] : llvm::enumerate(element))
      place.push_back({layout::dim(d), x});
    return memory->at(place)[0] * bytes;
  }

  SmallVector<Box> all;
  SmallVector<int64_t, 2> counts; // of boxes along the tile's dimensions

private:
  unsigned bytes;
  std::optional<layout::Layout> memory;
};
} // namespace

block::RingOp BlockEmitter::ringOf(Value slot) {
  for (analysis::Search<Value> from(slot); Value value = from.next();) {
    Operation *op = value.getDefiningOp();
    if (isa_and_nonnull<block::AcquireOp, block::TakeOp>(op))
      return op->getOperand(0).getDefiningOp<block::RingOp>();
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      Operation *parent = argument.getOwner()->getParentOp();
      unsigned number = argument.getArgNumber();
      if (auto loop = dyn_cast<scf::ForOp>(parent)) {
        from.add(loop.getInitArgs()[number - 1]);
        from.add(loop.getBody()->getTerminator()->getOperand(number - 1));
      } else if (auto loop = dyn_cast<block::ProgramsOp>(parent)) {
        from.add(loop.getInits()[number - 3]);
        from.add(loop.getBody().front().getTerminator()->getOperand(number - 3));
      }
      continue;
    }
    for (Region &region : op->getRegions())
      if (!region.empty())
        from.add(region.front().getTerminator()->getOperand(cast<OpResult>(value).getResultNumber()));
  }
  return {};
}

llvm::Value *BlockEmitter::barrierOf(block::RingOp ring, llvm::Value *position, bool empty) {
  const SharedPlan::Ring &where = plan.rings[ring];
  llvm::Value *slot = b.CreateURem(position, i32(ring.getType().getCount()));
  unsigned first = where.barriers + (empty ? block::barrierBytes : 0);
  return b.CreateAdd(b.CreateAdd(base, b.CreateMul(slot, i32(barriersOfSlot))), i32(first));
}

llvm::Value *BlockEmitter::parityOf(block::RingOp ring, llvm::Value *position) {
  return b.CreateAnd(b.CreateUDiv(position, i32(ring.getType().getCount())), i32(1));
}

namespace {
/// What fills the slots of a ring, in the one role that does.
struct Filling {
  block::RoleOp role;
  bool copies = false, writes = false, fetches = false;
};
Filling fillingOf(block::RingOp ring) {
  Filling result;
  for (Operation *user : ring.getResult().getUsers())
    if (auto acquire = dyn_cast<block::AcquireOp>(user)) {
      result.role = acquire->getParentOfType<block::RoleOp>();
      for (Operation *part : acquire.getResult().getUsers())
        for (Operation *filler : part->getUsers()) {
          result.copies |= isa<block::CopyOp>(filler);
          result.writes |= isa<block::WriteOp>(filler);
          result.fetches |= isa<block::FetchOp>(filler);
        }
    }
  return result;
}
} // namespace

unsigned BlockEmitter::arrivalsToFill(block::RingOp ring) {
  Filling filling = fillingOf(ring);
  if (!filling.writes && !filling.fetches)
    return 1;
  unsigned warps = filling.role.getWarps();
  return filling.copies + (filling.writes ? warps : 0) + (filling.fetches ? 32 * warps : 0);
}

llvm::Value *BlockEmitter::copier() { return role->oneThread ? nullptr : b.CreateICmpEQ(thread, i32(32 * role->firstWarp)); }

// The slot's bytes are announced before anything fills it, so that copies need not wait for `publish`.
void BlockEmitter::emitAcquire(block::AcquireOp acquire) {
  auto ring = acquire.getRing().getDefiningOp<block::RingOp>();
  llvm::Value *position = scalar(acquire.getPosition());
  unsigned bytes = 0;
  SmallVector<Operation *> users(acquire.getResult().getUsers());
  for (size_t i = 0; i < users.size(); ++i) {
    if (isa<block::PartOp>(users[i]))
      llvm::append_range(users, users[i]->getResult(0).getUsers());
    else if (auto copy = dyn_cast<block::CopyOp>(users[i]))
      bytes += copy.getTo().getType().getBytes();
    if (users[i]->getBlock() != acquire->getBlock() ||
        !isa<block::PartOp, block::PublishOp, block::CopyOp, block::WriteOp, block::FetchOp>(users[i]))
      return fail(acquire, "is filled in a way for which there is no code yet");
  }
  for (auto &[remap, map] : made)
    if (auto found = map.rings.find(ring); found != map.rings.end())
      b.CreateStore(b.CreateAdd(position, i32(1)), found->second.now);
  machine.waitBarrier(e, barrierOf(ring, position, true), b.CreateXor(parityOf(ring, position), i32(1)));
  if (bytes || arrivalsToFill(ring) == 1)
    when(copier(), [&] { machine.arriveExpect(e, barrierOf(ring, position, false), i32(bytes)); });
  remember(acquire, {position, b.getTrue()});
}

// What threads have written is fenced; each warp arrives once all its lanes have come here. Of copies each thread's own arrive.
void BlockEmitter::emitPublish(block::PublishOp publish) {
  block::RingOp ring = ringOf(publish.getSlot());
  Filling filling = fillingOf(ring);
  if (!filling.writes && !filling.fetches)
    return; // told at the acquire
  llvm::Value *full = barrierOf(ring, partsOf(publish.getSlot())[0], false);
  if (filling.fetches)
    machine.arriveCopies(e, full);
  if (!filling.writes)
    return;
  machine.warpBarrier(e, i32(-1));
  when(b.CreateICmpEQ(here().lane, i32(0)), [&] { machine.arrive(e, full); });
}

void BlockEmitter::emitTake(block::TakeOp take) {
  auto ring = take.getRing().getDefiningOp<block::RingOp>();
  llvm::Value *position = scalar(take.getPosition());
  machine.waitBarrier(e, barrierOf(ring, position, false), parityOf(ring, position));
  remember(take, {position, b.getTrue()});
}

/// Nothing but products reads the tile.
static bool isOnlyMultiplied(Value shared) {
  return llvm::all_of(shared.getUsers(), [](Operation *user) {
    return isa<block::TransposeOp>(user) ? isOnlyMultiplied(user->getResult(0)) : isa<block::MmaStartOp>(user);
  });
}

/// Threads read a tile of the slot.
static bool isRead(Value slot, block::RingOp ring) {
  for (Operation *user : ring.getResult().getUsers()) {
    if (!isa<block::TakeOp>(user))
      continue;
    SmallVector<Value> uses = block::flowOf(user->getResult(0));
    if (!llvm::is_contained(uses, slot))
      continue;
    for (Value use : uses)
      for (Operation *part : use.getUsers())
        if (isa<block::PartOp>(part) && !isOnlyMultiplied(part->getResult(0)))
          return true;
  }
  return false;
}

/// True if its threads have fenced since they read the slot.
static bool isFenced(block::ReleaseOp release) {
  for (Operation *op = release->getPrevNode(); op && !op->getNumRegions(); op = op->getPrevNode()) {
    if (isa<block::FenceOp>(op))
      return true;
    if (auto read = dyn_cast<block::ReadOp>(op))
      if (auto part = read.getShared().getDefiningOp<block::PartOp>(); !part || part.getSlot() == release.getSlot())
        return false;
  }
  return false;
}

void BlockEmitter::emitRelease(block::ReleaseOp release) {
  block::RingOp ring = ringOf(release.getSlot());
  if (!ring)
    return; // of none
  Parts slot = partsOf(release.getSlot());
  unsigned arrivals = block::arrivalsOf(release->getParentOfType<block::RoleOp>(), ring);
  bool eachWarp = !role->oneThread && arrivals == role->warps; // its lanes have read the slot
  if (eachWarp && !byWarps && isRead(release.getSlot(), ring) && !isFenced(release))
    machine.fenceProxy(e); // else the copy engine may fill it while the last of what they read is still on its way
  if (eachWarp)
    machine.warpBarrier(e, i32(-1));
  llvm::Value *mine = role->oneThread ? nullptr : eachWarp ? b.CreateICmpEQ(here().lane, i32(0)) : speaker();
  when(mine ? b.CreateAnd(slot[1], mine) : slot[1], [&] { machine.arrive(e, barrierOf(ring, slot[0], true)); });
}

void BlockEmitter::emitPart(block::PartOp part) {
  block::RingOp ring = ringOf(part.getSlot());
  const SharedPlan::Ring &where = plan.rings[ring];
  llvm::Value *slot = b.CreateURem(partsOf(part.getSlot())[0], i32(ring.getType().getCount()));
  unsigned offset = where.slots + where.parts[part.getIndex()];
  remember(part, {b.CreateAdd(b.CreateAdd(base, b.CreateMul(slot, i32(where.pitch))), i32(offset))});
}

void BlockEmitter::emitCopy(block::CopyOp copy) {
  auto acquire = copy.getTo().getDefiningOp<block::PartOp>().getSlot().getDefiningOp<block::AcquireOp>();
  auto ring = acquire.getRing().getDefiningOp<block::RingOp>();
  llvm::Value *map = mapOf(copy.getMap());
  if (!copy.getTo().getType().getLayout() || !map)
    return fail(copy, "needs a map, and a layout");
  llvm::Value *to = partsOf(copy.getTo())[0], *full = barrierOf(ring, partsOf(acquire)[0], false);
  when(copier(), [&] {
    for (const Boxes::Box &box : Boxes(copy.getMap().getType(), copy.getTo().getType()).all) {
      SmallVector<llvm::Value *, 5> coordinates;
      for (auto [start, element] : llvm::zip_equal(copy.getCoords(), box.element))
        coordinates.push_back(b.CreateAdd(scalar(start), i32(element)));
      std::reverse(coordinates.begin(), coordinates.end());
      machine.loadBox(e, b.CreateAdd(to, i32(box.offset)), map, coordinates, full);
    }
  });
}

llvm::Value *BlockEmitter::speaker() {
  if (role->oneThread)
    return nullptr;
  if (role->warps % 4)
    return b.CreateICmpEQ(thread, i32(32 * role->firstWarp));
  return b.CreateICmpEQ(here().inWarpgroup, i32(0));
}

// Each warpgroup stores the boxes of its part of the rows, where they can be dealt out so, else of the columns; else the first one stores all.
void BlockEmitter::emitStoreBox(block::StoreBoxOp store) {
  block::SharedType shared = store.getShared().getType();
  llvm::Value *map = mapOf(store.getMap());
  if (!shared.getLayout() || !map)
    return fail(store, "needs a map, and a layout");
  Boxes boxes(store.getMap().getType(), shared);
  int64_t warpgroups = role->warps / 4;
  unsigned along = block::storedAlong(shared, store.getMap().getType(), unsigned(warpgroups));
  bool dealt = warpgroups > 1 && along < boxes.counts.size();
  int64_t each = dealt ? boxes.counts[along] / warpgroups : 0;
  SmallVector<int64_t> start(shared.getRank(), 0);
  unsigned apart = 0; // bytes between the parts of two warpgroups
  for (int64_t w = 1; dealt && w < warpgroups; ++w) {
    start[along] = shared.getShape()[along] / warpgroups * w;
    unsigned offset = boxes.offsetOf(start);
    apart = w == 1 ? offset : apart;
    dealt = offset == w * apart;
  }
  llvm::Value *from = partsOf(store.getShared())[0], *mine = speaker();
  auto dims = *block::walkedDimensions(store.getMap().getType(), shared.getShape());
  SmallVector<llvm::Value *, 5> first;
  for (Value coordinate : store.getCoords())
    first.push_back(scalar(coordinate));
  if (dealt) {
    from = b.CreateAdd(from, b.CreateMul(here().warpgroup, i32(apart)));
    llvm::Value *&own = first[dims[along]];
    own = b.CreateAdd(own, b.CreateMul(here().warpgroup, i32(shared.getShape()[along] / warpgroups)));
  } else if (warpgroups > 1) {
    mine = b.CreateAnd(mine, b.CreateICmpEQ(here().warpgroup, i32(0)));
  }
  when(mine, [&] {
    for (const Boxes::Box &box : boxes.all) {
      if (dealt && box.number[along] >= each)
        continue;
      SmallVector<llvm::Value *, 5> coordinates;
      for (auto [at, element] : llvm::zip_equal(first, box.element))
        coordinates.push_back(b.CreateAdd(at, i32(element)));
      std::reverse(coordinates.begin(), coordinates.end());
      machine.storeBox(e, map, coordinates, b.CreateAdd(from, i32(box.offset)), store.getAdd());
    }
    machine.commitStores(e);
  });
}

llvm::Value *BlockEmitter::barrierOfRole() {
  return b.CreateAdd(i32(role->barrier), b.CreateMul(instance, i32(role->barriers())));
}

void BlockEmitter::handOn(llvm::Value *who) {
  llvm::Value *next = b.CreateURem(b.CreateAdd(who, i32(1)), i32(role->turns()));
  unsigned warps = role->op.instanceCount() > 1 ? role->warps : 4;
  machine.arriveNamed(e, b.CreateAdd(i32(role->turnBarrier()), next), 2 * 32 * warps);
}

void BlockEmitter::emitTurn(block::TurnOp turn) {
  bool alone = role->turns() < 2;
  llvm::Value *who = role->op.instanceCount() > 1 ? instance : warpgroup;
  unsigned warps = role->op.instanceCount() > 1 ? role->warps : 4;
  if (!alone)
    machine.namedBarrier(e, b.CreateAdd(i32(role->turnBarrier()), who), 2 * 32 * warps);
  emitBlock(turn.getBody().front());
  for (auto [result, operand] : llvm::zip_equal(turn.getResults(), turn.getBody().front().getTerminator()->getOperands()))
    remember(result, partsOf(operand));
  if (!alone)
    handOn(who);
}

void BlockEmitter::emitSync(block::SyncOp sync) {
  if (role->oneThread)
    return;
  unsigned warps = sync.getWarps().value_or(role->warps);
  if (warps == role->warps)
    return meetRole();
  if (warps != 4 || role->warps % 4)
    return fail(sync, "lets other threads meet than those of a warpgroup, or of the role");
  machine.namedBarrier(e, b.CreateAdd(b.CreateAdd(barrierOfRole(), i32(1)), here().warpgroup), 128);
}

} // namespace tilery::cuda
