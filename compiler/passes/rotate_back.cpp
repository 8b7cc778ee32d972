// rotate-back: what turns of a loop load and multiply for the next turn is loaded and multiplied in that turn.
//
// `a = f(0); for k < n: { use a; if (k < n - 1) a = f(k + 1) }` is `for k < n: { a = f(k); use a }`: a carried tile that each turn but the
// last makes anew, of its number, what is around the loop, and memory that nobody writes meanwhile. What is before the loop must be the same
// code, for the turn in front of the first. Copies that run ahead of products, and products ahead of others, are the schedule's to choose.
#include "compiler/analysis/index_polynomial.h"
#include "compiler/analysis/same_value.h"
#include "compiler/analysis/thread_set.h"
#include "compiler/passes/dead_carried.h"
#include "compiler/passes/passes.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace tilery;
using namespace tilery::tile;

namespace {

/// Memory that others see, as far as is known.
bool writesMemory(Operation *root) {
  return root
      ->walk([](Operation *op) {
        if (isMemoryEffectFree(op) || op->hasTrait<OpTrait::HasRecursiveMemoryEffects>())
          return WalkResult::advance();
        auto effects = dyn_cast<MemoryEffectOpInterface>(op);
        SmallVector<MemoryEffects::EffectInstance> all;
        if (effects)
          effects.getEffects(all);
        bool writes = !effects || llvm::any_of(all, [](MemoryEffects::EffectInstance &effect) {
          return isa<MemoryEffects::Write>(effect.getEffect()) && effect.getResource() != BufferMemory::get();
        });
        return writes ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

bool startsAnew(DotOp dot) { return dot.getClear() && analysis::constantOf(dot.getClear()).value_or(0) != 0; }

/// The operands that what the op computes hangs on.
SmallVector<Value> operandsOf(Operation *op) {
  SmallVector<Value> operands(op->getOperands());
  if (auto dot = dyn_cast<DotOp>(op); dot && startsAnew(dot))
    operands.erase(llvm::find(operands, dot.getAcc()));
  return operands;
}

class Rotation {
public:
  explicit Rotation(scf::ForOp loop) : loop(loop) {}

  bool run() {
    auto low = analysis::constantOf(loop.getLowerBound());
    if (!low || analysis::constantOf(loop.getStep()) != 1 || writesMemory(loop))
      return false;
    for (Operation &before : llvm::make_range(loop->getBlock()->begin(), loop->getIterator()))
      if (writesMemory(&before))
        return false;
    first = *low;
    SmallVector<unsigned> found;
    for (unsigned i = 0; i < loop.getNumRegionIterArgs(); ++i)
      if (isPrepared(i))
        found.push_back(i);
    if (found.empty())
      return false;
    llvm::sort(found, [&](unsigned a, unsigned b) { return firstUse(a)->isBeforeInBlock(firstUse(b)); });
    for (unsigned i : found)
      compute(i);
    auto yield = loop.getBody()->getTerminator();
    for (unsigned i : found)
      yield->setOperand(i, loop.getRegionIterArg(i));
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(*loop.getBody())))
      if (isOpTriviallyDead(&op))
        op.erase();
    return true;
  }

private:
  bool isOutside(Value value) const { return !loop->isAncestor(value.getParentRegion()->getParentOp()); }

  /// True in each turn but the last, false there.
  bool isNotLast(Value condition) {
    auto compare = condition.getDefiningOp<arith::CmpIOp>();
    if (!compare || (compare.getPredicate() != arith::CmpIPredicate::slt && compare.getPredicate() != arith::CmpIPredicate::sgt))
      return false;
    // A counter's successor does not wrap where there is a turn; nor does what is one less than the end of such a loop.
    auto of = [](Value value) { return analysis::polynomialOf(value, analysis::Wrapping::any); };
    bool less = compare.getPredicate() == arith::CmpIPredicate::slt;
    auto left = of(compare.getOperand(!less)), right = of(compare.getOperand(less));
    auto counter = of(loop.getInductionVar()), end = of(loop.getUpperBound()), one = analysis::IndexPolynomial(1);
    return (left == counter && right == end - one) || (left == counter + one && right == end);
  }

  /// What a value is in turns that are not the last.
  Value inTheMiddle(Value value) {
    while (auto branch = value.getDefiningOp<scf::IfOp>()) {
      if (!loop->isAncestor(branch) || !isNotLast(branch.getCondition()))
        break;
      value = branch.thenYield().getOperand(cast<OpResult>(value).getResultNumber());
    }
    return value;
  }

  /// Computed from the turn's number, what is around the loop, and memory; `loads`: from memory, too.
  bool isOfTurn(Value value, bool &loads) {
    value = inTheMiddle(value);
    if (isOutside(value) || value == loop.getInductionVar())
      return true;
    auto known = ofTurn.find(value);
    if (known == ofTurn.end()) {
      bool own = false, is = isMadeOfTurn(value.getDefiningOp(), own);
      known = ofTurn.insert({value, std::pair(is, own)}).first;
    }
    loads |= known->second.second;
    return known->second.first;
  }

  bool isMadeOfTurn(Operation *op, bool &loads) {
    auto load = dyn_cast_or_null<LoadOp>(op);
    if (!op || op->getNumRegions() || !(isPure(op) || (load && !load.getIsVolatile())))
      return false;
    loads |= bool(load);
    return llvm::all_of(operandsOf(op), [&](Value operand) { return isOfTurn(operand, loads); });
  }

  /// The number that it is in the turn in front of the first, where it hangs on that alone.
  std::optional<int64_t> numberBefore(Value value) {
    if (auto known = numbersBefore.find(value); known != numbersBefore.end())
      return known->second;
    std::optional<int64_t> number = findNumberBefore(value);
    numbersBefore.insert({value, number});
    return number;
  }

  std::optional<int64_t> findNumberBefore(Value value) {
    if (value == loop.getInductionVar())
      return first - 1;
    Operation *op = value.getDefiningOp();
    if (auto number = analysis::constantOf(value))
      return number;
    if (!op || op->getNumRegions() || !isPure(op) || op->getNumOperands() == 0 || !value.getType().isSignlessInteger())
      return std::nullopt;
    SmallVector<std::optional<int64_t>> numbers;
    for (Value operand : op->getOperands()) {
      numbers.push_back(operand.getType().isSignlessInteger() ? numberBefore(operand) : std::nullopt);
      if (!numbers.back())
        return std::nullopt;
    }
    return analysis::folded(op, numbers);
  }

  /// What a value of the loop would be in the turn in front of the first is what one around the loop is.
  bool isSameBefore(Value value, Value outer) {
    value = inTheMiddle(value);
    if (isOutside(value))
      return analysis::isSameValue(value, outer);
    if (auto known = sameBefore.find({value, outer}); known != sameBefore.end())
      return known->second;
    bool is = compareBefore(value, outer);
    sameBefore.insert({{value, outer}, is});
    return is;
  }

  bool compareBefore(Value value, Value outer) {
    if (value.getType() != outer.getType())
      return false;
    if (value.getType().isSignlessInteger()) {
      auto number = numberBefore(value), other = numberBefore(outer);
      if (number && other)
        return number == other;
      analysis::IndexPolynomial rest;
      auto factor = analysis::polynomialOf(value).coefficient(loop.getInductionVar(), rest);
      if (factor * analysis::IndexPolynomial(first - 1) + rest == analysis::polynomialOf(outer))
        return true;
    }
    Operation *op = value.getDefiningOp(), *other = outer.getDefiningOp();
    if (!op || !other || op->getName() != other->getName() || op->getAttrDictionary() != other->getAttrDictionary() ||
        op->getNumResults() != 1 || other->getNumResults() != 1 || other->getNumRegions() ||
        (isa<LoadOp>(other) && other->getBlock() != loop->getBlock()))
      return false;
    SmallVector<Value> operands = operandsOf(op), others = operandsOf(other);
    return operands.size() == others.size() && llvm::all_of(llvm::zip(operands, others), [&](auto both) {
             return isSameBefore(std::get<0>(both), std::get<1>(both));
           });
  }

  bool isPrepared(unsigned number) {
    Value argument = loop.getRegionIterArg(number), next = loop.getYieldedValues()[number];
    bool loads = false, always = inTheMiddle(next) == next;
    return isa<RankedTensorType>(argument.getType()) && !argument.use_empty() && (always || loop.getResult(number).use_empty()) &&
           isOfTurn(next, loads) && loads && isSameBefore(next, loop.getInitArgs()[number]);
  }

  Operation *firstUse(unsigned number) {
    Operation *found = nullptr;
    for (Operation *user : loop.getRegionIterArg(number).getUsers())
      if (Operation *op = loop.getBody()->findAncestorOpInBlock(*user); !found || op->isBeforeInBlock(found))
        found = op;
    return found;
  }

  /// The value that a turn makes whose number is `made`'s; `made`: what there is of it so far.
  Value clone(OpBuilder &b, Value value, IRMapping &made) {
    value = inTheMiddle(value);
    if (isOutside(value) || made.contains(value))
      return made.lookupOrDefault(value);
    Operation *op = value.getDefiningOp();
    IRMapping operands;
    for (Value operand : operandsOf(op))
      operands.map(operand, clone(b, operand, made));
    if (auto dot = dyn_cast<DotOp>(op); dot && startsAnew(dot))
      operands.map(dot.getAcc(), Value(arith::ConstantOp::create(b, op->getLoc(), b.getZeroAttr(dot.getType()))));
    Value copy = b.clone(*op, operands)->getResult(0);
    made.map(value, copy);
    return copy;
  }

  void compute(unsigned number) {
    Value next = loop.getYieldedValues()[number], counter = loop.getInductionVar();
    OpBuilder b(firstUse(number));
    Location location = loop.getLoc();
    if (!inTurn.contains(counter)) {
      OpBuilder begin = OpBuilder::atBlockBegin(loop.getBody());
      Value step = arith::ConstantOp::create(begin, location, b.getIntegerAttr(counter.getType(), 1));
      inTurn.map(counter, Value(arith::SubIOp::create(begin, location, counter, step, arith::IntegerOverflowFlags::nsw)));
    }
    Value now = clone(b, next, inTurn);
    loop.getRegionIterArg(number).replaceAllUsesWith(now);
    if (loop.getResult(number).use_empty())
      return;
    b.setInsertionPointAfter(loop);
    if (!behind.contains(counter)) {
      Value most = arith::MaxSIOp::create(b, location, loop.getLowerBound(), loop.getUpperBound());
      Value one = arith::ConstantOp::create(b, location, b.getIntegerAttr(counter.getType(), 1));
      behind.map(counter, Value(arith::SubIOp::create(b, location, most, one)));
      end = b.saveInsertionPoint();
    }
    b.restoreInsertionPoint(end);
    loop.getResult(number).replaceAllUsesWith(clone(b, next, behind));
    end = b.saveInsertionPoint();
  }

  scf::ForOp loop;
  int64_t first = 0;
  // What was found of values, to which many paths may lead.
  DenseMap<Value, std::pair<bool, bool>> ofTurn;
  DenseMap<Value, std::optional<int64_t>> numbersBefore;
  DenseMap<std::pair<Value, Value>, bool> sameBefore;
  IRMapping inTurn, behind;
  OpBuilder::InsertPoint end;
};

struct RotateBack : PassWrapper<RotateBack, OperationPass<KernelOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(RotateBack)
  StringRef getArgument() const final { return "rotate-back"; }
  StringRef getDescription() const final { return "what a loop's turns load for the next turn is loaded there"; }
  void getDependentDialects(DialectRegistry &registry) const final { registry.insert<arith::ArithDialect>(); }

  void runOnOperation() final {
    SmallVector<scf::ForOp> loops;
    getOperation()->walk([&](scf::ForOp loop) {
      if (!loop.getBody()->getOps<DotOp>().empty())
        loops.push_back(loop);
    });
    bool any = false;
    for (scf::ForOp loop : loops)
      any |= Rotation(loop).run();
    if (any)
      removeDeadCarried(getOperation());
  }
};

} // namespace

std::unique_ptr<Pass> tilery::createRotateBack() { return std::make_unique<RotateBack>(); }
