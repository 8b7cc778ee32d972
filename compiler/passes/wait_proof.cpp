// The kernel's integer code is run. Where ends of loops are known at run time only, it is run for each number of turns up to some: what
// turns do at barriers hangs on a rest of their number (slots of a ring, parities), and on whether they are among the first or the last
// few. So once barriers are in a state between turns in which they were before, as many turns before as all rests take to come again, more
// turns are the same again, and a longer loop is one of those that were run with turns put in between.
#include "compiler/passes/wait_proof.h"
#include "compiler/analysis/index_polynomial.h"
#include "compiler/passes/barrier_states.h"
#include "compiler/barriers/role_run.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/CSE.h"
#include "llvm/ADT/SetVector.h"
#include <map>
#include <numeric>

using namespace mlir;
using namespace tilery;
using namespace tilery::tile;
using barriers::Event;

namespace {

constexpr int64_t mostPeriod = 64, mostTurns = 400, mostRuns = 1500;

/// What the numbers of turns are looked at for, by all that decides what happens at barriers.
class Turns {
public:
  /// False: something else decides, too.
  bool find(KernelOp kernel) {
    bool found = true;
    kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
      found &= !isa<scf::WhileOp>(op) || !touchesBarriers(*op);
      if (auto loop = dyn_cast<scf::ForOp>(op); loop && touchesBarriers(*op))
        found &= addLoop(loop);
    });
    kernel.walk([&](Operation *op) {
      if (auto branch = dyn_cast<scf::IfOp>(op); branch && touchesBarriers(*op))
        found &= decides(branch.getCondition());
      if (auto arrive = dyn_cast<BarrierArriveOp>(op))
        found &= isExact(arrive.getIndex());
      if (auto wait = dyn_cast<BarrierWaitOp>(op))
        found &= isExact(wait.getIndex()) && needsRest(wait.getParity(), 2);
    });
    return found && !loops.empty();
  }

  llvm::SetVector<Value> ends;
  SmallVector<scf::ForOp> loops; // that have such an end
  int64_t period = 1, first = 0, last = 0;

private:
  bool addLoop(scf::ForOp loop) {
    auto begin = analysis::constantOf(loop.getLowerBound()), step = analysis::constantOf(loop.getStep());
    if (isClosed(loop.getLowerBound()) && isClosed(loop.getUpperBound()) && isClosed(loop.getStep()))
      return true;
    if (!begin || step != 1 || !loop.getInitArgs().empty())
      return false;
    if (loop->getParentOfType<scf::ForOp>())
      return false;
    ends.insert(loop.getUpperBound());
    loops.push_back(loop);
    first = std::max(first, std::abs(*begin) + 1);
    return true;
  }

  /// Computed from constants alone.
  static bool isClosed(Value value) {
    Operation *op = value.getDefiningOp();
    return op && isPure(op) && op->getNumRegions() == 0 && !isa<ProgramIdOp, NumProgramsOp>(op) &&
           llvm::all_of(op->getOperands(), isClosed);
  }

  /// An end, or what counts to one.
  bool isCounted(Value value) const {
    return ends.contains(value) ||
           llvm::any_of(loops, [&](scf::ForOp loop) { return Value(scf::ForOp(loop).getInductionVar()) == value; });
  }

  /// The number's rest by `by` is known by rests of what is counted.
  bool needsRest(Value value, int64_t by) {
    if (isCounted(value)) {
      period = std::lcm(period, by);
      return period <= mostPeriod;
    }
    if (by > mostPeriod)
      return false;
    Operation *op = value.getDefiningOp();
    auto number = op && op->getNumOperands() == 2 ? analysis::constantOf(op->getOperand(1)) : std::nullopt;
    if (auto divide = dyn_cast_or_null<DivOp>(op))
      return divide.getMode() == IntDivMode::floor && number.value_or(0) > 0 && needsRest(divide.getLhs(), by * *number);
    if (auto shift = dyn_cast_or_null<ShiftOp>(op))
      return shift.getMode() == ShiftMode::right_signed && number.value_or(99) < 8 && needsRest(shift.getLhs(), by << *number);
    if (isa_and_nonnull<arith::AddIOp, arith::SubIOp, arith::MulIOp>(op) ||
        (isa_and_nonnull<arith::XOrIOp, arith::OrIOp, arith::AndIOp>(op) && llvm::isPowerOf2_64(by)))
      return needsRest(op->getOperand(0), by) && needsRest(op->getOperand(1), by);
    if (isa_and_nonnull<arith::ExtSIOp>(op) || (isa_and_nonnull<arith::TruncIOp>(op) && llvm::isPowerOf2_64(by)))
      return needsRest(op->getOperand(0), by);
    return isExact(value);
  }

  /// The number is known by rests of what is counted.
  bool isExact(Value value) {
    if (isClosed(value))
      return true;
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      Operation *around = argument.getOwner()->getParentOp();
      auto loop = dyn_cast<scf::ForOp>(around);
      return isa<ThreadsOp>(around) ||
             (loop && argument == loop.getInductionVar() && !isCounted(value) && analysis::constantOf(loop.getLowerBound()) &&
              analysis::constantOf(loop.getStep()) && analysis::constantOf(loop.getUpperBound()));
    }
    Operation *op = value.getDefiningOp();
    if (isCounted(value) || op->getNumRegions() || !isPure(op) || op->getNumOperands() == 0)
      return false;
    auto number = op->getNumOperands() == 2 ? analysis::constantOf(op->getOperand(1)) : std::nullopt;
    if (auto rest = dyn_cast<RemOp>(op);
        rest && rest.getMode() == IntDivMode::floor && number.value_or(0) > 0 && needsRest(rest.getLhs(), *number))
      return true;
    if (isa<arith::AndIOp>(op) && number.value_or(-1) >= 0 && llvm::isPowerOf2_64(*number + 1) &&
        needsRest(op->getOperand(0), *number + 1))
      return true;
    return llvm::all_of(op->getOperands(), [&](Value operand) { return isExact(operand); });
  }

  /// A condition is the same for all turns but the first and last few, or for those of one rest.
  bool decides(Value condition) {
    Operation *op = condition.getDefiningOp();
    if (isa_and_nonnull<arith::AndIOp, arith::OrIOp, arith::XOrIOp>(op))
      return llvm::all_of(op->getOperands(), [&](Value operand) { return decides(operand); });
    auto compare = dyn_cast_or_null<arith::CmpIOp>(op);
    if (!compare || (isExact(compare.getLhs()) && isExact(compare.getRhs())))
      return isExact(condition);
    analysis::IndexPolynomial distance = analysis::polynomialOf(compare.getLhs(), analysis::Wrapping::any) -
                                         analysis::polynomialOf(compare.getRhs(), analysis::Wrapping::any);
    int64_t constant = 0;
    SmallVector<std::pair<Value, int64_t>> terms;
    for (auto &[atoms, factor] : distance.terms())
      if (atoms.empty())
        constant = factor;
      else if (atoms.size() > 1 || std::abs(factor) != 1 || !isCounted(atoms[0]))
        return false;
      else
        terms.emplace_back(atoms[0], factor);
    if (std::abs(constant) > mostPeriod)
      return false;
    // Counters are too small to wrap; of ends nobody knows.
    bool isEquality = compare.getPredicate() == arith::CmpIPredicate::eq || compare.getPredicate() == arith::CmpIPredicate::ne;
    if (terms.size() == 1) {
      if (ends.contains(terms[0].first) && !isEquality && constant)
        return false;
      first = std::max(first, std::abs(constant) + 2);
      return true;
    }
    last = std::max(last, std::abs(constant) + 2);
    auto isLoopOf = [&](Value counter, Value end) {
      auto argument = dyn_cast<BlockArgument>(counter);
      auto loop = argument ? dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp()) : scf::ForOp();
      return loop && loop.getInductionVar() == counter && loop.getUpperBound() == end;
    };
    return terms.size() == 2 && terms[0].second == -terms[1].second &&
           (isLoopOf(terms[0].first, terms[1].first) || isLoopOf(terms[1].first, terms[0].first));
  }
};

/// Throws UnknownRole. `begun`: the states in which turns of loops began. With ends of loops, arrivals are counted: who brings more than a
/// phase lacks is told so at run time.
bool passes(KernelOp kernel, const DenseMap<Value, int64_t> &ends, std::vector<std::pair<Operation *, BarrierStates>> *begun) {
  BarrierMemory memory;
  RoleRun run(memory, DenseMap<Value, RoleRun::Number>());
  run.onlyBarriers = true;
  run.given = ends;
  run.run(kernel.getBody().front());
  BarrierStates states;
  size_t turn = 0;
  for (size_t i = 0; i <= run.events.size(); ++i) {
    for (; begun && turn < run.turnsBegun.size() && run.turnsBegun[turn].second == i; ++turn)
      begun->emplace_back(run.turnsBegun[turn].first, states);
    if (i == run.events.size())
      return true;
    const Event &event = run.events[i];
    BarrierState &state = states[event.at];
    bool isBeyond = event.kind == Event::Arrive && !ends.empty() && state.pending == state.arrivals && event.continues;
    if (isBeyond || !state.take(event)) // the arrival before was the last of a phase, or the wait is not over
      return false;
  }
  return true;
}

/// Whether the loop's turns in the middle come back to a state they began in, by a multiple of the period.
bool comesBack(scf::ForOp loop, const Turns &turns, ArrayRef<std::pair<Operation *, BarrierStates>> begun) {
  std::vector<const BarrierStates *> states;
  for (auto &[which, state] : begun)
    if (which == loop)
      states.push_back(&state);
  for (int64_t from = turns.first; from < int64_t(states.size()) - turns.last; ++from)
    for (int64_t to = from + turns.period; to < int64_t(states.size()) - turns.last; to += turns.period)
      if (*states[from] == *states[to])
        return true;
  return false;
}

/// A copy in which what is computed alike is one value, whether it is known not to wrap or not.
OwningOpRef<KernelOp> withValuesAlike(KernelOp kernel) {
  OwningOpRef<KernelOp> alike = kernel.clone();
  alike->walk([](Operation *op) {
    constexpr auto none = arith::IntegerOverflowFlags::none;
    llvm::TypeSwitch<Operation *>(op).Case<arith::AddIOp, arith::SubIOp, arith::MulIOp>(
        [&](auto sum) { sum.setOverflowFlags(none); });
  });
  IRRewriter rewriter(kernel.getContext());
  DominanceInfo dominance(*alike);
  eliminateCommonSubExpressions(rewriter, dominance, *alike);
  return alike;
}

/// For all numbers of turns.
bool passesAlways(KernelOp kernel) {
  OwningOpRef<KernelOp> alike = withValuesAlike(kernel);
  Turns turns;
  if (!turns.find(*alike))
    return false;
  int64_t most = turns.first + turns.last + 4 * turns.period + 4, runs = 1;
  for (size_t i = 0; i < turns.ends.size(); ++i)
    runs *= most + turns.period + 1;
  if (most > mostTurns || turns.ends.size() > 2 || runs > mostRuns)
    return false;
  DenseMap<Value, int64_t> ends;
  for (int64_t run = 0; run < runs; ++run) {
    int64_t rest = run;
    for (Value end : turns.ends) {
      ends[end] = rest % (most + turns.period + 1) - turns.period; // ends before the beginning are none, but have rests
      rest /= most + turns.period + 1;
    }
    // The longest loops are cut short by whole periods.
    bool isLong = llvm::any_of(turns.ends, [&](Value end) { return ends[end] > most - turns.period; });
    std::vector<std::pair<Operation *, BarrierStates>> begun;
    if (!passes(*alike, ends, isLong ? &begun : nullptr))
      return false;
    for (scf::ForOp loop : turns.loops)
      if (ends[loop.getUpperBound()] > most - turns.period && !comesBack(loop, turns, begun))
        return false;
  }
  return true;
}

} // namespace

bool tilery::passesAllWaits(KernelOp kernel) {
  try {
    return passes(kernel, DenseMap<Value, int64_t>(), nullptr);
  } catch (const UnknownRole &) {
  }
  try {
    return passesAlways(kernel);
  } catch (const UnknownRole &) {
    return false;
  }
}
