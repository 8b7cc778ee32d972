#include "compiler/analysis/sign.h"

using namespace mlir;

namespace tilery::analysis {
namespace {
constexpr unsigned deepest = 24;    // of an expression that is looked through
constexpr unsigned mostBounded = 4; // numbers of a polynomial that are replaced by their bounds

bool isKernelArgument(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  return argument && isa<tile::KernelOp>(argument.getOwner()->getParentOp()) && argument.getType().isSignlessInteger() &&
         argument.getType().getIntOrFloatBitWidth() >= 8;
}
/// Where the loop ends whose turns the number counts: it is less.
Value endOf(Value counter) {
  auto argument = dyn_cast<BlockArgument>(counter);
  Operation *op = argument ? argument.getOwner()->getParentOp() : nullptr;
  if (auto loop = dyn_cast_or_null<scf::ForOp>(op); loop && argument == loop.getInductionVar())
    return loop.getUpperBound();
  auto product = dyn_cast_or_null<tile::ContractOp>(op);
  return product ? product.getSteps() : Value();
}
} // namespace

bool hostKnows(const IndexPolynomial::Monomial &monomial) {
  return llvm::all_of(monomial, [](Value atom) { return isKernelArgument(atom) || atom.getDefiningOp<tile::NumProgramsOp>(); });
}

bool hostKnows(const IndexPolynomial &polynomial) {
  return llvm::all_of(polynomial.terms(), [](auto &term) { return hostKnows(term.first); });
}

bool SignAnalysis::assume(const IndexPolynomial &value) {
  if (std::optional<int64_t> constant = value.constant())
    return *constant >= 0;
  if (!llvm::is_contained(assumed, value))
    assumed.push_back(value);
  return true;
}

bool SignAnalysis::notNegative(const IndexPolynomial &polynomial) { return byTerms(polynomial) || byBounds(polynomial); }

bool SignAnalysis::byTerms(const IndexPolynomial &polynomial) {
  size_t before = assumed.size();
  IndexPolynomial ofHost = polynomial.where([](auto &monomial) { return hostKnows(monomial); });
  bool result = llvm::all_of(polynomial.terms(), [&](auto &term) {
    return hostKnows(term.first) || (term.second > 0 && llvm::all_of(term.first, [&](Value each) { return atom(each); }));
  });
  result = result && assume(ofHost);
  if (!result)
    assumed.truncate(before);
  return result;
}

bool SignAnalysis::byBounds(const IndexPolynomial &polynomial) {
  if (bounded >= mostBounded || depth >= deepest)
    return false;
  auto with = [&](auto &term, Value bound, int64_t less = 0) {
    IndexPolynomial scale(term.second), atMost = polynomialOf(bound, wrapping) - IndexPolynomial(less);
    IndexPolynomial replaced = polynomial - scale * IndexPolynomial::of(term.first[0]) + scale * atMost;
    // That loops have few turns is nothing to ask of a launch.
    if (less && llvm::any_of(replaced.terms(), [](auto &each) { return each.second < 0 && hostKnows(each.first); }))
      return false;
    ++bounded, ++depth;
    bool result = notNegative(replaced);
    --bounded, --depth;
    return result;
  };
  SmallVector<std::pair<IndexPolynomial::Monomial, int64_t>> rests;
  size_t before = assumed.size();
  for (auto &term : polynomial.terms()) {
    if (term.first.size() != 1)
      continue;
    if (Value end = term.second < 0 ? endOf(term.first[0]) : Value(); end && with(term, end, 1))
      return true;
    Operation *op = term.first[0].getDefiningOp();
    if ((term.second > 0 && isa_and_nonnull<arith::MinSIOp>(op)) || (term.second < 0 && isa_and_nonnull<arith::MaxSIOp>(op))) {
      bool both = with(term, op->getOperand(0)) && with(term, op->getOperand(1));
      if (!both)
        assumed.truncate(before);
      return both;
    }
    if (auto rest = dyn_cast_or_null<tile::RemOp>(op); rest && term.second < 0 && rest.getMode() == tile::IntDivMode::trunc)
      rests.push_back(term);
  }
  for (auto &term : rests) // of what is not negative: at most that
    if (Value whole = term.first[0].getDefiningOp()->getOperand(0); notNegative(whole) && with(term, whole))
      return true;
  assumed.truncate(before);
  return false;
}

bool SignAnalysis::notNegative(Value scalar) { return notNegative(polynomialOf(scalar, wrapping)); }

/// True if it is not negative where the loop begins, nor what a turn makes of such a number.
bool SignAnalysis::carried(BlockArgument argument) {
  Operation *loop = argument.getOwner()->getParentOp();
  unsigned number = argument.getArgNumber();
  SmallVector<Value, 2> from;
  if (auto each = dyn_cast<scf::ForOp>(loop); each && number > 0) {
    from = {each.getInitArgs()[number - 1], each.getYieldedValues()[number - 1]};
  } else if (auto each = dyn_cast<scf::WhileOp>(loop)) {
    if (argument.getOwner() == each.getAfterBody())
      from = {each.getConditionOp().getArgs()[number]};
    else
      from = {each.getInits()[number], each.getYieldOp()->getOperand(number)};
  } else {
    return false;
  }
  if (!argument.getType().isSignlessInteger() || depth >= deepest)
    return false;
  if (!believed.insert(argument).second)
    return true;
  Wrapping outer = std::exchange(wrapping, Wrapping::any);
  unsigned outerBounded = std::exchange(bounded, 0);
  ++depth;
  bool result = llvm::all_of(from, [&](Value value) { return notNegative(value); });
  --depth;
  bounded = outerBounded;
  wrapping = outer;
  believed.erase(argument);
  return result;
}

bool SignAnalysis::atom(Value value) {
  if (isKernelArgument(value))
    return assume(IndexPolynomial::of(value));
  if (depth >= deepest)
    return false;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    if (loop && argument == loop.getInductionVar()) { // steps are positive
      ++depth;
      bool result = notNegative(loop.getLowerBound());
      --depth;
      return result;
    }
    if (isa<tile::ContractOp>(argument.getOwner()->getParentOp())) // the number of a step
      return true;
    return carried(argument);
  }
  ++depth;
  auto of = [&](Value operand) { return notNegative(operand); };
  auto both = [&](Operation *op) { return of(op->getOperand(0)) && of(op->getOperand(1)); };
  auto either = [&](Operation *op) { return of(op->getOperand(0)) || of(op->getOperand(1)); };
  bool result = llvm::TypeSwitch<Operation *, bool>(value.getDefiningOp())
                    .Case<tile::ProgramIdOp, tile::NumProgramsOp, arith::ExtUIOp>([](Operation *) { return true; })
                    .Case([&](tile::DivOp op) {
                      if (op.getMode() == tile::IntDivMode::unsigned_)
                        return both(op);
                      of(op.getRhs()); // for its assumptions
                      return of(op.getLhs());
                    })
                    .Case([&](tile::RemOp op) {
                      return op.getMode() == tile::IntDivMode::trunc   ? of(op.getLhs())
                             : op.getMode() == tile::IntDivMode::floor ? of(op.getRhs())
                                                                       : both(op);
                    })
                    .Case([&](tile::ShiftOp op) { return op.getMode() == tile::ShiftMode::right_signed && of(op.getLhs()); })
                    .Case<arith::MinSIOp>(both)
                    .Case<arith::MaxSIOp, arith::AndIOp>(either)
                    .Case([&](arith::SelectOp op) { return of(op.getTrueValue()) && of(op.getFalseValue()); })
                    .Case([&](arith::TruncIOp op) { // of a number that fits
                      return bitEnumContainsAny(op.getOverflowFlags(), arith::IntegerOverflowFlags::nsw) && of(op.getIn());
                    })
                    .Default([](Operation *) { return false; });
  --depth;
  return result;
}

} // namespace tilery::analysis
