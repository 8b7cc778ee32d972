#include "compiler/block/recognise/place_polynomials.h"

using namespace mlir;

namespace tilery::block {

Value placePolynomial(OpBuilder &builder, Location location, const analysis::IndexPolynomial &polynomial,
                      function_ref<Value(Value)> valueOf, unsigned bits) {
  Type type = builder.getIntegerType(bits);
  auto constant = [&](int64_t number) -> Value {
    return arith::ConstantOp::create(builder, location, builder.getIntegerAttr(type, APInt(bits, number, true, true)));
  };
  auto inBits = [&](Value value) -> Value {
    unsigned width = value.getType().getIntOrFloatBitWidth();
    if (width == bits)
      return value;
    return width > bits ? Value(arith::TruncIOp::create(builder, location, type, value))
                        : Value(arith::ExtSIOp::create(builder, location, type, value));
  };
  // Lower bits may be those of a sum that does not fit.
  auto exact = bits == 64 ? arith::IntegerOverflowFlags::nsw : arith::IntegerOverflowFlags::none;
  Value sum;
  for (auto &[monomial, coefficient] : polynomial.terms()) {
    Value term;
    for (Value atom : monomial) {
      Value factor = inBits(valueOf(atom));
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
