// unroll-arrays: loops by whose numbers a thread picks elements of its own arrays are unrolled, so that each element has a constant
// place and can be a register: memory of a thread's own is a thousand times as slow.
#include "compiler/ir/Tile.h"
#include "compiler/passes/passes.h"
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

using Numbers = DenseMap<Value, Attribute>; // of loops' variables

/// Those ops of ours that indices are made of. Null for what is below zero where modes differ.
IntegerAttr fold(Operation *op, ArrayRef<Attribute> operands) {
  if (operands.size() != 2 || !isa<tile::DivOp, tile::RemOp, tile::ShiftOp>(op))
    return nullptr;
  APInt x = cast<IntegerAttr>(operands[0]).getValue(), y = cast<IntegerAttr>(operands[1]).getValue();
  Type type = op->getResult(0).getType();
  if (x.isNegative() || y.isNegative())
    return nullptr;
  if (auto shift = dyn_cast<tile::ShiftOp>(op)) // by the width or more: 0, as APInt has it
    return IntegerAttr::get(type, shift.getMode() == tile::ShiftMode::left ? x.shl(y) : x.lshr(y));
  if (y.isZero())
    return IntegerAttr::get(type, y);
  return IntegerAttr::get(type, isa<tile::DivOp>(op) ? x.udiv(y) : x.urem(y));
}

/// The integer that a value is, by folding what it is computed of; null if that is not known.
IntegerAttr evaluate(Value value, const Numbers &numbers) {
  Attribute found = numbers.lookup(value);
  if (found || matchPattern(value, m_Constant(&found)))
    return dyn_cast<IntegerAttr>(found);
  Operation *op = value.getDefiningOp();
  if (!op || !isPure(op) || op->getNumRegions())
    return nullptr;
  SmallVector<Attribute> operands;
  for (Value operand : op->getOperands())
    if (!operands.emplace_back(evaluate(operand, numbers)))
      return nullptr;
  if (IntegerAttr known = fold(op, operands))
    return known;
  SmallVector<OpFoldResult> results;
  if (failed(op->fold(operands, results)) || results.empty())
    return nullptr;
  OpFoldResult result = results[cast<OpResult>(value).getResultNumber()];
  if (auto attribute = dyn_cast<Attribute>(result))
    return dyn_cast<IntegerAttr>(attribute);
  return evaluate(cast<Value>(result), numbers);
}

/// Begin, end and step of a loop.
std::optional<std::array<IntegerAttr, 3>> rangeOf(scf::ForOp loop, const Numbers &numbers) {
  std::array<IntegerAttr, 3> range{evaluate(loop.getLowerBound(), numbers), evaluate(loop.getUpperBound(), numbers),
                                   evaluate(loop.getStep(), numbers)};
  if (!range[0] || !range[1] || !range[2] || !range[2].getValue().isStrictlyPositive())
    return std::nullopt;
  return range;
}

/// The loops to unroll in the code of a block's threads.
class ArrayLoops {
public:
  explicit ArrayLoops(tile::ThreadsOp threads) : threads(threads) {
    threads.walk([&](tile::AllocOp array) {
      SetVector<Operation *> found;
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
    return isPure(op) && !op->getNumRegions() && op->getNumOperands() &&
           llvm::all_of(op->getOperands(), [&](Value operand) { return follow(operand, found); });
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
      auto [begin, end, step] = *range;
      for (APInt i = begin.getValue(); i.slt(end.getValue()); i += step.getValue()) {
        numbers[loop.getInductionVar()] = IntegerAttr::get(begin.getType(), i);
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
    auto number = [&](IntegerAttr value) { return arith::ConstantOp::create(b, loop.getLoc(), value); };
    auto [begin, end, step] = *range;
    loop.setLowerBound(number(begin));
    loop.setUpperBound(number(end));
    loop.setStep(number(step));
    if (begin.getValue().sge(end.getValue())) {
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

  void runOnOperation() override {
    getOperation().walk([](tile::ThreadsOp threads) {
      ArrayLoops found(threads);
      if (found.loops.empty() || !found.areShort())
        return;
      for (Operation *loop : found.loops)
        loop->setAttr(marker, UnitAttr::get(loop->getContext()));
      unroll(threads);
    });
  }
};

} // namespace

std::unique_ptr<Pass> tilery::createUnrollArrays() { return std::make_unique<UnrollArrays>(); }
