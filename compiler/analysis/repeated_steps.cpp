#include "compiler/analysis/repeated_steps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/OperationSupport.h"
#include <deque>

using namespace mlir;
using namespace tilery;
using namespace tilery::analysis;

namespace {

bool isConstant(Operation &op) { return op.hasTrait<OpTrait::ConstantLike>(); }

/// Equal for operations that are the same but for what their operands are.
llvm::hash_code hashOf(Operation *op) {
  llvm::hash_code hash = 0;
  op->walk<WalkOrder::PreOrder>([&](Operation *each) {
    hash = llvm::hash_combine(hash, OperationEquivalence::computeHash(each, OperationEquivalence::ignoreHashValue,
                                                                      OperationEquivalence::ignoreHashValue,
                                                                      OperationEquivalence::IgnoreLocations));
    for (Value operand : each->getOperands())
      hash = llvm::hash_combine(hash, operand.getType());
  });
  return hash;
}

bool areSameButForOperands(Operation *a, Operation *b) {
  return OperationEquivalence::isEquivalentTo(
      a, b, [](Value x, Value y) { return success(x.getType() == y.getType()); }, nullptr, OperationEquivalence::IgnoreLocations);
}

/// The values that an operation and what is nested in it define, by number.
DenseMap<Value, unsigned> numbersWithin(Operation *op) {
  DenseMap<Value, unsigned> numbers;
  if (op->getNumRegions())
    op->walk<WalkOrder::PreOrder>([&](Operation *each) {
      for (Region &region : each->getRegions())
        for (Block &block : region)
          for (Value argument : block.getArguments())
            numbers.try_emplace(argument, numbers.size());
      if (each != op)
        for (Value result : each->getResults())
          numbers.try_emplace(result, numbers.size());
    });
  return numbers;
}

/// A run of operations, each like the one `period` further on.
struct Run {
  size_t begin = 0, length = 0, period = 0;
};

/// The longest run. Of periods whose runs are nearly as long as it the shortest: a multiple of a period covers as much.
Run findRun(ArrayRef<llvm::hash_code> hashes, size_t longest) {
  Run best;
  for (size_t period = 1; period <= longest && 2 * period < hashes.size(); ++period) {
    Run here;
    for (size_t i = 0, same = 0; i + period < hashes.size(); ++i) {
      same = hashes[i] == hashes[i + period] ? same + 1 : 0;
      if (same + period > here.length)
        here = {i + 1 - same, same + period, period};
    }
    if (here.length > best.length + best.length / 8)
      best = here;
  }
  return best;
}

class Finder {
public:
  explicit Finder(Block &block) {
    for (Operation &op : block.without_terminator())
      if (!isConstant(op)) {
        place.try_emplace(&op, ops.size());
        ops.push_back(&op);
        hashes.push_back(hashOf(&op));
      }
  }

  std::optional<RepeatedSteps> find(unsigned least, unsigned longest) {
    if (ops.size() < least)
      return std::nullopt;
    run = findRun(hashes, longest);
    if (run.length < least)
      return std::nullopt;
    std::vector<Step> steps;
    for (size_t i = 0; i < run.length / run.period; ++i)
      steps.push_back(stepAt(i));
    auto [begin, end] = longestAlike(steps);
    if ((end - begin) * run.period < least)
      return std::nullopt;
    RepeatedSteps found;
    found.steps.assign(std::make_move_iterator(steps.begin() + begin), std::make_move_iterator(steps.begin() + end));
    for (size_t back = 1; back <= std::min<size_t>(begin, steps_back); ++back)
      found.before.push_back(steps[begin - back].ops);
    return found;
  }

private:
  SmallVector<Operation *> ops;
  SmallVector<llvm::hash_code> hashes;
  DenseMap<Operation *, size_t> place;
  Run run;

  /// The step that an operation of the block is of, and its number there.
  std::optional<std::pair<size_t, unsigned>> stepOf(Operation *op) const {
    auto at = place.find(op);
    if (at == place.end() || at->second < run.begin || at->second >= run.begin + run.length / run.period * run.period)
      return std::nullopt;
    return std::pair((at->second - run.begin) / run.period, (at->second - run.begin) % run.period);
  }

  Step stepAt(size_t number) const {
    Step step;
    for (size_t i = 0; i < run.period; ++i) {
      Operation *op = ops[run.begin + number * run.period + i];
      DenseMap<Value, unsigned> within = numbersWithin(op);
      step.ops.push_back(op);
      SmallVector<StepOperand> &operands = step.operands.emplace_back();
      for (OpOperand *operand : operandsOf(op)) {
        auto nested = within.find(operand->get());
        operands.push_back(nested == within.end() ? operandOf(operand->get(), number)
                                                  : StepOperand{StepOperand::inside, operand->get().getType(), nested->second});
      }
    }
    return step;
  }

  StepOperand operandOf(Value value, size_t step) const {
    StepOperand operand{StepOperand::outside, value.getType()};
    if (matchPattern(value, m_Constant(&operand.attribute))) {
      operand.kind = StepOperand::constant;
      return operand;
    }
    Operation *op = value.getDefiningOp();
    if (auto from = op ? stepOf(op) : std::nullopt; from && from->first + steps_back >= step) {
      operand.kind = StepOperand::step;
      operand.op = from->second;
      operand.result = cast<OpResult>(value).getResultNumber();
      operand.back = step - from->first;
    } else {
      operand.value = value;
    }
    return operand;
  }

  /// True if a step's values are used by itself and the next steps alone.
  bool isUsedNearby(const Step &step, size_t number) const {
    return llvm::all_of(step.ops, [&](Operation *op) {
      return llvm::all_of(op->getUsers(), [&](Operation *user) {
        Operation *ancestor = op->getBlock()->findAncestorOpInBlock(*user);
        auto at = ancestor ? stepOf(ancestor) : std::nullopt;
        return at && at->first <= number + steps_back;
      });
    });
  }

  static bool areAlike(const Step &a, const Step &b) {
    for (auto [x, y, inX, inY] : llvm::zip_equal(a.ops, b.ops, a.operands, b.operands))
      if (!areSameButForOperands(x, y) || inX.size() != inY.size() ||
          !llvm::all_of(llvm::zip(inX, inY), [](auto pair) { return std::get<0>(pair).isLike(std::get<1>(pair)); }))
        return false;
    return true;
  }

  /// From where to where steps are like the one in the middle, with values that are used nearby but for the last `steps_back` steps.
  std::pair<size_t, size_t> longestAlike(ArrayRef<Step> steps) const {
    std::pair<size_t, size_t> best(1, 1);
    std::deque<size_t> usedFarAway;
    for (size_t i = 1, begin = 1; i < steps.size(); ++i) {
      if (!areAlike(steps[i], steps[steps.size() / 2])) {
        begin = i + 1;
        usedFarAway.clear();
        continue;
      }
      if (!isUsedNearby(steps[i], i))
        usedFarAway.push_back(i);
      for (; !usedFarAway.empty() && usedFarAway.front() + steps_back <= i; usedFarAway.pop_front())
        begin = usedFarAway.front() + 1;
      if (i + 1 - begin > best.second - best.first)
        best = {begin, i + 1};
    }
    return best;
  }
};

} // namespace

bool StepOperand::isLike(const StepOperand &other) const {
  return kind == other.kind && type == other.type && op == other.op && result == other.result && back == other.back &&
         value == other.value;
}

SmallVector<OpOperand *> analysis::operandsOf(Operation *op) {
  SmallVector<OpOperand *> operands;
  op->walk<WalkOrder::PreOrder>([&](Operation *each) {
    for (OpOperand &operand : each->getOpOperands())
      operands.push_back(&operand);
  });
  return operands;
}

std::optional<RepeatedSteps> analysis::findRepeatedSteps(Block &block, unsigned least, unsigned longest) {
  return Finder(block).find(least, longest);
}
