#include "compiler/analysis/sign.h"

using namespace mlir;

namespace tilery::analysis {
namespace {
constexpr unsigned deepest = 24; // of an expression that is looked through

bool isKernelArgument(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  return argument && isa<tile::KernelOp>(argument.getOwner()->getParentOp()) && argument.getType().isSignlessInteger() &&
         argument.getType().getIntOrFloatBitWidth() >= 8;
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

bool SignAnalysis::notNegative(const IndexPolynomial &polynomial) {
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

bool SignAnalysis::notNegative(Value scalar) { return notNegative(polynomialOf(scalar)); }

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
    return isa<tile::ContractOp>(argument.getOwner()->getParentOp()); // the number of a step
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
