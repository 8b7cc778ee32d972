// A role's code is cut in front of its waits. Which piece comes when, runs of the integer code tell: of all roles side by side, turn by turn
// where they loop over the same range, each as far as it can go. In some turns a role waits for others that it does not wait for in the first
// ones (a slot is free as yet), so the turn with most handing over says what the order is.
#include "compiler/passes/role_pieces.h"
#include "compiler/analysis/same_value.h"
#include "compiler/passes/barrier_states.h"
#include "compiler/passes/cut_branches.h"
#include "compiler/barriers/role_run.h"
#include <map>
#include <memory>

using namespace mlir;
using namespace tilery;
using namespace tilery::tile;

bool tilery::holdsWait(Operation &op) {
  return op.walk([](BarrierWaitOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

SmallVector<scf::ForOp> tilery::waitingLoops(Block &block) {
  SmallVector<scf::ForOp> loops;
  for (auto loop : block.getOps<scf::ForOp>())
    if (holdsWait(*loop))
      loops.push_back(loop);
  return loops;
}

/// One value, or computed in the same way, whether it is known not to wrap or not. `seen`: pairs that were asked for; one that is not the same
/// ends the question, so the others are.
static bool isSameNumber(Value a, Value b, llvm::DenseSet<std::pair<Value, Value>> &seen) {
  if (analysis::isSameValue(a, b) || !seen.insert({a, b}).second)
    return true;
  Operation *x = a.getDefiningOp(), *y = b.getDefiningOp();
  if (!x || !y || x->getName() != y->getName() || x->getNumOperands() != y->getNumOperands() || x->getNumOperands() == 0 ||
      x->getNumResults() != 1 || x->getNumRegions() || !isPure(x) || !isPure(y) || a.getType() != b.getType())
    return false;
  auto attributes = [](Operation *op) {
    NamedAttrList list(op->getAttrDictionary());
    list.erase("overflowFlags");
    return list.getDictionary(op->getContext());
  };
  return attributes(x) == attributes(y) && llvm::all_of(llvm::zip(x->getOperands(), y->getOperands()), [&](auto both) {
           return isSameNumber(std::get<0>(both), std::get<1>(both), seen);
         });
}

static bool isSameNumber(Value a, Value b) {
  llvm::DenseSet<std::pair<Value, Value>> seen;
  return isSameNumber(a, b, seen);
}

bool tilery::runAlike(ArrayRef<scf::ForOp> loops) {
  return llvm::all_of(loops, [&](scf::ForOp loop) {
    scf::ForOp first = loops.front();
    return loop.getInitArgs().empty() && isSameNumber(loop.getLowerBound(), first.getLowerBound()) &&
           isSameNumber(loop.getUpperBound(), first.getUpperBound()) && isSameNumber(loop.getStep(), first.getStep()) &&
           loop.getInductionVar().getType() == first.getInductionVar().getType();
  });
}

namespace {

// What nobody knows is taken for a number of so many turns that none is the last, and whose rests by few slots are those of the turns that
// are run.
constexpr int64_t mostTurns = 12, manyTurns = mostTurns << 16;

struct Level;

/// What stands between loops that all roles run turn by turn, and the loops behind it.
struct Segment {
  std::vector<std::vector<SmallVector<Operation *>>> pieces; // of each role
  SmallVector<unsigned> order;                               // whose piece is next
  unsigned changes = 0;                                      // of the role in it
  SmallVector<scf::ForOp> loops;                             // of each role; none behind the last
  std::unique_ptr<Level> turns;
};

/// Loops of all blocks that can be executed turn by turn, in order: the last ones that run alike, and what in front of them does. Others, of
/// single roles, are pieces.
std::vector<SmallVector<scf::ForOp>> sharedLoops(ArrayRef<Block *> blocks) {
  std::vector<SmallVector<scf::ForOp>> left, found;
  for (Block *block : blocks)
    left.push_back(waitingLoops(*block));
  auto fewest = llvm::min_element(left, [](auto &a, auto &b) { return a.size() < b.size(); }) - left.begin();
  while (!left[fewest].empty()) {
    scf::ForOp loop = left[fewest].back();
    SmallVector<size_t> numbers;
    for (auto &loops : left) {
      size_t number = loops.size();
      while (number > 0 && !runAlike({loop, loops[number - 1]}))
        --number;
      numbers.push_back(number);
    }
    if (llvm::is_contained(numbers, size_t(0))) {
      left[fewest].pop_back();
      continue;
    }
    found.emplace_back();
    for (auto [loops, number] : llvm::zip(left, numbers)) {
      found.back().push_back(loops[number - 1]);
      loops.resize(number - 1);
    }
  }
  std::reverse(found.begin(), found.end());
  return found;
}

/// Of blocks of all roles.
struct Level {
  std::vector<Segment> segments;

  explicit Level(ArrayRef<Block *> blocks) {
    std::vector<SmallVector<scf::ForOp>> shared = sharedLoops(blocks);
    segments.resize(shared.size() + 1);
    for (auto [i, loops] : llvm::enumerate(shared))
      segments[i].loops = loops;
    for (auto [role, block] : llvm::enumerate(blocks)) {
      auto segment = segments.begin();
      segment->pieces.emplace_back(1);
      for (Operation &op : block->without_terminator()) {
        if (!segment->loops.empty() && segment->loops[role] == &op) {
          (++segment)->pieces.emplace_back(1);
          continue;
        }
        if (holdsWait(op))
          segment->pieces.back().emplace_back();
        segment->pieces.back().back().push_back(&op);
      }
    }
    for (Segment &segment : segments)
      if (!segment.loops.empty())
        segment.turns =
            std::make_unique<Level>(llvm::map_to_vector(segment.loops, [](scf::ForOp loop) { return loop.getBody(); }));
  }
};

/// Runs roles side by side.
class Dealer {
public:
  explicit Dealer(ArrayRef<unsigned> first) : first(first) {}
  std::map<Operation *, std::unique_ptr<Level>> levels; // by roles

  /// Throws UnknownRole.
  void run(KernelOp kernel) {
    RoleRun around(memory, llvm::DenseMap<Value, RoleRun::Number>());
    prepare(around);
    size_t taken = 0;
    around.atRoles = [&](RolesOp roles) {
      takeEvents(around, taken);
      std::vector<RoleRun> runs;
      SmallVector<Block *> blocks;
      for (Region &body : roles.getBodies()) {
        runs.emplace_back(memory, around.numbers());
        prepare(runs.back());
        blocks.push_back(&body.front());
      }
      std::unique_ptr<Level> &level = levels[roles];
      if (!level)
        level = std::make_unique<Level>(blocks);
      run(*level, runs);
    };
    around.run(kernel.getBody().front());
    takeEvents(around, taken);
  }

private:
  static void prepare(RoleRun &run) {
    run.onlyBarriers = true;
    run.assumed = {true, manyTurns};
  }

  void takeEvents(const RoleRun &around, size_t &taken) {
    for (; taken < around.events.size(); ++taken)
      if (!states[around.events[taken].at].take(around.events[taken]))
        throw UnknownRole{"a wait is not over"};
  }

  void run(Level &level, std::vector<RoleRun> &runs) {
    for (Segment &segment : level.segments) {
      deal(segment, runs);
      if (segment.loops.empty())
        continue;
      scf::ForOp loop = segment.loops[0];
      int64_t low = runs[0].known(loop.getLowerBound()), step = runs[0].known(loop.getStep()), turn = 0;
      int64_t high = runs[0].known(loop.getUpperBound()), most = high - low > 64 * mostTurns ? mostTurns : high;
      for (int64_t i = low; i < high && turn < most; i += step, ++turn) {
        for (auto [run, own] : llvm::zip(runs, segment.loops))
          run.set(own.getInductionVar(), i);
        run(*segment.turns, runs);
      }
    }
  }

  /// Every role as far as it can go, until all have ended.
  void deal(Segment &segment, std::vector<RoleRun> &runs) {
    SmallVector<size_t> next(runs.size(), 0);
    SmallVector<unsigned> order;
    unsigned changes = 0;
    auto goesOn = [&](unsigned role) {
      return next[role] < segment.pieces[role].size() && passes(runs[role], segment.pieces[role][next[role]]);
    };
    for (;;) {
      auto role = llvm::find_if(first, [&](unsigned each) { return each < runs.size() && goesOn(each); });
      if (role == first.end())
        break;
      changes += !order.empty();
      do {
        order.push_back(*role);
        ++next[*role];
      } while (goesOn(*role));
    }
    for (auto [pieces, done] : llvm::zip(segment.pieces, next))
      if (done < pieces.size())
        throw UnknownRole{"all roles wait"};
    if (segment.order.empty() || changes > segment.changes)
      segment.order = order, segment.changes = changes;
  }

  /// Runs the piece if each of its waits is over.
  bool passes(RoleRun &run, ArrayRef<Operation *> piece) {
    size_t begin = run.events.size();
    for (Operation *op : piece)
      run.run(*op);
    BarrierStates after = states;
    for (size_t i = begin; i < run.events.size(); ++i)
      if (!after[run.events[i].at].take(run.events[i])) {
        run.events.resize(begin);
        return false;
      }
    states = std::move(after);
    return true;
  }

  ArrayRef<unsigned> first;
  BarrierMemory memory;
  BarrierStates states;
};

/// Moves what is dealt out before `end`.
void write(Level &level, ArrayRef<unsigned> first, Operation *end) {
  for (Segment &segment : level.segments) {
    SmallVector<unsigned> order = segment.order;
    if (order.empty()) // no run came here
      for (unsigned role : first)
        if (role < segment.pieces.size())
          order.append(segment.pieces[role].size(), role);
    SmallVector<size_t> next(segment.pieces.size(), 0);
    for (unsigned role : order)
      for (Operation *op : segment.pieces[role][next[role]++])
        op->moveBefore(end);
    if (segment.loops.empty())
      continue;
    scf::ForOp loop = segment.loops.front();
    OpBuilder b(end);
    auto whole = scf::ForOp::create(b, loop.getLoc(), loop.getLowerBound(), loop.getUpperBound(), loop.getStep());
    whole->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
    for (scf::ForOp own : segment.loops)
      own.getInductionVar().replaceAllUsesWith(whole.getInductionVar());
    write(*segment.turns, first, whole.getBody()->getTerminator());
    for (scf::ForOp own : segment.loops)
      own.erase();
  }
}

} // namespace

bool tilery::dealOutPieces(KernelOp kernel, ArrayRef<unsigned> first) {
  kernel.walk([](RolesOp roles) {
    for (Region &body : roles.getBodies())
      cutBranchesAtWaits(body.front());
  });
  Dealer dealer(first);
  try {
    dealer.run(kernel);
  } catch (const UnknownRole &) {
    return false;
  }
  SmallVector<RolesOp> all;
  kernel.walk([&](RolesOp roles) { all.push_back(roles); });
  for (RolesOp roles : all) {
    auto level = dealer.levels.find(roles);
    if (level == dealer.levels.end())
      return false;
    write(*level->second, first, roles);
    roles.erase();
  }
  joinBranches(kernel.getBody().front());
  return true;
}
