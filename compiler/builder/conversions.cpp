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
  if (value.type.pointer) {
    if (dtype == DType::I64 || dtype == DType::U64)
      return bitcast(pointerToInt(value), dtype);
    if (isBool(dtype)) // is it null?
      return cast(pointerToInt(value), dtype);
    fail(Diagnostic::Kind::Type, "a pointer converts to int64 or uint64 only, not to " + std::string(dtypeName(dtype)));
  }
  if (value.dtype() == dtype)
    return value;
  Value number = isFloat8(dtype) && impl->policy == Policy::Triton ? saturated(*this, value, dtype) : value;
  return impl->like(convertNumber(*impl, impl->raw(number), value.type, dtype, towardsZero), Type{dtype, value.shape()});
}

Value Builder::bitcast(const Value &value, DType dtype) {
  if (value.type.pointer)
    return pointerCast(value, dtype);
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
  if (value.type.pointer != type.pointer)
    fail(Diagnostic::Kind::Type, "cannot convert " + value.type.str() + " to " + type.str());
  if (!type.pointer)
    value = cast(value, type.element);
  else if (value.dtype() != type.element)
    fail(Diagnostic::Kind::Type, "cannot convert " + value.type.str() + " to " + type.str(), "use a cast of the pointer");
  return value.shape() == type.shape ? value : broadcastTo(value, type.shape);
}

} // namespace tilery
