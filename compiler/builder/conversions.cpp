// Conversions between element types.
#include "compiler/builder/impl.h"

namespace tilery {
namespace arith = mlir::arith;

/// `x` cut off at the greatest number of an 8-bit float, where its type has numbers beyond; a NaN stays one.
static Value saturated(Builder &self, const Value &x, DType to) {
  double greatest = greatestNumber(to);
  if (greatestNumber(x.dtype()) <= greatest)
    return x;
  auto literal = [&](double number) { return isFloat(x.dtype()) ? Literal(number) : Literal(int64_t(number)); };
  Value cut = self.select(self.binary(BinaryOp::Gt, x, literal(greatest)), literal(greatest), x);
  if (isUnsigned(x.dtype()))
    return cut;
  return self.select(self.binary(BinaryOp::Lt, x, literal(-greatest)), literal(-greatest), cut);
}

/// An integer as a float, what does not fit cut off. Integers of up to 32 bits are exact in f64. Of others the nearest f64 of the
/// magnitude is one step too large, or right; cut off once more where `to` is narrower it stays cut off.
static Value integerTowardsZero(Builder &self, const Value &x, DType to) {
  if (bitWidth(x.dtype()) <= 32)
    return self.cast(self.cast(x, DType::F64), to, true);
  Value size = x, negative = x;
  if (isSigned(x.dtype())) {
    negative = self.binary(BinaryOp::Lt, x, Literal(int64_t(0)));
    size = self.cast(self.select(negative, self.unary(UnaryOp::Neg, x), x), DType::U64);
  }
  Value nearest = self.cast(size, DType::F64);
  Value beyond = self.binary(BinaryOp::Ge, nearest, Literal(18446744073709551616.0)); // 2^64: no integer of 64 bits
  Value above = self.binary(BinaryOp::LogicalOr, beyond, self.binary(BinaryOp::Gt, self.cast(nearest, DType::U64), size));
  Value before = self.bitcast(self.binary(BinaryOp::Sub, self.bitcast(nearest, DType::U64), Literal(uint64_t(1))), DType::F64);
  Value cut = self.select(above, before, nearest);
  if (isSigned(x.dtype()))
    cut = self.select(negative, self.unary(UnaryOp::Neg, cut), cut);
  return self.cast(cut, to, true);
}

static mlir::Value convertNumber(Builder::Impl &impl, mlir::Value x, const Type &from, DType to, bool towardsZero) {
  mlir::Type result = impl.lower(Type{to, from.shape});
  DType source = from.element;
  bool fromFloat = isFloat(source), toFloat = isFloat(to);
  if (fromFloat && toFloat) {
    if (bitWidth(source) < bitWidth(to))
      return impl.create<arith::ExtFOp>(result, x);
    if (bitWidth(source) == bitWidth(to)) { // f16 <-> bf16, fp8 <-> fp8: through f32
      mlir::Value wide = impl.create<arith::ExtFOp>(impl.lower(Type{DType::F32, from.shape}), x);
      x = wide;
    }
    auto truncated = impl.create<arith::TruncFOp>(result, x);
    if (towardsZero)
      truncated.setRoundingmode(arith::RoundingMode::toward_zero);
    return truncated;
  }
  if (fromFloat) {
    if (isBool(to))
      return impl.create<arith::CmpFOp>(arith::CmpFPredicate::UNE, x, impl.raw(impl.constant(Literal(0.0), from)));
    return impl.create<tile::FpToIntOp>(result, x, !isSigned(to));
  }
  if (toFloat)
    return isSigned(source) ? impl.create<arith::SIToFPOp>(result, x).getResult()
                            : impl.create<arith::UIToFPOp>(result, x).getResult();
  if (isBool(to))
    return impl.create<arith::CmpIOp>(arith::CmpIPredicate::ne, x, impl.raw(impl.constant(Literal(int64_t(0)), from)));
  if (bitWidth(source) == bitWidth(to))
    return x;
  if (bitWidth(source) > bitWidth(to))
    return impl.create<arith::TruncIOp>(result, x);
  return isSigned(source) ? impl.create<arith::ExtSIOp>(result, x).getResult()
                          : impl.create<arith::ExtUIOp>(result, x).getResult();
}

Value Builder::castFinite(const Operand &operand, DType dtype, bool towardsZero) {
  Value value = materialize(operand);
  if (!isFloat8(dtype) || value.type.pointer || value.dtype() == dtype)
    return cast(operand, dtype, towardsZero);
  if (isFloat8(value.dtype()))
    value = cast(value, DType::F32);
  return cast(saturated(*this, value, dtype), dtype, towardsZero);
}

Value Builder::cast(const Operand &operand, DType dtype, bool towardsZero) {
  if (auto *literal = std::get_if<Literal>(&operand))
    return constant(*literal, dtype);
  const Value &value = std::get<Value>(operand);
  if (value.type.pointer)
    impl->failAddress("a number is expected", value);
  if (value.dtype() == dtype)
    return value;
  if (towardsZero && isFloat(dtype) && !isFloat(value.dtype()))
    return integerTowardsZero(*this, value, dtype);
  Value number = isFloat8(dtype) && impl->policy == Policy::Triton ? saturated(*this, value, dtype) : value;
  return impl->like(convertNumber(*impl, impl->raw(number), value.type, dtype, towardsZero), Type{dtype, value.shape()});
}

Value Builder::bitcast(const Value &value, DType dtype) {
  requireNumbers(value, "a bitcast");
  if (value.dtype() == dtype)
    return value;
  if (bitWidth(value.dtype()) != bitWidth(dtype))
    fail(Diagnostic::Kind::Value,
         std::string("cannot bitcast ") + dtypeName(value.dtype()) + " to " + dtypeName(dtype) + ": the widths differ");
  Type type{dtype, value.shape()};
  mlir::Type lowered = impl->lower(type);
  mlir::Value raw = impl->raw(value);
  return impl->like(raw.getType() == lowered ? raw : impl->create<arith::BitcastOp>(lowered, raw).getResult(), type);
}

Value Builder::convert(const Operand &operand, const Type &type) {
  if (auto *literal = std::get_if<Literal>(&operand); literal && !type.pointer)
    return impl->constant(*literal, type);
  Value value = materialize(operand);
  if (value.type.pointer && !type.pointer)
    impl->failAddress("a number is expected", value);
  if (value.type.pointer != type.pointer)
    fail(Diagnostic::Kind::Type, "cannot convert " + value.type.str() + " to " + type.str());
  if (!type.pointer)
    value = cast(value, type.element);
  else if (value.dtype() != type.element)
    fail(Diagnostic::Kind::Type, "cannot convert " + value.type.str() + " to " + type.str(), "use a cast of the pointer");
  return value.shape() == type.shape ? value : broadcastTo(value, type.shape);
}

} // namespace tilery
