// open-remainders: x - (x / d) * d, as programs write what a quotient leaves (`pid - pid // batch * batch`), is a remainder: one coordinate,
// and not negative where x is not.
#include "compiler/analysis/index_polynomial.h"
#include "compiler/block/passes/passes.h"

using namespace mlir;

namespace tilery::block {
namespace {
using analysis::IndexPolynomial;
using analysis::polynomialOf;

/// The quotient that the number takes its divisor from, as often as it goes; nothing: it does something else.
tile::DivOp quotientOf(arith::SubIOp sub) {
  IndexPolynomial taken = polynomialOf(sub.getRhs()), whole = polynomialOf(sub.getLhs());
  if (taken.terms().size() != 1)
    return {};
  for (Value atom : taken.terms().begin()->first) {
    auto quotient = atom.getDefiningOp<tile::DivOp>();
    if (quotient && quotient.getMode() == tile::IntDivMode::trunc && polynomialOf(quotient.getLhs()) == whole &&
        taken == IndexPolynomial::of(atom) * polynomialOf(quotient.getRhs()))
      return quotient;
  }
  return {};
}
} // namespace

void runOpenRemainders(tile::KernelOp kernel) {
  kernel.walk([](arith::SubIOp sub) {
    tile::DivOp quotient = sub.getType().isSignlessInteger() ? quotientOf(sub) : nullptr;
    if (!quotient || quotient.getType().getIntOrFloatBitWidth() > sub.getType().getIntOrFloatBitWidth())
      return;
    OpBuilder builder(sub);
    Location location = sub.getLoc();
    Value whole = quotient.getLhs(), divisor = quotient.getRhs();
    Value rest = tile::RemOp::create(builder, location, whole.getType(), whole, divisor, tile::IntDivMode::trunc);
    if (analysis::constantOf(divisor).value_or(0) == 0) { // a quotient by 0 is 0, and leaves all
      Value none = arith::ConstantOp::create(builder, location, builder.getIntegerAttr(divisor.getType(), 0));
      Value isNone = arith::CmpIOp::create(builder, location, arith::CmpIPredicate::eq, divisor, none);
      rest = arith::SelectOp::create(builder, location, isNone, whole, rest);
    }
    if (rest.getType() != sub.getType())
      rest = arith::ExtSIOp::create(builder, location, sub.getType(), rest);
    sub.getResult().replaceAllUsesWith(rest);
  });
}

} // namespace tilery::block
