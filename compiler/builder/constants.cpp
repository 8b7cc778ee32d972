// Literals: numbers that take their type from what they meet.
#include "compiler/analysis/integer_op.h"
#include "compiler/builder/impl.h"
#include <cmath>
#include <limits>

namespace tilery {

std::string literalText(const Literal &literal) {
  if (auto *value = std::get_if<bool>(&literal))
    return *value ? spelling().truth : spelling().falsehood;
  if (auto *value = std::get_if<int64_t>(&literal))
    return std::to_string(*value);
  if (auto *value = std::get_if<uint64_t>(&literal))
    return std::to_string(*value);
  std::string text;
  llvm::raw_string_ostream(text) << std::get<double>(literal);
  return text;
}

DType literalType(Policy policy, const Literal &literal) {
  if (std::holds_alternative<bool>(literal))
    return DType::Bool;
  if (auto *value = std::get_if<int64_t>(&literal)) {
    if (*value >= INT32_MIN && *value <= INT32_MAX)
      return DType::I32;
    if (policy == Policy::Triton && *value > 0 && *value <= UINT32_MAX)
      return DType::U32;
    return DType::I64;
  }
  if (std::holds_alternative<uint64_t>(literal))
    return DType::U64;
  double value = std::fabs(std::get<double>(literal));
  bool fitsF32 =
      value == 0 || std::isinf(value) || std::isnan(value) || (value >= 0x1p-126 && value <= std::numeric_limits<float>::max());
  return policy == Policy::Tir || fitsF32 ? DType::F32 : DType::F64;
}

double greatestNumber(DType type) {
  if (!isFloat(type))
    return isBool(type) ? 1 : std::ldexp(1.0, int(bitWidth(type) - isSigned(type))) - 1;
  switch (type) {
  case DType::F8E4M3:
    return 448;
  case DType::F8E5M2:
    return 57344;
  case DType::F16:
    return 65504;
  case DType::F64:
    return std::numeric_limits<double>::max();
  default: // bfloat16 has f32's exponents
    return type == DType::F32 ? std::numeric_limits<float>::max() : 0x1.fep127;
  }
}

static double asDouble(const Literal &literal) {
  return std::visit([](auto value) { return static_cast<double>(value); }, literal);
}
static llvm::APInt asInteger(const Literal &literal, unsigned bits) {
  if (auto *value = std::get_if<double>(&literal)) {
    llvm::APSInt result(bits, /*isUnsigned=*/false);
    bool exact;
    llvm::APFloat(*value).convertToInteger(result, llvm::APFloat::rmTowardZero, &exact);
    return result;
  }
  if (auto *value = std::get_if<uint64_t>(&literal))
    return llvm::APInt(64, *value).zextOrTrunc(bits);
  if (auto *value = std::get_if<bool>(&literal))
    return llvm::APInt(bits, *value);
  return llvm::APInt(64, std::get<int64_t>(literal), true).sextOrTrunc(bits);
}

Value Builder::Impl::constant(const Literal &literal, const Type &type) {
  mlir::Type element = elementType(type.element);
  mlir::TypedAttr attribute;
  if (type.element == DType::Bool)
    attribute = b.getIntegerAttr(element, llvm::APInt(1, asDouble(literal) != 0));
  else if (isFloat(type.element)) {
    double number = asDouble(literal);
    if (isFloat8(type.element) && policy == Policy::Triton)
      number = std::isnan(number) ? number : std::clamp(number, -greatestNumber(type.element), greatestNumber(type.element));
    llvm::APFloat value(number);
    bool inexact;
    value.convert(mlir::cast<mlir::FloatType>(element).getFloatSemantics(), llvm::APFloat::rmNearestTiesToEven, &inexact);
    attribute = b.getFloatAttr(element, value);
  } else
    attribute = b.getIntegerAttr(element, asInteger(literal, bitWidth(type.element)));
  if (!type.shape.empty())
    attribute = mlir::DenseElementsAttr::get(mlir::RankedTensorType::get(type.shape, element), mlir::Attribute(attribute));
  return like(create<mlir::arith::ConstantOp>(attribute), type);
}

Value Builder::constant(const Literal &value, DType dtype) { return impl->constant(value, Type{dtype, {}}); }

Value Builder::materialize(const Operand &operand) {
  if (auto *value = std::get_if<Value>(&operand))
    return *value;
  const Literal &literal = std::get<Literal>(operand);
  return constant(literal, literalType(impl->policy, literal));
}

std::optional<int64_t> Builder::knownNumber(const Value &value) { return analysis::constantOf(impl->raw(value)); }

Value Builder::full(const Shape &shape, const Operand &value, DType dtype) {
  if (auto *literal = std::get_if<Literal>(&value))
    return impl->constant(*literal, Type{dtype, shape});
  Value scalar = cast(value, dtype);
  return shape.empty() ? scalar : broadcastTo(scalar, shape);
}

} // namespace tilery
