// roll-steps: long straight-line code that repeats itself becomes a loop, so that code does not grow with the steps of loops that
// programs unroll (tl.static_range, Python's own loops). An iteration is as long as code may be: short code stays as it is.
#include "compiler/analysis/progression.h"
#include "compiler/analysis/repeated_steps.h"
#include "compiler/ir/Tile.h"
#include "compiler/passes/passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include <map>

using namespace mlir;
using namespace tilery;
using namespace tilery::analysis;

namespace {

/// Of how many numbers one is chosen in each iteration: 60,000 choices in 1600 steps, some 30 us.
constexpr unsigned longest_list = 128;

/// Types of values that loops carry.
bool isCarriable(Type type) { return isa<RankedTensorType, IntegerType, FloatType, IndexType, tile::PtrType>(type); }

/// A value of the steps before the present iteration.
struct Carried {
  unsigned op, result, back; // number in its step, of its result, how many steps back
  bool operator<(const Carried &other) const { return std::tie(op, result, back) < std::tie(other.op, other.result, other.back); }
};

/// One loop in the place of steps.
class Roller {
public:
  /// iteration: how many operations of steps an iteration has, if it has more than one step.
  Roller(RepeatedSteps &found, unsigned iteration)
      : steps(found.steps), before(found.before), chunk(std::max<size_t>(steps_back, iteration / steps.front().ops.size())),
        trips(steps.size() / chunk) {}

  /// False if the steps stay as they are.
  bool roll() {
    chooseChunk();
    if (trips < 2 || !findCarried() || !findConstants())
      return false;
    Operation *first = steps.front().ops.front();
    OpBuilder b(first);
    auto number = [&](size_t n) { return arith::ConstantOp::create(b, first->getLoc(), b.getI32IntegerAttr(n)); };
    SmallVector<Value> inits;
    for (auto [place, index] : carried)
      inits.push_back(before[place.back - 1][place.op]->getResult(place.result));
    loop = scf::ForOp::create(b, first->getLoc(), number(0), number(trips), number(1), inits);
    if (inits.empty()) // loops without results are made with their terminator
      loop.getBody()->getTerminator()->erase();
    body.emplace(OpBuilder::atBlockBegin(loop.getBody()));
    takeLater();
    moveFirst();
    for (size_t i = chunk * trips; i-- > chunk;)
      for (Operation *op : llvm::reverse(steps[i].ops))
        op->erase();
    return true;
  }

private:
  std::vector<Step> &steps;
  std::vector<SmallVector<Operation *>> &before;
  size_t chunk, trips;
  std::map<Carried, unsigned> carried;
  /// By step of an iteration, operation, operand.
  std::map<std::tuple<size_t, unsigned, unsigned>, Progression> progressions;
  scf::ForOp loop;
  std::optional<OpBuilder> body;

  bool carry(Carried place) {
    carried.try_emplace(place, 0);
    return place.back <= before.size() && isCarriable(steps.front().ops[place.op]->getResult(place.result).getType());
  }

  /// What an iteration takes of those before it, and what stands behind the loop.
  bool findCarried() {
    for (unsigned step = 0; step < steps_back; ++step)
      for (auto &operands : steps[step].operands)
        for (const StepOperand &operand : operands)
          if (operand.kind == StepOperand::step && operand.back > step &&
              !carry({operand.op, operand.result, operand.back - step}))
            return false;
    DenseSet<Operation *> last;
    for (unsigned back = 1; back <= steps_back; ++back) {
      Step &step = steps[chunk * trips - back];
      last.insert(step.ops.begin(), step.ops.end());
      for (auto [i, op] : llvm::enumerate(step.ops))
        for (OpResult result : op->getResults())
          if (llvm::any_of(result.getUsers(), [&](Operation *user) { return !isOf(last, user); }) &&
              !carry({unsigned(i), result.getResultNumber(), back}))
            return false;
    }
    unsigned next = 0;
    for (auto &[place, index] : carried)
      index = next++;
    return true;
  }

  bool isOf(const DenseSet<Operation *> &ops, Operation *user) const {
    return ops.contains(steps.front().ops.front()->getBlock()->findAncestorOpInBlock(*user));
  }

  /// Whether each number of an iteration with so many steps is computed of the iteration's number, not chosen from a list.
  bool computesNumbers(size_t count) const {
    for (size_t step = 0; step < count; ++step)
      for (auto [op, operands] : llvm::enumerate(steps[step].operands))
        for (auto [i, operand] : llvm::enumerate(operands)) {
          if (operand.kind != StepOperand::constant)
            continue;
          SmallVector<Attribute> values;
          for (size_t trip = 0; trip < steps.size() / count; ++trip)
            values.push_back(steps[trip * count + step].operands[op][i].attribute);
          std::optional<Progression> progression = progressionOf(values);
          if (!progression || progression->kind == Progression::listed)
            return false;
        }
    return true;
  }

  /// Of windows, say, a row an iteration: their numbers go on from row to row. Up to twice as long as others, or half; of two iterations
  /// any numbers would.
  void chooseChunk() {
    size_t usual = chunk;
    if (trips < 2 || computesNumbers(usual))
      return;
    for (size_t apart = 1; apart <= usual; ++apart)
      for (size_t other : {usual + apart, usual - apart})
        if (other >= std::max<size_t>(steps_back, usual / 2) && steps.size() / other >= 3 && computesNumbers(other)) {
          chunk = other, trips = steps.size() / other;
          return;
        }
  }

  bool findConstants() {
    for (size_t step = 0; step < chunk; ++step)
      for (auto [op, operands] : llvm::enumerate(steps[step].operands))
        for (auto [i, operand] : llvm::enumerate(operands)) {
          if (operand.kind != StepOperand::constant)
            continue;
          SmallVector<Attribute> values;
          for (size_t trip = 0; trip < trips; ++trip)
            values.push_back(steps[trip * chunk + step].operands[op][i].attribute);
          std::optional<Progression> progression = progressionOf(values);
          if (!progression || (progression->kind == Progression::listed && trips > longest_list))
            return false;
          progressions[{step, op, i}] = *progression;
        }
    return true;
  }

  /// What stands behind the loop takes its results.
  void takeLater() {
    DenseSet<Operation *> within;
    for (const Step &step : ArrayRef(steps).take_front(chunk * trips))
      within.insert(step.ops.begin(), step.ops.end());
    for (auto [place, index] : carried) {
      Value value = steps[chunk * trips - place.back].ops[place.op]->getResult(place.result);
      value.replaceUsesWithIf(loop.getResult(index), [&](OpOperand &use) { return !isOf(within, use.getOwner()); });
    }
  }

  /// The steps of the first iteration become the body.
  void moveFirst() {
    for (size_t step = 0; step < chunk; ++step)
      for (auto [op, each] : llvm::enumerate(steps[step].ops)) {
        for (auto [i, pair] : llvm::enumerate(llvm::zip_equal(operandsOf(each), steps[step].operands[op]))) {
          auto [place, operand] = pair;
          if (operand.kind == StepOperand::constant)
            place->set(constantAt({step, op, i}, operand, each->getLoc()));
          else if (operand.kind == StepOperand::step && operand.back > step)
            place->set(loop.getRegionIterArg(carried.at({operand.op, operand.result, unsigned(operand.back - step)})));
        }
        each->moveBefore(loop.getBody(), loop.getBody()->end());
      }
    SmallVector<Value> yielded;
    for (auto [place, index] : carried)
      yielded.push_back(steps[chunk - place.back].ops[place.op]->getResult(place.result));
    OpBuilder end = OpBuilder::atBlockEnd(loop.getBody());
    scf::YieldOp::create(end, loop.getLoc(), yielded);
  }

  /// The constant of an operand in the loop, computed at the body's beginning.
  Value constantAt(std::tuple<size_t, unsigned, unsigned> place, const StepOperand &operand, Location loc) {
    const Progression &progression = progressions[place];
    if (progression.kind == Progression::equal)
      return arith::ConstantOp::create(*body, loc, cast<TypedAttr>(operand.attribute));
    Value number = numberAt(progression, getElementTypeOrSelf(operand.type), loc);
    return isa<RankedTensorType>(operand.type) ? tile::SplatOp::create(*body, loc, operand.type, number).getResult() : number;
  }

  Value numberAt(const Progression &progression, Type type, Location loc) {
    switch (progression.kind) {
    case Progression::whole_floats:
      return arith::SIToFPOp::create(*body, loc, type, integerAt(progression, body->getI32Type(), loc));
    case Progression::rounded:
      return roundedAt(progression, type, loc);
    case Progression::listed:
      return chosenOf(progression.numbers, 0, loc);
    default:
      return integerAt(progression, type, loc);
    }
  }

  /// The number of this iteration, of those from iteration `begin` on: by halves.
  Value chosenOf(ArrayRef<TypedAttr> numbers, size_t begin, Location loc) {
    if (llvm::all_equal(numbers))
      return arith::ConstantOp::create(*body, loc, numbers.front());
    size_t half = numbers.size() / 2;
    Value low = chosenOf(numbers.take_front(half), begin, loc), high = chosenOf(numbers.drop_front(half), begin + half, loc);
    Value middle = arith::ConstantOp::create(*body, loc, body->getI32IntegerAttr(begin + half));
    Value isLow = arith::CmpIOp::create(*body, loc, arith::CmpIPredicate::slt, loop.getInductionVar(), middle);
    return arith::SelectOp::create(*body, loc, isLow, low, high);
  }

  Value integerAt(const Progression &progression, Type type, Location loc) {
    Value trip = loop.getInductionVar();
    unsigned width = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
    if (type.isIndex())
      trip = arith::IndexCastOp::create(*body, loc, type, trip);
    else if (width > 32)
      trip = arith::ExtSIOp::create(*body, loc, type, trip);
    else if (width < 32)
      trip = arith::TruncIOp::create(*body, loc, type, trip);
    Value step = arith::ConstantOp::create(*body, loc, IntegerAttr::get(type, progression.step));
    Value begin = arith::ConstantOp::create(*body, loc, IntegerAttr::get(type, progression.begin));
    return arith::AddIOp::create(*body, loc, begin, arith::MulIOp::create(*body, loc, trip, step));
  }

  Value roundedAt(const Progression &progression, Type type, Location loc) {
    auto number = [&](double value) { return arith::ConstantOp::create(*body, loc, body->getF64FloatAttr(value)); };
    Value trip = arith::SIToFPOp::create(*body, loc, body->getF64Type(), loop.getInductionVar());
    Value product = arith::MulFOp::create(*body, loc, trip, number(progression.by));
    return arith::TruncFOp::create(*body, loc, type, arith::AddFOp::create(*body, loc, number(progression.first), product));
  }
};

/// Constants of the regions within the block's operations stand in the block, where they may differ from step to step.
void hoistConstants(Block &block) {
  SmallVector<std::pair<Operation *, Operation *>> constants;
  for (Operation &op : block)
    if (op.getNumRegions() && !op.hasTrait<OpTrait::IsIsolatedFromAbove>())
      op.walk([&](Operation *each) {
        if (each != &op && each->hasTrait<OpTrait::ConstantLike>())
          constants.push_back({each, &op});
      });
  for (auto [constant, op] : constants)
    constant->moveBefore(op);
}

struct RollSteps : PassWrapper<RollSteps, OperationPass<tile::KernelOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(RollSteps)
  RollSteps() = default;
  RollSteps(const RollSteps &other) : PassWrapper(other) {}
  StringRef getArgument() const final { return "roll-steps"; }
  StringRef getDescription() const final { return "long straight-line code that repeats itself becomes a loop"; }
  void getDependentDialects(DialectRegistry &registry) const final { registry.insert<arith::ArithDialect, scf::SCFDialect>(); }

  // LLVM takes half a second for 1000 operations on tiles that call functions.
  Option<unsigned> least{*this, "least", llvm::cl::desc("operations from which on code is long"), llvm::cl::init(1024)};
  // Shorter iterations would hand tiles through memory more often.
  Option<unsigned> iteration{*this, "iteration", llvm::cl::desc("operations of an iteration, and of the longest step"),
                             llvm::cl::init(256)};

  void runOnOperation() final {
    SmallVector<Block *> blocks;
    getOperation().walk([&](Block *block) {
      if (block->getOperations().size() >= least)
        blocks.push_back(block);
    });
    for (Block *block : blocks) {
      hoistConstants(*block);
      // What is left before, between and behind loops may be long again, by another step.
      while (std::optional<RepeatedSteps> found = findRepeatedSteps(*block, least, iteration))
        if (!Roller(*found, iteration).roll())
          break;
    }
  }
};

} // namespace

std::unique_ptr<Pass> tilery::createRollSteps() { return std::make_unique<RollSteps>(); }
