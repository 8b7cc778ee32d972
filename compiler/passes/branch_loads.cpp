// branch-loads: branches that only choose how a tile is loaded are loads.
//
// `if start + BLOCK > end: x = load(p, start + i < end, other=0) else: x = load(p)` is the first load: where the branch is not taken all of its
// lanes exist. `if begins: x = 0 else: x = load(p)` loads where nothing begins, and a number that is not 0 is chosen behind the load. A tile that
// comes out of a branch can be nobody's factor that is copied ahead, and no product's first sums; one that is loaded can.
#include "compiler/analysis/index_polynomial.h"
#include "compiler/analysis/interval.h"
#include "compiler/analysis/remembered.h"
#include "compiler/analysis/same_value.h"
#include "compiler/ir/Tile.h"
#include "compiler/ir/zero.h"
#include "compiler/passes/passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilery;
using namespace tilery::tile;

namespace {
using analysis::IndexPolynomial;

/// What is not negative where a number is `isTrue`, of comparisons that are joined.
void factsOf(Value condition, bool isTrue, SmallVectorImpl<IndexPolynomial> &facts, llvm::SmallPtrSetImpl<Operation *> &seen) {
  Operation *op = condition.getDefiningOp();
  if (!op || !seen.insert(op).second)
    return;
  if (isTrue ? isa<arith::AndIOp>(op) : isa<arith::OrIOp>(op))
    for (Value operand : op->getOperands())
      factsOf(operand, isTrue, facts, seen);
  auto compare = dyn_cast<arith::CmpIOp>(op);
  if (!compare)
    return;
  // Lanes that are loaded do not wrap; so what is compared is at most one behind them.
  auto of = [](Value value) { return analysis::polynomialOf(value, analysis::Wrapping::any); };
  IndexPolynomial x = of(compare.getLhs()), y = of(compare.getRhs()), one(1);
  using P = arith::CmpIPredicate;
  P predicate = isTrue ? compare.getPredicate() : arith::invertPredicate(compare.getPredicate());
  if (predicate == P::slt || predicate == P::sle)
    facts.push_back(predicate == P::slt ? y - x - one : y - x);
  else if (predicate == P::sgt || predicate == P::sge)
    facts.push_back(predicate == P::sgt ? x - y - one : x - y);
  else if (predicate == P::eq)
    facts.append({x - y, y - x});
}

/// Whether masks hold in every lane, as far as intervals of their lanes and what is not negative say.
class AllLanes {
public:
  explicit AllLanes(ArrayRef<IndexPolynomial> facts) : facts(facts) {}

  bool hold(Value mask) {
    return known.of(mask, [&] { return look(mask); });
  }

private:
  bool look(Value mask) {
    Operation *op = mask.getDefiningOp();
    if (!op)
      return false;
    if (matchPattern(mask, m_One()))
      return true;
    if (isa<arith::AndIOp>(op))
      return hold(op->getOperand(0)) && hold(op->getOperand(1));
    if (isa<SplatOp, BroadcastOp, ExpandDimsOp, ReshapeOp>(op))
      return hold(op->getOperand(0));
    auto compare = dyn_cast<arith::CmpIOp>(op);
    if (!compare)
      return false;
    using P = arith::CmpIPredicate;
    switch (compare.getPredicate()) {
    case P::slt:
      return isNotNegative(compare.getRhs(), compare.getLhs(), 1);
    case P::sle:
      return isNotNegative(compare.getRhs(), compare.getLhs(), 0);
    case P::sgt:
      return isNotNegative(compare.getLhs(), compare.getRhs(), 1);
    case P::sge:
      return isNotNegative(compare.getLhs(), compare.getRhs(), 0);
    case P::ne: // `where(mask, 1, 0) != 0`, as `.to(tl.int1)` says it
      return isZero(compare.getRhs()) && isOneWhereTrue(compare.getLhs());
    default:
      return false;
    }
  }

  bool isOneWhereTrue(Value number) {
    while (auto extend = number.getDefiningOp<arith::ExtSIOp>())
      number = extend.getIn();
    auto select = number.getDefiningOp<arith::SelectOp>();
    std::optional<analysis::Interval> taken = select ? analysis::intervalOf(select.getTrueValue()) : std::nullopt;
    return taken && (taken->least > 0 || taken->greatest < 0) && hold(select.getCondition());
  }

  /// greater - lesser - apart >= 0 in all lanes.
  bool isNotNegative(Value greater, Value lesser, int64_t apart) {
    auto of = [](Value value) { return analysis::polynomialOf(value, analysis::Wrapping::any); };
    IndexPolynomial all = of(greater) - of(lesser) - IndexPolynomial(apart), scalar;
    for (auto &[monomial, coefficient] : all.terms()) {
      bool isTile = llvm::any_of(monomial, [](Value atom) { return isa<RankedTensorType>(atom.getType()); });
      std::optional<analysis::Interval> lanes = isTile && monomial.size() == 1 ? analysis::intervalOf(monomial[0]) : std::nullopt;
      if (isTile && !lanes)
        return false;
      scalar = scalar + (isTile ? IndexPolynomial(coefficient * (coefficient < 0 ? lanes->greatest : lanes->least))
                                : IndexPolynomial::term(monomial, coefficient));
    }
    auto isAtLeast = [&](const IndexPolynomial &value) { return value.constant().value_or(-1) >= 0; };
    return isAtLeast(scalar) || llvm::any_of(facts, [&](const IndexPolynomial &fact) { return isAtLeast(scalar - fact); });
  }

  ArrayRef<IndexPolynomial> facts;
  analysis::Remembered<bool> known;
};

NamedAttrList withoutFlags(Operation *op) {
  NamedAttrList list(op->getAttrDictionary());
  list.erase("overflowFlags");
  return list;
}

/// One value, or computed in the same way in both arms, whether it is known not to wrap or not: lanes that both load do not. `seen`: pairs
/// that were asked for; one that is not the same ends the question.
bool isSameInArms(Value a, Value b, llvm::DenseSet<std::pair<Value, Value>> &seen) {
  if (analysis::isSameValue(a, b) || !seen.insert({a, b}).second)
    return true;
  Operation *x = a.getDefiningOp(), *y = b.getDefiningOp();
  return x && y && x->getName() == y->getName() && withoutFlags(x) == withoutFlags(y) && a.getType() == b.getType() &&
         x->getNumOperands() == y->getNumOperands() && x->getNumOperands() && x->getNumResults() == 1 && !x->getNumRegions() &&
         isPure(x) && llvm::all_of(llvm::zip(x->getOperands(), y->getOperands()), [&](auto both) {
           return isSameInArms(std::get<0>(both), std::get<1>(both), seen);
         });
}

bool isSameInArms(Value a, Value b) {
  llvm::DenseSet<std::pair<Value, Value>> seen;
  return isSameInArms(a, b, seen);
}

/// The load that an arm's result is, through what leaves 0 as it is.
LoadOp loadBehind(Value result, Region &arm) {
  Operation *op = result.getDefiningOp();
  while (op && isa<arith::ExtFOp, arith::TruncFOp, arith::SIToFPOp, arith::UIToFPOp, arith::BitcastOp>(op) && op->hasOneUse())
    op = op->getOperand(0).getDefiningOp();
  auto load = dyn_cast_or_null<LoadOp>(op);
  return load && load->hasOneUse() && load->getParentRegion() == &arm ? load : LoadOp();
}

PointerAccessOp placeOf(LoadOp load) {
  return load && isa<RankedTensorType>(load.getType()) ? load.getPlace().getDefiningOp<PointerAccessOp>() : PointerAccessOp();
}

/// One result of a branch as a load: which arm's, whether the branch decides on its lanes, and what they are where it is not taken, if not 0.
struct Chosen {
  LoadOp load;
  bool isElse = false, isMasked = false;
  Value otherwise;
};

std::optional<Chosen> choose(scf::IfOp branch, unsigned number) {
  Value arms[2] = {branch.thenYield().getOperand(number), branch.elseYield().getOperand(number)};
  LoadOp loads[2] = {loadBehind(arms[0], branch.getThenRegion()), loadBehind(arms[1], branch.getElseRegion())};
  for (bool isElse : {false, true})
    if (LoadOp load = loads[isElse];
        placeOf(load) && isPlusZero(arms[!isElse]) && (!load.getOther() || isPlusZero(load.getOther())))
      return Chosen{load, isElse, true, {}};
    else if (SplatElementsAttr number; placeOf(load) && matchPattern(arms[!isElse], m_Constant(&number)))
      return Chosen{load, isElse, true, arms[!isElse]};
  if (!placeOf(loads[0]) || !placeOf(loads[1]) || arms[0] != loads[0].getResult() || arms[1] != loads[1].getResult() ||
      !isSameInArms(placeOf(loads[0]).getPtrs(), placeOf(loads[1]).getPtrs()))
    return std::nullopt;
  for (bool isElse : {false, true}) { // the other arm loads all lanes, which this one's mask leaves there
    Value mask = placeOf(loads[isElse]).getMask();
    if (placeOf(loads[!isElse]).getMask())
      continue;
    SmallVector<IndexPolynomial> facts;
    llvm::SmallPtrSet<Operation *, 8> seen;
    factsOf(branch.getCondition(), isElse, facts, seen);
    if (!mask || AllLanes(facts).hold(mask))
      return Chosen{loads[isElse], isElse, false, {}};
  }
  return std::nullopt;
}

/// Nothing but what the results need, which may as well be computed where it is not asked for.
bool isOnlyOf(Region &arm, ArrayRef<LoadOp> loads) {
  return llvm::all_of(arm.front().without_terminator(), [&](Operation &op) {
    auto load = dyn_cast<LoadOp>(op);
    return load ? !load.getIsVolatile() && llvm::is_contained(loads, load) : isPure(&op) && !op.getNumRegions();
  });
}

void becomeLoads(scf::IfOp branch) {
  if (!branch.getNumResults() || branch.getElseRegion().empty())
    return;
  SmallVector<Chosen> chosen;
  SmallVector<LoadOp> loads;
  for (unsigned i = 0; i < branch.getNumResults(); ++i) {
    std::optional<Chosen> one = choose(branch, i);
    if (!one)
      return;
    chosen.push_back(*one);
    for (Value arm : {branch.thenYield().getOperand(i), branch.elseYield().getOperand(i)})
      for (Region *region : {&branch.getThenRegion(), &branch.getElseRegion()})
        if (LoadOp load = loadBehind(arm, *region))
          loads.push_back(load);
  }
  if (!isOnlyOf(branch.getThenRegion(), loads) || !isOnlyOf(branch.getElseRegion(), loads))
    return;
  SmallVector<Value> results;
  for (auto [i, one] : llvm::enumerate(chosen))
    results.push_back((one.isElse ? branch.elseYield() : branch.thenYield()).getOperand(i));
  for (Region *arm : {&branch.getThenRegion(), &branch.getElseRegion()})
    for (Operation &op : llvm::make_early_inc_range(arm->front().without_terminator()))
      op.moveBefore(branch);
  OpBuilder b(branch);
  for (auto [one, result] : llvm::zip(chosen, results)) {
    if (!one.isMasked)
      continue;
    PointerAccessOp place = placeOf(one.load);
    b.setInsertionPoint(one.load);
    Location location = one.load.getLoc();
    Value whether = branch.getCondition();
    if (one.isElse)
      whether = arith::XOrIOp::create(b, location, whether, arith::ConstantOp::create(b, location, b.getBoolAttr(true)));
    auto shape = cast<RankedTensorType>(one.load.getType()).getShape();
    Value mask = SplatOp::create(b, location, RankedTensorType::get(shape, b.getI1Type()), whether), all = mask;
    if (place.getMask())
      mask = arith::AndIOp::create(b, location, place.getMask(), mask);
    one.load.getPlaceMutable().assign(PointerAccessOp::create(b, place.getLoc(), place.getType(), place.getPtrs(), mask));
    if (!one.load.getOther())
      one.load.getOtherMutable().assign(arith::ConstantOp::create(b, location, b.getZeroAttr(one.load.getType())));
    if (one.otherwise) {
      b.setInsertionPoint(branch);
      result = arith::SelectOp::create(b, location, all, result, one.otherwise);
    }
  }
  branch.replaceAllUsesWith(results);
  branch.erase();
  for (LoadOp load : loads)
    if (llvm::none_of(chosen, [&](const Chosen &one) { return one.load == load; }))
      load.erase();
}

struct BranchLoads : PassWrapper<BranchLoads, OperationPass<KernelOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(BranchLoads)
  StringRef getArgument() const final { return "branch-loads"; }
  StringRef getDescription() const final { return "branches that only choose how a tile is loaded are loads"; }
  void runOnOperation() final {
    SmallVector<scf::IfOp> branches; // inner ones first
    getOperation().walk([&](scf::IfOp branch) { branches.push_back(branch); });
    llvm::for_each(branches, becomeLoads);
  }
};

} // namespace

std::unique_ptr<Pass> tilery::createBranchLoads() { return std::make_unique<BranchLoads>(); }
