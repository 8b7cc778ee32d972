// Waits between accesses of different threads to one buffer, where a program has left them to the compiler.
#include "compiler/analysis/divergence.h"
#include "compiler/analysis/thread_set.h"
#include "compiler/builder/impl.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using tilery::analysis::Divergence;

namespace tilery {
namespace {

struct Access {
  Operation *op;
  mlir::Value buffer;
  ValueRange indices;
  bool writes, updates;
  Operation *earlier = nullptr; // the outermost loop of which it is in a turn before the current one
};

/// Since all threads last waited. A loop or branch leaves those from before it and its own: each counts once.
class Accesses {
public:
  void add(const Access &access) {
    if (known.insert({access.op, access.earlier}).second)
      list.push_back(access);
  }
  void add(const Accesses &others) {
    for (const Access &access : others.list)
      add(access);
  }
  /// What follows is a later turn of the loop.
  void endTurn(Operation *loop) {
    known.clear();
    for (Access access : std::exchange(list, {})) {
      if (!access.earlier || loop->isAncestor(access.earlier))
        access.earlier = loop;
      add(access);
    }
  }
  void clear() { *this = {}; }
  auto begin() const { return list.begin(); }
  auto end() const { return list.end(); }

private:
  SmallVector<Access> list;
  DenseSet<std::pair<Operation *, Operation *>> known;
};

/// Two values that are computed alike.
bool sameValue(mlir::Value a, mlir::Value b) {
  if (a == b)
    return true;
  Operation *x = a.getDefiningOp(), *y = b.getDefiningOp();
  return x && y && x->getName() == y->getName() && x->getNumRegions() == 0 && isPure(x) && a.getType() == b.getType() &&
         x->getAttrDictionary() == y->getAttrDictionary() && x->getNumOperands() == y->getNumOperands() &&
         llvm::all_of(llvm::zip(x->getOperands(), y->getOperands()),
                      [](auto pair) { return sameValue(std::get<0>(pair), std::get<1>(pair)); });
}

class Placement {
public:
  explicit Placement(tile::ThreadsOp threads) : threads(threads), body(threads.getBody().front()), divergence(threads, true) {
    divergence.run();
  }

  void run() { walk(body, since); }

private:
  mlir::Value rootOf(mlir::Value buffer) const {
    while (Operation *op = buffer.getDefiningOp()) {
      if (!isa<tile::SubviewOp, tile::ReinterpretOp>(op))
        break;
      buffer = op->getOperand(0);
    }
    return buffer;
  }

  std::optional<Access> accessOf(Operation *op) const {
    std::optional<Access> access;
    if (auto load = dyn_cast<tile::ElementLoadOp>(op))
      access = Access{op, load.getBuffer(), load.getIndices(), false, false};
    else if (auto store = dyn_cast<tile::ElementStoreOp>(op))
      access = Access{op, store.getBuffer(), store.getIndices(), true, false};
    else if (auto update = dyn_cast<tile::ElementUpdateOp>(op))
      access = Access{op, update.getBuffer(), update.getIndices(), true, true};
    if (access && divergence.isOwn(access->buffer))
      return std::nullopt;
    return access;
  }

  /// Whether the indices are those of one thread only.
  bool belongsToThread(ValueRange indices) const {
    mlir::Value thread = body.getArgument(0);
    SmallVector<Attribute> quotients, remainders;
    for (mlir::Value index : indices) {
      while (Operation *op = index.getDefiningOp()) {
        if (!isa<arith::ExtSIOp, arith::ExtUIOp>(op))
          break;
        index = op->getOperand(0);
      }
      if (index == thread)
        return true;
      Operation *op = index.getDefiningOp();
      Attribute by;
      if (!op || !isa<tile::DivOp, tile::RemOp>(op) || op->getOperand(0) != thread ||
          !matchPattern(op->getOperand(1), m_Constant(&by)))
        continue;
      (isa<tile::DivOp>(op) ? quotients : remainders).push_back(by);
    }
    return llvm::any_of(quotients, [&](Attribute by) { return llvm::is_contained(remainders, by); });
  }
  bool hangsOnLoop(mlir::Value value) const {
    Operation *op = value.getDefiningOp();
    if (!op)
      return cast<BlockArgument>(value).getOwner() != &body;
    return threads->isProperAncestor(op) &&
           (!isPure(op) || llvm::any_of(op->getOperands(), [&](mlir::Value operand) { return hangsOnLoop(operand); }));
  }
  /// It is another number in each turn of the loop, and one number in all threads.
  bool countsTurns(mlir::Value index, scf::ForOp loop) const {
    while (Operation *op = index.getDefiningOp()) {
      if (isa<arith::ExtSIOp>(op)) {
        index = op->getOperand(0);
        continue;
      }
      auto isFixed = [&](mlir::Value value) {
        return !loop->isAncestor(value.getParentBlock()->getParentOp()) && !divergence.varies(value);
      };
      if (!isa<arith::AddIOp>(op) || !(isFixed(op->getOperand(0)) || isFixed(op->getOperand(1))))
        return false;
      index = op->getOperand(isFixed(op->getOperand(0)) ? 1 : 0);
    }
    return index == loop.getInductionVar();
  }
  /// Both are of one element only in one turn of the loop.
  bool areApart(const Access &before, const Access &now) const {
    auto loop = dyn_cast_or_null<scf::ForOp>(before.earlier);
    mlir::Value buffer = now.buffer;
    return loop && before.buffer == buffer && !loop->isAncestor(buffer.getParentBlock()->getParentOp()) &&
           !divergence.splits(loop) && llvm::any_of(llvm::zip(before.indices, now.indices), [&](auto pair) {
             return sameValue(std::get<0>(pair), std::get<1>(pair)) && countsTurns(std::get<0>(pair), loop) &&
                    countsTurns(std::get<1>(pair), loop);
           });
  }
  bool conflict(const Access &before, const Access &now) const {
    if (rootOf(before.buffer) != rootOf(now.buffer) || (!before.writes && !now.writes) || (before.updates && now.updates))
      return false;
    if (areApart(before, now))
      return false;
    bool sameElement = before.buffer == now.buffer && llvm::all_of(llvm::zip(before.indices, now.indices), [](auto pair) {
                         return sameValue(std::get<0>(pair), std::get<1>(pair));
                       });
    if (before.earlier && llvm::any_of(now.indices, [&](mlir::Value index) { return hangsOnLoop(index); }))
      sameElement = false;
    return !sameElement || !belongsToThread(now.indices);
  }
  bool conflicts(const Accesses &before, const Access &now) const {
    return llvm::any_of(before, [&](const Access &access) { return conflict(access, now); });
  }
  void waitBefore(Operation *op, Accesses &accesses) {
    accesses.clear();
    if (trying) {
      *trying = true;
      return;
    }
    OpBuilder b(op);
    tile::SyncOp::create(b, op->getLoc());
  }

  static bool isMeeting(Operation *op) {
    auto vote = dyn_cast<tile::VoteOp>(op);
    auto wait = dyn_cast<tile::SyncOp>(op);
    return (wait && !wait.getWidth()) || isa<tile::TogetherOp>(op) || (vote && vote.getWidth() == 0);
  }

  Accesses accessesIn(Operation &op) const {
    Accesses inside;
    op.walk([&](Operation *inner) {
      if (auto access = accessOf(inner))
        inside.add(*access);
    });
    return inside;
  }

  /// A loop in which nobody needs to wait but for what was before it: one wait in front of it is enough.
  void waitBeforeLoop(Operation &loop, Accesses &accesses) {
    Accesses inside = accessesIn(loop), own;
    bool clashes = llvm::any_of(inside, [&](const Access &access) { return conflicts(accesses, access); });
    bool meets =
        loop.walk([](Operation *op) { return isMeeting(op) ? WalkResult::interrupt() : WalkResult::advance(); }).wasInterrupted();
    if (trying || !clashes || meets)
      return;
    bool waits = false;
    {
      llvm::SaveAndRestore<bool *> alone(trying, &waits);
      walkTurns(loop, own);
    }
    if (!waits)
      waitBefore(&loop, accesses);
  }

  void walkTurns(Operation &loop, Accesses &accesses) {
    Accesses skipped = accesses;
    for (bool again : {false, true}) {
      if (again)
        accesses.endTurn(&loop);
      for (Region &region : loop.getRegions())
        walk(region.front(), accesses);
    }
    accesses.add(skipped);
  }

  void walk(Block &block, Accesses &accesses) {
    for (Operation &op : llvm::make_early_inc_range(block))
      step(op, accesses);
  }

  void step(Operation &op, Accesses &accesses) {
    if (isMeeting(&op))
      return accesses.clear();
    if (auto access = accessOf(&op)) {
      if (conflicts(accesses, *access))
        waitBefore(&op, accesses);
      accesses.add(*access);
      return;
    }
    if (op.getNumRegions() == 0)
      return;
    if (divergence.splits(&op)) {
      placeInParts(op);
      return stepOver(op, accesses);
    }
    if (auto branch = dyn_cast<scf::IfOp>(op)) {
      Accesses other = accesses;
      walk(*branch.thenBlock(), accesses);
      if (branch.elseBlock())
        walk(*branch.elseBlock(), other);
      accesses.add(other);
      return;
    }
    waitBeforeLoop(op, accesses);
    walkTurns(op, accesses);
  }

  /// Those who take a side of a branch wait for each other, where that is known and hardware can.
  void placeInParts(Operation &op) {
    auto branch = dyn_cast<scf::IfOp>(op);
    if (!branch)
      return;
    for (Block *side : {branch.thenBlock(), branch.elseBlock()}) {
      auto threads = side ? analysis::threadsAt(side->getTerminator()) : std::nullopt;
      if (!threads)
        continue;
      Accesses inside;
      if (analysis::canMeet(*threads))
        walk(*side, inside);
      else // parts of it may
        for (Operation &inner : *side)
          placeInParts(inner);
    }
  }

  /// Threads may part in the op: all of them can wait in front of it only.
  void stepOver(Operation &op, Accesses &accesses) {
    Accesses inside = accessesIn(op);
    if (llvm::any_of(inside, [&](const Access &access) { return conflicts(accesses, access); }))
      waitBefore(&op, accesses);
    accesses.add(inside);
  }

  tile::ThreadsOp threads;
  Block &body;
  Divergence divergence;
  bool *trying = nullptr; // whether a wait is needed is what is asked
  Accesses since;
};

} // namespace

void placeSyncs(tile::ThreadsOp threads) { Placement(threads).run(); }

} // namespace tilery
