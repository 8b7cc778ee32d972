// spread-products: in loops with many products, those whose factors are loaded start together where a step begins, and each is waited for
// where its result is first used: the tensor cores work under what is computed in between.
#include "compiler/block/ir/Block.h"
#include "compiler/block/passes/passes.h"
#include "compiler/block/price/schedule.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tilery::block {
namespace {

class Step {
  using Ops = llvm::SetVector<Operation *>;

public:
  explicit Step(scf::ForOp loop) : body(*loop.getBody()) {}

  void write() {
    SmallVector<MmaStartOp> starts(body.getOps<MmaStartOp>());
    Operation *last = nullptr;
    for (MmaStartOp start : starts)
      if (Ops needed; needs(start, needed))
        moveBehind(last, needed);
    for (MmaWaitOp wait : SmallVector<MmaWaitOp>(body.getOps<MmaWaitOp>()))
      if (Operation *first = firstUser(wait))
        wait->moveBefore(first);
    for (ReadOp read : SmallVector<ReadOp>(body.getOps<ReadOp>()))
      readLate(read);
    for (ReleaseOp release : SmallVector<ReleaseOp>(body.getOps<ReleaseOp>()))
      if (Operation *wait = lastWait(release.getSlot()); wait && release->isBeforeInBlock(wait))
        release->moveAfter(wait);
  }

private:
  /// All of the step that comes before the op; false where that computes with tiles.
  bool needs(Operation *op, Ops &needed) {
    if (!op || op->getBlock() != &body || needed.contains(op))
      return true;
    if (auto start = dyn_cast<MmaStartOp>(op); start && isWrittenHere(start.getA()))
      return false;
    bool isScalar = llvm::none_of(op->getResultTypes(), [](Type type) { return isa<RankedTensorType>(type); });
    bool isNumber = isScalar && !op->getNumRegions() && (isMemoryEffectFree(op) || isa<tile::LoadOp>(op));
    if (!isNumber && !isa<MmaStartOp, TakeOp, AcquireOp, PartOp, CopyOp, PublishOp>(op))
      return false;
    needed.insert(op);
    for (Value operand : op->getOperands())
      if (!needs(operand.getDefiningOp(), needed))
        return false;
    auto take = dyn_cast<TakeOp>(op);
    for (AcquireOp acquire : take ? SmallVector<AcquireOp>(body.getOps<AcquireOp>()) : SmallVector<AcquireOp>())
      if (acquire.getRing() == take.getRing() && acquire.getPosition() == take.getPosition() && !needsFilled(acquire, needed))
        return false;
    return true;
  }

  /// A factor that the step's threads put into shared memory.
  static bool isWrittenHere(Value factor) {
    while (auto view = factor.getDefiningOp<TransposeOp>())
      factor = view.getShared();
    return bool(factor.getDefiningOp<AllocOp>());
  }

  bool needsFilled(AcquireOp acquire, Ops &needed) {
    SmallVector<Operation *> users{acquire};
    for (size_t i = 0; i < users.size(); ++i) {
      if (!needs(users[i], needed))
        return false;
      if (users[i]->getNumResults())
        llvm::append_range(users, users[i]->getResult(0).getUsers());
    }
    return true;
  }

  /// In the order in which they stand; `last` is then the last of them.
  void moveBehind(Operation *&last, const Ops &needed) {
    SmallVector<Operation *> ops;
    for (Operation *op : needed)
      if (!last || last->isBeforeInBlock(op))
        ops.push_back(op);
    llvm::sort(ops, [](Operation *x, Operation *y) { return x->isBeforeInBlock(y); });
    for (Operation *op : ops) {
      if (last)
        op->moveAfter(last);
      else
        op->moveBefore(&body, body.begin());
      last = op;
    }
  }

  /// Of its result; or the next product that has a computed factor, too: two such would hold registers.
  Operation *firstUser(MmaWaitOp wait) {
    SmallVector<Operation *> ends(wait->getUsers());
    auto own = wait.getProduct().getDefiningOp<MmaStartOp>();
    for (auto start : body.getOps<MmaStartOp>())
      if (own && hasComputedFactor(own) && hasComputedFactor(start) && own->isBeforeInBlock(start))
        ends.push_back(start);
    Operation *first = nullptr;
    for (Operation *end : ends) {
      Operation *holder = body.findAncestorOpInBlock(*end);
      if (holder && (!first || holder->isBeforeInBlock(first)))
        first = holder;
    }
    return first;
  }

  bool hasComputedFactor(MmaStartOp start) {
    return isa<RankedTensorType>(start.getA().getType()) && start.getA().getParentBlock() == &body;
  }

  /// Threads read a line where they compute with it: until then it takes no registers.
  void readLate(ReadOp read) {
    auto part = read.getShared().getDefiningOp<PartOp>();
    auto take = part ? part.getSlot().getDefiningOp<TakeOp>() : TakeOp();
    Ops computed;
    Operation *where = take && take->getBlock() == &body ? firstTaker(read, computed) : nullptr;
    if (!where)
      return;
    SmallVector<Operation *> ops(computed.getArrayRef());
    llvm::sort(ops, [](Operation *x, Operation *y) { return x->isBeforeInBlock(y); });
    for (Operation *op : std::initializer_list<Operation *>{take, part, read})
      op->moveBefore(where);
    for (Operation *op : ops)
      if (op->isBeforeInBlock(where))
        op->moveBefore(where);
    Operation *behind = where; // if possible a wait: threads need not meet then
    for (auto wait : body.getOps<MmaWaitOp>())
      if (behind == where && where->isBeforeInBlock(wait))
        behind = wait;
    for (Operation *user : take->getUsers())
      if (isa<ReleaseOp>(user))
        behind->hasTrait<OpTrait::IsTerminator>() ? user->moveBefore(behind) : user->moveAfter(behind);
  }

  /// The first op for which the tile, or what is computed from it element by element, has to be there.
  Operation *firstTaker(Value tile, Ops &computed) {
    SmallVector<Value> values{tile};
    Operation *first = nullptr;
    for (size_t i = 0; i < values.size(); ++i)
      for (Operation *user : values[i].getUsers()) {
        Operation *holder = body.findAncestorOpInBlock(*user);
        bool isComputed = holder == user && isMemoryEffectFree(user) && !user->getNumRegions() &&
                          !isa<BlockDialect>(user->getDialect()) && !user->hasTrait<OpTrait::IsTerminator>();
        if (isComputed && computed.insert(user))
          values.append(user->result_begin(), user->result_end());
        else if (!isComputed && (!first || holder->isBeforeInBlock(first)))
          first = holder;
      }
    return first;
  }

  /// Of the step's products that read the slot.
  Operation *lastWait(Value slot) {
    Operation *last = nullptr;
    for (auto wait : body.getOps<MmaWaitOp>())
      if (auto start = wait.getProduct().getDefiningOp<MmaStartOp>())
        for (Value factor : {start.getA(), Value(start.getB())})
          if (slotOf(factor) == slot && (!last || last->isBeforeInBlock(wait)))
            last = wait;
    return last;
  }

  static Value slotOf(Value factor) {
    while (auto view = factor.getDefiningOp<TransposeOp>())
      factor = view.getShared();
    auto part = factor.getDefiningOp<PartOp>();
    return part ? part.getSlot() : Value();
  }

  Block &body;
};
} // namespace

void runSpreadProducts(tile::KernelOp kernel) {
  std::optional<Schedule> schedule = Schedule::of(kernel);
  if (!schedule || !schedule->spread)
    return;
  for (auto loop : kernel.getBody().getOps<scf::ForOp>())
    if (!loop.getBody()->getOps<MmaStartOp>().empty())
      Step(loop).write();
}

} // namespace tilery::block
