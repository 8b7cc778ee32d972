// unroll-arrays: loops by whose numbers a thread picks elements of its own arrays are unrolled, so that each element has a constant
// place and can be a register: memory of a thread's own is a thousand times as slow.
#include "compiler/analysis/integer_op.h"
#include "compiler/analysis/remembered.h"
#include "compiler/analysis/thread_set.h"
#include "compiler/ir/Tile.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/unroll_arrays.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Utils/Utils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace tilery;

namespace {

/// How many operations the threads' code may have behind the pass: some 2 s of an assembler.
constexpr int64_t longest_code = 16384;
/// A loop that is to be unrolled.
constexpr StringLiteral marker = "tile.unroll_arrays";

using Numbers = DenseMap<Value, int64_t>; // of loops' variables

/// The number that an integer is; nothing if that is not known.
std::optional<int64_t> evaluate(Value value, const Numbers &numbers) {
  static thread_local analysis::Remembered<std::optional<int64_t>> remembered;
  if (auto found = numbers.find(value); found != numbers.end())
    return found->second;
  if (auto constant = analysis::constantOf(value))
    return constant;
  Operation *op = value.getDefiningOp();
  if (!op || !isPure(op) || op->getNumRegions())
    return std::nullopt;
  return remembered.of(value, [&] {
    auto operands = llvm::map_to_vector(op->getOperands(), [&](Value operand) { return evaluate(operand, numbers); });
    return analysis::folded(op, operands);
  });
}

/// Begin, end and step of a loop.
struct Range {
  int64_t begin, end, step;
};
std::optional<Range> rangeOf(scf::ForOp loop, const Numbers &numbers) {
  auto begin = evaluate(loop.getLowerBound(), numbers), end = evaluate(loop.getUpperBound(), numbers),
       step = evaluate(loop.getStep(), numbers);
  return begin && end && step && *step > 0 ? std::optional(Range{*begin, *end, *step}) : std::nullopt;
}

/// The loops to unroll in the code of a block's threads.
class ArrayLoops {
public:
  explicit ArrayLoops(tile::ThreadsOp threads) : threads(threads) {
    threads.walk([&](tile::AllocOp array) {
      SetVector<Operation *> found;
      seen.clear();
      if (array.getType().getSpace() == tile::Space::local && array->getParentOp() == threads.getOperation() &&
          follow(array, found))
        loops.insert(found.begin(), found.end());
    });
  }
  SetVector<Operation *> loops;

  /// Is the code short enough when they are unrolled?
  bool areShort() {
    left = longest_code;
    Numbers numbers;
    return count(threads->getRegion(0).front(), numbers);
  }

private:
  tile::ThreadsOp threads;
  DenseSet<Operation *> seen; // on the way to an array's loops
  int64_t left = 0;

  /// The loops that say which elements of the array are accessed. False if anything else says so, or sees more than an element.
  bool follow(tile::AllocOp array, SetVector<Operation *> &found) {
    for (Operation *user : array->getUsers()) {
      auto load = dyn_cast<tile::ElementLoadOp>(user);
      auto store = dyn_cast<tile::ElementStoreOp>(user);
      if ((!load && !store) || (store && store.getBuffer() != array.getResult()))
        return false;
      for (Value index : load ? load.getIndices() : store.getIndices())
        if (!follow(index, found))
          return false;
    }
    return true;
  }

  bool follow(Value value, SetVector<Operation *> &found) {
    if (matchPattern(value, m_Constant()))
      return true;
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
      if (!loop || argument != loop.getInductionVar() || !threads->isProperAncestor(loop))
        return false;
      if (!found.insert(loop))
        return true;
      return follow(loop.getLowerBound(), found) && follow(loop.getUpperBound(), found) && follow(loop.getStep(), found);
    }
    Operation *op = value.getDefiningOp();
    if (!isPure(op) || op->getNumRegions() || !op->getNumOperands())
      return false;
    return !seen.insert(op).second || llvm::all_of(op->getOperands(), [&](Value operand) { return follow(operand, found); });
  }

  /// Takes the operations of a block from what is left.
  bool count(Block &block, Numbers &numbers) {
    for (Operation &op : block) {
      if (--left < 0)
        return false;
      auto loop = dyn_cast<scf::ForOp>(op);
      if (!loop || !loops.contains(loop)) {
        for (Region &region : op.getRegions())
          for (Block &inner : region)
            if (!count(inner, numbers))
              return false;
        continue;
      }
      auto range = rangeOf(loop, numbers);
      if (!range)
        return false;
      for (int64_t i = range->begin; i < range->end; i += range->step) {
        numbers[loop.getInductionVar()] = i;
        if (!count(*loop.getBody(), numbers))
          return false;
      }
    }
    return true;
  }
};

/// Outer loops first: the ranges of inner ones may be made of their numbers.
void unroll(tile::ThreadsOp threads) {
  auto next = [&] {
    scf::ForOp found;
    threads.walk<WalkOrder::PreOrder>([&](scf::ForOp loop) {
      if (!loop->hasAttr(marker))
        return WalkResult::advance();
      found = loop;
      return WalkResult::interrupt();
    });
    return found;
  };
  while (scf::ForOp loop = next()) {
    loop->removeAttr(marker);
    auto range = rangeOf(loop, Numbers());
    if (!range) // counted before: never
      continue;
    OpBuilder b(loop);
    Type type = loop.getInductionVar().getType();
    auto number = [&](int64_t value) { return arith::ConstantOp::create(b, loop.getLoc(), b.getIntegerAttr(type, value)); };
    loop.setLowerBound(number(range->begin));
    loop.setUpperBound(number(range->end));
    loop.setStep(number(range->step));
    if (range->begin >= range->end) {
      loop->replaceAllUsesWith(loop.getInits());
      loop->erase();
    } else {
      (void)loopUnrollFull(loop); // else it stays as it is
    }
  }
}

struct UnrollArrays : PassWrapper<UnrollArrays, OperationPass<tile::KernelOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(UnrollArrays)
  StringRef getArgument() const override { return "unroll-arrays"; }
  StringRef getDescription() const override { return "loops over the elements of threads' own arrays are unrolled"; }
  void getDependentDialects(DialectRegistry &registry) const override { registry.insert<arith::ArithDialect>(); }

  void runOnOperation() override { getOperation().walk(unrollArrays); }
};

} // namespace

void tilery::unrollArrays(tile::ThreadsOp threads) {
  ArrayLoops found(threads);
  if (found.loops.empty() || !found.areShort())
    return;
  for (Operation *loop : found.loops)
    loop->setAttr(marker, UnitAttr::get(loop->getContext()));
  unroll(threads);
}

std::optional<int64_t> tilery::foldedNumber(Value value) { return evaluate(value, Numbers()); }

std::unique_ptr<Pass> tilery::createUnrollArrays() { return std::make_unique<UnrollArrays>(); }
