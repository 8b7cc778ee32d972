// place-choices: places that a condition chooses, in accesses whose lanes it decides.
//
// Programs keep lanes that their mask leaves out at a place that surely exists (`tl.load(p + tl.where(mask, i, 0), mask)`). Of such places
// nothing is known; of the lanes that exist they are `p + i`, a row. Where the mask does not say how the choice ends, the load is two: one of
// the lanes that are at `p + i`, one of those that share a place.
#include "compiler/passes/passes.h"
#include "compiler/passes/separable.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace tilery;
using namespace tilery::tile;

namespace {

/// Conditions that hold in all lanes.
using Facts = llvm::SmallSetVector<Value, 8>;

void addFacts(Value mask, Facts &facts) {
  if (auto both = mask.getDefiningOp<arith::AndIOp>()) {
    addFacts(both.getLhs(), facts);
    addFacts(both.getRhs(), facts);
  } else {
    facts.insert(mask);
  }
}

bool isShapeOp(Operation *op) { return isa<BroadcastOp, ExpandDimsOp, ReshapeOp>(op); }

/// The op behind a value that choices are followed through: what it gives in a lane hangs on its operands in one lane.
Operation *laneOp(Value value) {
  Operation *op = value.getDefiningOp();
  bool isTile = isa<RankedTensorType>(value.getType()) && op && op->getNumResults() == 1 && isMemoryEffectFree(op);
  return isTile && (isShapeOp(op) || OpTrait::hasElementwiseMappableTraits(op)) ? op : nullptr;
}

arith::SelectOp choiceOf(Operation *op) {
  auto choice = dyn_cast<arith::SelectOp>(op);
  return choice && isa<RankedTensorType>(choice.getCondition().getType()) ? choice : arith::SelectOp();
}

constexpr unsigned deepest = 200; // a longer chain is generated code, not an address

/// Tiles as they are in lanes of which something is known.
class Lanes {
public:
  /// `fails`: null, or a condition that holds in none of them.
  Lanes(OpBuilder &b, Facts facts, Value fails = {}) : b(b), facts(std::move(facts)), fails(fails) {}

  Value of(Value value, unsigned depth = 0) {
    if (auto known = results.find(value); known != results.end())
      return known->second;
    Operation *op = depth < deepest ? laneOp(value) : nullptr;
    Value result = op ? compute(op, depth + 1) : value;
    results[value] = result;
    return result;
  }

private:
  Value compute(Operation *op, unsigned depth) {
    if (arith::SelectOp choice = choiceOf(op)) {
      if (choice.getCondition() == fails)
        return of(choice.getFalseValue(), depth);
      Facts asked;
      addFacts(choice.getCondition(), asked);
      if (llvm::all_of(asked, [&](Value fact) { return facts.contains(fact); }))
        return of(choice.getTrueValue(), depth);
    }
    SmallVector<Value> operands;
    if (isShapeOp(op))
      operands.push_back(Lanes(b, before(op)).of(op->getOperand(0), depth));
    else
      for (Value operand : op->getOperands())
        operands.push_back(of(operand, depth));
    auto quotient = dyn_cast<DivOp>(op);
    bool downwards = quotient && quotient.getMode() == IntDivMode::trunc && isWhole(quotient);
    if (!downwards && llvm::equal(operands, op->getOperands()))
      return op->getResult(0);
    Operation *copy = b.clone(*op);
    copy->setOperands(operands);
    if (downwards)
      cast<DivOp>(copy).setMode(IntDivMode::floor);
    return copy->getResult(0);
  }

  /// Whether nothing is left of a number divided by a constant: downwards it is the same quotient, of which more is known.
  bool isWhole(DivOp quotient) {
    auto divisor = constantOf(quotient.getRhs());
    return divisor && *divisor > 0 && llvm::any_of(facts, [&](Value fact) {
             auto compare = fact.getDefiningOp<arith::CmpIOp>();
             auto rest = compare ? compare.getLhs().getDefiningOp<RemOp>() : RemOp();
             return rest && compare.getPredicate() == arith::CmpIPredicate::eq && constantOf(compare.getRhs()) == 0 &&
                    rest.getLhs() == quotient.getLhs() && rest.getRhs() == quotient.getRhs();
           });
  }

  /// What is known of the lanes of a shape op's operand: conditions that were shaped alike hold there.
  Facts before(Operation *op) {
    Facts result;
    for (Value fact : facts)
      if (Operation *shaped = fact.getDefiningOp();
          shaped && shaped->getName() == op->getName() && shaped->getAttrs() == op->getAttrs() &&
          shapeOf(shaped->getOperand(0).getType()) == shapeOf(op->getOperand(0).getType()))
        addFacts(shaped->getOperand(0), result);
    return result;
  }

  OpBuilder &b;
  Facts facts;
  Value fails;
  DenseMap<Value, Value> results;
};

struct PlaceChoices : PassWrapper<PlaceChoices, OperationPass<KernelOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PlaceChoices)
  StringRef getArgument() const final { return "place-choices"; }
  StringRef getDescription() const final { return "places that a condition chooses, where the access's mask decides it"; }
  explicit PlaceChoices(bool split) : split(split) {}

  void runOnOperation() final {
    choices.clear();
    SmallVector<PointerAccessOp> accesses;
    getOperation().walk([&](PointerAccessOp op) { accesses.push_back(op); });
    for (PointerAccessOp access : accesses) {
      Facts facts;
      if (access.getMask())
        addFacts(access.getMask(), facts);
      OpBuilder b(access);
      access.getPtrsMutable().assign(Lanes(b, facts).of(access.getPtrs()));
      if (split)
        splitLoads(access, facts);
    }
  }

private:
  /// The conditions of choices among the elements of a tile that are chosen as they lie there.
  Facts conditionsOf(Value value, unsigned depth = 0) {
    if (auto known = choices.find(value); known != choices.end())
      return known->second;
    Facts result;
    if (Operation *op = depth < deepest ? laneOp(value) : nullptr) {
      if (arith::SelectOp choice = choiceOf(op))
        result.insert(choice.getCondition());
      for (Value operand : op->getOperands())
        for (Value condition : conditionsOf(operand, depth + 1))
          result.insert(condition);
    }
    return choices[value] = result;
  }

  /// How many dimensions of places are no row, with a number for places without dimensions of their own.
  static unsigned gathered(OpBuilder &b, Location loc, Value ptrs) {
    auto form = SeparableAnalysis(b, loc).analyse(ptrs);
    return form && form->base ? llvm::count_if(form->vectors, [](Value v) { return bool(v); }) : 100;
  }

  void splitLoads(PointerAccessOp access, const Facts &facts) {
    Facts left = conditionsOf(access.getPtrs());
    if (left.size() != 1 || left[0].getType() != tileOf(access, IntegerType::get(&getContext(), 1)))
      return;
    auto isPlain = [](Operation *user) { return isa<LoadOp>(user) && !cast<LoadOp>(user).getIsVolatile(); };
    if (!llvm::all_of(access->getUsers(), isPlain))
      return;
    OpBuilder b(access);
    Location loc = access.getLoc();
    Value condition = left[0];
    Facts chosen = facts;
    addFacts(condition, chosen);
    Value first = Lanes(b, chosen).of(access.getPtrs()), second = Lanes(b, facts, condition).of(access.getPtrs());
    unsigned inFirst = gathered(b, loc, first), inSecond = gathered(b, loc, second);
    if (std::min(inFirst, inSecond) || inFirst + inSecond >= gathered(b, loc, access.getPtrs()))
      return;
    auto at = [&](Value ptrs, Value mask) {
      if (access.getMask())
        mask = arith::AndIOp::create(b, loc, access.getMask(), mask);
      return PointerAccessOp::create(b, loc, access.getType(), ptrs, mask).getResult();
    };
    Value all = arith::ConstantOp::create(b, loc, DenseElementsAttr::get(cast<ShapedType>(condition.getType()), true));
    Value where = at(first, condition), elsewhere = at(second, arith::XOrIOp::create(b, loc, condition, all));
    for (Operation *user : llvm::make_early_inc_range(access->getUsers())) {
      b.setInsertionPointAfter(user);
      auto load = cast<LoadOp>(user), rest = cast<LoadOp>(b.clone(*user));
      load.replaceAllUsesWith(rest.getResult());
      load.getPlaceMutable().assign(where);
      rest.getPlaceMutable().assign(elsewhere);
      rest.getOtherMutable().assign(load.getResult());
    }
  }

  static Type tileOf(PointerAccessOp access, Type element) {
    return RankedTensorType::get(cast<RankedTensorType>(access.getPtrs().getType()).getShape(), element);
  }

  bool split;
  DenseMap<Value, Facts> choices;
};

} // namespace

std::unique_ptr<Pass> tilery::createPlaceChoices(bool split) { return std::make_unique<PlaceChoices>(split); }
