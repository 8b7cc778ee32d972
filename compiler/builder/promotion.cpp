// Which element type two operands are computed in. Triton: reference 2.10. TIR: BinaryOpMatchTypes (reference 1.15).
#include "compiler/builder/impl.h"
#include <cmath>

namespace tilery {

const char *symbolOf(BinaryOp op) {
  switch (op) {
  case BinaryOp::Add:
    return "+";
  case BinaryOp::Sub:
    return "-";
  case BinaryOp::Mul:
    return "*";
  case BinaryOp::TrueDiv:
  case BinaryOp::RoundDiv:
    return "/";
  case BinaryOp::FloorDiv:
    return "//";
  case BinaryOp::Mod:
    return "%";
  case BinaryOp::TruncDiv:
    return "truncdiv";
  case BinaryOp::TruncMod:
    return "truncmod";
  case BinaryOp::Pow:
    return "**";
  case BinaryOp::And:
    return "&";
  case BinaryOp::Or:
    return "|";
  case BinaryOp::Xor:
    return "^";
  case BinaryOp::Shl:
    return "<<";
  case BinaryOp::Shr:
    return ">>";
  case BinaryOp::Eq:
    return "==";
  case BinaryOp::Ne:
    return "!=";
  case BinaryOp::Lt:
    return "<";
  case BinaryOp::Le:
    return "<=";
  case BinaryOp::Gt:
    return ">";
  case BinaryOp::Ge:
    return ">=";
  case BinaryOp::LogicalAnd:
    return "and";
  case BinaryOp::LogicalOr:
    return "or";
  case BinaryOp::Min:
  case BinaryOp::MinNan:
    return "min";
  case BinaryOp::Max:
  case BinaryOp::MaxNan:
    return "max";
  case BinaryOp::MulHigh:
    return "mulhi";
  }
  return "?";
}

const char *symbolOf(UnaryOp op) {
  static constexpr const char *symbols[] = {"-", "~", "not", "abs", "+"};
  return symbols[size_t(op)];
}

static bool divides(BinaryOp op) {
  return op == BinaryOp::TrueDiv || op == BinaryOp::RoundDiv || op == BinaryOp::FloorDiv || op == BinaryOp::Mod;
}
// bool < integers < floats.
static int kind(DType t) { return isBool(t) ? 0 : isInteger(t) ? 1 : 2; }
static int kind(const Literal &literal) {
  return std::holds_alternative<bool>(literal) ? 0 : std::holds_alternative<double>(literal) ? 2 : 1;
}

static void checkRange(Builder &self, const Literal &literal, DType type) {
  if (!isInteger(type) || kind(literal) != 1)
    return;
  unsigned bits = bitWidth(type);
  bool negative = std::holds_alternative<int64_t>(literal) && std::get<int64_t>(literal) < 0;
  if (negative && isUnsigned(type))
    self.fail(Diagnostic::Kind::Value,
              "the negative number " + literalText(literal) + " cannot be combined with a value of unsigned type " +
                  dtypeName(type),
              "cast the value to a signed type");
  __int128 value = negative || std::holds_alternative<int64_t>(literal) ? __int128(std::get<int64_t>(literal))
                                                                        : __int128(std::get<uint64_t>(literal));
  __int128 low = isUnsigned(type) ? __int128(0) : -(__int128(1) << (bits - 1));
  __int128 high = isUnsigned(type) ? (__int128(1) << bits) - 1 : (__int128(1) << (bits - 1)) - 1;
  if (value < low || value > high)
    self.fail(Diagnostic::Kind::Value, "the number " + literalText(literal) + " is out of range for " + dtypeName(type),
              "cast the value to a wider type");
}

static DType tritonIntegers(Builder &self, DType a, DType b, BinaryOp op) {
  auto unsignedRank = [](DType t) { return isUnsigned(t) || isBool(t); };
  bool ua = unsignedRank(a), ub = unsignedRank(b);
  if (divides(op) && ua != ub)
    self.fail(Diagnostic::Kind::Type,
              std::string("Cannot use ") + spelling().division + " with " + dtypeName(a) + " and " + dtypeName(b) +
                  " because they have different signedness",
              "cast one of them to the other's type");
  if (ua == ub)
    return bitWidth(a) >= bitWidth(b) ? a : b;
  DType unsignedOne = ua ? a : b, signedOne = ua ? b : a;
  return bitWidth(unsignedOne) >= bitWidth(signedOne) ? unsignedOne : signedOne;
}

static DType tritonTypes(Builder &self, DType a, DType b, BinaryOp op) {
  if (a == DType::F64 || b == DType::F64)
    return DType::F64;
  if (a == DType::F32 || b == DType::F32)
    return DType::F32;
  if (a == DType::F16 || b == DType::F16)
    return divides(op) ? DType::F32 : DType::F16;
  if (a == DType::BF16 || b == DType::BF16)
    return a == b && !divides(op) ? DType::BF16 : DType::F32;
  if (isFloat8(a) || isFloat8(b)) {
    if (isFloat8(a) && isFloat8(b))
      return a == b ? a : DType::F16;
    self.fail(Diagnostic::Kind::Type,
              std::string("unexpected types ") + dtypeName(a) + " and " + dtypeName(b) + " for " + symbolOf(op),
              "cast the float8 operand first");
  }
  return tritonIntegers(self, a, b, op);
}

static DType tirTypes(DType a, DType b) {
  if (a == b)
    return a;
  if (isFloat(a) != isFloat(b))
    return isFloat(a) ? a : b;
  if (isFloat(a))
    return bitWidth(a) == bitWidth(b) ? DType::F32 : bitWidth(a) > bitWidth(b) ? a : b;
  if (isBool(a) || isBool(b))
    return isBool(a) ? b : a;
  if (isSigned(a) == isSigned(b))
    return bitWidth(a) >= bitWidth(b) ? a : b;
  switch (std::max(bitWidth(a), bitWidth(b))) {
  case 8:
    return DType::I8;
  case 16:
    return DType::I16;
  case 32:
    return DType::I32;
  default:
    return DType::I64;
  }
}

DType promote(Builder &self, Policy policy, const Operand &lhs, const Operand &rhs, BinaryOp op) {
  auto *leftLiteral = std::get_if<Literal>(&lhs), *rightLiteral = std::get_if<Literal>(&rhs);
  auto typeOf = [&](const Operand &operand) {
    auto *value = std::get_if<Value>(&operand);
    if (value)
      self.requireNumbers(*value, "arithmetic");
    return value ? value->dtype() : literalType(policy, std::get<Literal>(operand));
  };
  DType a = typeOf(lhs), b = typeOf(rhs);
  if ((leftLiteral != nullptr) != (rightLiteral != nullptr)) {
    const Literal &literal = leftLiteral ? *leftLiteral : *rightLiteral;
    DType type = leftLiteral ? b : a;
    if (kind(literal) <= kind(type)) {
      checkRange(self, literal, type);
      bool narrow = type == DType::F16 || type == DType::BF16;
      return policy == Policy::Triton && narrow && divides(op) ? DType::F32 : type;
    }
  }
  return policy == Policy::Triton ? tritonTypes(self, a, b, op) : tirTypes(a, b);
}

DType Builder::commonType(const Operand &lhs, const Operand &rhs, BinaryOp op) {
  return promote(*this, impl->policy, lhs, rhs, op);
}

} // namespace tilery
