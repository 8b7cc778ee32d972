#include "compiler/block/place_polynomials.h"

using namespace mlir;

namespace tilery::block {

Value placePolynomial(OpBuilder &builder, Location location, const analysis::IndexPolynomial &polynomial,
                      function_ref<Value(Value)> valueOf) {
  Type i64 = builder.getI64Type();
  auto constant = [&](int64_t number) -> Value {
    return arith::ConstantOp::create(builder, location, builder.getI64IntegerAttr(number));
  };
  constexpr auto exact = arith::IntegerOverflowFlags::nsw;
  Value sum;
  for (auto &[monomial, coefficient] : polynomial.terms()) {
    Value term;
    for (Value atom : monomial) {
      Value factor = valueOf(atom);
      if (factor.getType() != i64)
        factor = arith::ExtSIOp::create(builder, location, i64, factor);
      term = term ? Value(arith::MulIOp::create(builder, location, term, factor, exact)) : factor;
    }
    if (!term)
      term = constant(coefficient);
    else if (coefficient != 1)
      term = arith::MulIOp::create(builder, location, term, constant(coefficient), exact);
    sum = sum ? Value(arith::AddIOp::create(builder, location, sum, term, exact)) : term;
  }
  return sum ? sum : constant(0);
}

} // namespace tilery::block
