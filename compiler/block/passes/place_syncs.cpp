// place-syncs: where threads, the copy engine and the tensor cores hand shared memory to each other, they wait, fence and meet.
//
// A walk over each role, loops until nothing changes, knows of each allocation which stores may still read it, and what has been written or
// read since the role's threads last met. Slots of rings have barriers that order everything; what threads have written there is shown to
// the tensor cores before it is published, what they have copied once the slot is taken.
#include "compiler/block/ir/gpu.h"
#include "compiler/block/ir/layouts.h"
#include "compiler/block/passes/filled_slots.h"
#include "compiler/block/passes/passes.h"

using namespace mlir;

namespace tilery::block {
namespace {
using layout::Layout;

/// What may be going on with an allocation.
struct Use {
  std::optional<unsigned> stored; // stores that were started after the last one from here, which may still read; the fewest
  bool written = false;           // since the threads met: others do not see it yet
  bool fenced = true;             // the copy engine sees what was written
  bool read = false;              // since the threads met: others may still do so

  bool operator==(const Use &) const = default;
  void join(const Use &other) {
    if (other.stored)
      stored = std::min(stored.value_or(~0u), *other.stored);
    written |= other.written;
    fenced &= other.fenced;
    read |= other.read;
  }
};

struct State {
  llvm::MapVector<Value, Use> uses;

  bool operator==(const State &other) const { return llvm::equal(uses, other.uses); }
  void join(const State &other) {
    for (auto &[memory, use] : other.uses)
      uses[memory].join(use);
  }
};

Value memoryOf(Value shared) {
  while (isa_and_nonnull<TransposeOp, PeerOp>(shared.getDefiningOp()))
    shared = shared.getDefiningOp()->getOperand(0);
  return shared.getDefiningOp<AllocOp>() ? shared : Value();
}

/// The largest coordinate along a dimension that one warpgroup's first four warps hold.
int64_t lastOf(const Layout &layout, unsigned along) {
  int64_t row = 0;
  for (const Layout::Input &input : layout.inputs()) {
    int64_t warps = 1;
    for (const Layout::Digit &digit : input.digits) {
      int64_t extent = digit.extent;
      if (input.axis == layout::Warp) {
        extent = std::min<int64_t>(extent, std::max<int64_t>(1, warpsOfGroup / warps));
        warps *= digit.extent;
      }
      row += (extent - 1) * (digit.step[along] + digit.flips[along]);
    }
  }
  return row;
}

class Places {
public:
  explicit Places(RoleOp role) : role(role), warpgroups(role.getWarps() / warpsOfGroup) {
    role.walk([&](WriteOp write) {
      if (Value memory = memoryOf(write.getShared()))
        shared.insert(memory);
    });
  }

  void place() {
    State state;
    for (Value memory : shared)
      state.uses[memory].read = bool(memory.getDefiningOp<AllocOp>().getOver()); // by other warpgroups' products
    run(role.getBody().front(), state, true);
    bool stores = role.walk([](StoreBoxOp) { return WalkResult::interrupt(); }).wasInterrupted();
    if (stores) { // nobody else waits for them
      OpBuilder builder(role.getBody().front().getTerminator());
      StoreWaitOp::create(builder, role.getLoc(), /*read=*/false, 0);
    }
  }

private:
  void run(Block &block, State &state, bool write) {
    for (Operation &op : llvm::make_early_inc_range(block))
      run(op, state, write);
  }

  void run(Operation &op, State &state, bool write) {
    if (isa<scf::ForOp, ProgramsOp, scf::WhileOp>(op)) {
      auto round = [&](State &inside, bool write) {
        for (Region &region : op.getRegions())
          run(region.front(), inside, write);
      };
      for (State before = state;; before = state) {
        State inside = state;
        round(inside, false);
        state.join(inside);
        if (state == before)
          break;
      }
      State inside = state;
      round(inside, write);
      return state.join(inside);
    }
    if (op.getNumRegions()) {
      State before = state;
      bool first = true, all = true;
      for (Region &region : op.getRegions()) {
        all &= !region.empty();
        if (region.empty())
          continue;
        State inside = before;
        run(region.front(), inside, write);
        first ? void(state = inside) : state.join(inside);
        first = false;
      }
      if (!all)
        state.join(before);
      return;
    }
    if (auto release = dyn_cast<ReleaseOp>(op); release && write)
      meetBefore(release);
    if (auto publish = dyn_cast<PublishOp>(op); publish && isFilledBy<WriteOp>(publish.getSlot()))
      for (auto &[memory, use] : state.uses)
        use.fenced = true; // by the one in front of it
    if (isa<ClusterSyncOp>(op))
      for (auto &[memory, use] : state.uses)
        use.written = use.read = false;
    if (auto each = dyn_cast<WriteOp>(op))
      return beforeWrite(each, state, write);
    if (auto each = dyn_cast<ReadOp>(op))
      return beforeRead(each, state, write);
    if (auto each = dyn_cast<StoreBoxOp>(op))
      return beforeStore(each, state, write);
    if (auto each = dyn_cast<MmaStartOp>(op))
      for (Value operand : {each.getA(), Value(each.getB())})
        if (Value memory = isa<SharedType>(operand.getType()) ? memoryOf(operand) : Value()) {
          show(memory, op, state, write);
          state.uses[memory].read = true; // until all warpgroups have waited for it
        }
  }

  void beforeWrite(WriteOp op, State &state, bool write) {
    Value memory = memoryOf(op.getShared());
    if (!memory)
      return;
    Use &use = state.uses[memory];
    if (use.stored) {
      waitForStores(*use.stored, op, state, write);
      meet(memory, op, state, write);
    } else if (use.read) {
      waitForStores(op, state, write); // those behind it then need not meet once more
      meet(memory, op, state, write);
    }
    use.written = true;
    use.fenced = false;
  }

  void waitForStores(unsigned groups, WriteOp op, State &state, bool write) {
    OpBuilder builder(op);
    if (write)
      StoreWaitOp::create(builder, op.getLoc(), /*read=*/true, groups);
    for (auto &[other, each] : state.uses)
      if (each.stored && *each.stored >= groups)
        each.stored.reset();
  }

  /// All that a step before has started, which is long ago.
  void waitForStores(WriteOp op, State &state, bool write) {
    bool any = llvm::any_of(state.uses, [](auto &use) { return use.second.stored.has_value(); });
    if (any && op->getParentOfType<scf::ForOp>())
      waitForStores(0, op, state, write);
  }

  void beforeRead(ReadOp op, State &state, bool write) {
    Value memory = memoryOf(op.getShared());
    if (!memory)
      return;
    if (state.uses[memory].written)
      meet(memory, op, state, write);
    state.uses[memory].read = true;
  }

  void beforeStore(StoreBoxOp op, State &state, bool write) {
    Value memory = memoryOf(op.getShared());
    show(memory, op, state, write);
    for (auto &[other, use] : state.uses)
      if (use.stored)
        ++*use.stored;
    if (memory)
      state.uses[memory].stored = 0;
  }

  /// What threads wrote becomes visible to the copy engine and the tensor cores.
  void show(Value memory, Operation *op, State &state, bool write) { return show(memory, *op, state, write); }
  void show(Value memory, Operation &op, State &state, bool write) {
    if (!memory || !(state.uses[memory].written || !state.uses[memory].fenced))
      return;
    OpBuilder builder(&op);
    if (!state.uses[memory].fenced) {
      if (write)
        FenceOp::create(builder, op.getLoc());
      for (auto &[other, use] : state.uses)
        use.fenced = true;
    }
    meet(memory, &op, state, write);
  }

  /// One thread gives a slot back for its warpgroup: by then all of them must have seen it full, or the next filling passes some by. A
  /// product that was waited for shows that they have; a loop may have had no turns. Where each warp gives it back, all its lanes have.
  void meetBefore(ReleaseOp release) {
    auto take = release.getSlot().getDefiningOp<TakeOp>();
    if (!take || take->getBlock() != release->getBlock() || arrivalsOf(role, take.getRing()) == role.getWarps())
      return;
    for (Operation *op = take->getNextNode(); op != release; op = op->getNextNode())
      if (isa<MmaWaitOp, MmaSettleOp, SyncOp>(op))
        return;
    OpBuilder builder(release);
    SyncOp::create(builder, release.getLoc(), warpgroups > 1 ? builder.getI32IntegerAttr(warpsOfGroup) : IntegerAttr());
  }

  void meet(Value memory, Operation *op, State &state, bool write) {
    bool apart = isEachsOwn(memory);
    if (write) {
      OpBuilder builder(op);
      SyncOp::create(builder, op->getLoc(), apart ? builder.getI32IntegerAttr(warpsOfGroup) : IntegerAttr());
    }
    for (auto &[other, use] : state.uses)
      if (!apart || isEachsOwn(other))
        use.written = use.read = false;
  }

  /// True if each warpgroup writes rows, or columns, of its own and nobody but the copy engine reads them: it stores them in as many parts.
  bool isEachsOwn(Value memory) {
    auto shared = cast<SharedType>(memory.getType());
    std::optional<unsigned> along;
    for (Operation *user : memory.getUsers())
      if (auto store = dyn_cast<StoreBoxOp>(user); store && store.getShared() == memory) {
        unsigned own = storedAlong(shared, store.getMap().getType(), warpgroups);
        if (own >= shared.getShape().size() || along.value_or(own) != own)
          return false;
        along = own;
      }
    return warpgroups > 1 && along && llvm::all_of(memory.getUsers(), [&](Operation *user) {
             auto write = dyn_cast<WriteOp>(user);
             LayoutAttr held = write ? layoutOf(write.getValue().getType()) : LayoutAttr();
             return isa<StoreBoxOp>(user) || (held && isApart(held.getLayout(), write, *along));
           });
  }

  /// Warpgroups hold one part after the other along the dimension.
  bool isApart(const Layout &held, WriteOp write, unsigned along) {
    std::optional<Layout> piece = held;
    if (write.getAt())
      piece = layout::piece(held, write.getShared().getType().getShape());
    if (!piece || piece->extent(layout::Warp) != int64_t(role.getWarps()))
      return false;
    int64_t each = write.getShared().getType().getShape()[along] / warpgroups;
    for (unsigned w = 0; w < warpgroups; ++w)
      if (piece->at({{layout::Warp, int64_t(warpsOfGroup) * w}})[along] != w * each)
        return false;
    return lastOf(*piece, along) < each;
  }

  RoleOp role;
  unsigned warpgroups;
  llvm::SetVector<Value> shared; // what threads write
};

/// True if a fence stands in front, and nothing is written between.
bool isFenced(PublishOp publish) {
  for (Operation *op = publish->getPrevNode(); op && !op->getNumRegions() && !isa<WriteOp>(op); op = op->getPrevNode())
    if (isa<FenceOp>(op))
      return true;
  return false;
}
} // namespace

void runPlaceSyncs(tile::KernelOp kernel) {
  kernel.walk([](RoleOp role) { Places(role).place(); });
  kernel.walk([](PublishOp publish) {
    OpBuilder builder(publish);
    if (isFilledBy<WriteOp>(publish.getSlot()) && !isFenced(publish))
      FenceOp::create(builder, publish.getLoc());
  });
  kernel.walk([](TakeOp take) { // copies by threads are done when the slot is full, no sooner
    OpBuilder builder(take->getBlock(), std::next(take->getIterator()));
    if (llvm::any_of(take.getRing().getUsers(),
                     [](Operation *user) { return isa<AcquireOp>(user) && isFilledBy<FetchOp>(user->getResult(0)); }))
      FenceOp::create(builder, take.getLoc());
  });
}

} // namespace tilery::block
