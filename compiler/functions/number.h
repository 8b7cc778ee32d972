#pragma once
// Values with C++'s operators, for functions that are composed of many operations.
#include "tilery/builder.h"
#include <concepts>
#include <initializer_list>

namespace tilery::functions {

struct Number {
  Builder *b = nullptr;
  Value value;
  DType dtype() const { return value.dtype(); }
  Number cast(DType to) const { return {b, b->cast(value, to)}; }
  Number bitcast(DType to) const { return {b, b->bitcast(value, to)}; }
};

/// While a function is composed, integers wrap: no program has those sums.
class Wrapping {
public:
  explicit Wrapping(Builder &builder) : builder(builder), before(builder.checkOverflow(false)) {}
  ~Wrapping() { builder.checkOverflow(before); }
  Wrapping(const Wrapping &) = delete;

private:
  Builder &builder;
  bool before;
};

inline Number constant(Builder *b, const Literal &value, DType dtype) { return {b, b->cast(value, dtype)}; }

template <typename T>
concept Literally = std::is_arithmetic_v<T>;
template <Literally T> Operand operand(T number) {
  if constexpr (std::is_same_v<T, bool>)
    return Literal(number);
  else if constexpr (std::is_floating_point_v<T>)
    return Literal(double(number));
  else
    return Literal(int64_t(number));
}
inline Operand operand(const Number &number) { return number.value; }

inline Number binary(BinaryOp op, Builder *b, const Operand &x, const Operand &y) { return {b, b->binary(op, x, y)}; }
template <typename T> Number binary(BinaryOp op, const Number &x, const T &y) { return binary(op, x.b, x.value, operand(y)); }
template <Literally T> Number binary(BinaryOp op, T x, const Number &y) { return binary(op, y.b, operand(x), y.value); }

#define TILERY_OPERATOR(symbol, op)                                                                                              \
  template <typename T> Number operator symbol(const Number &x, const T &y) { return binary(BinaryOp::op, x, y); }               \
  template <Literally T> Number operator symbol(T x, const Number &y) { return binary(BinaryOp::op, x, y); }
TILERY_OPERATOR(+, Add)
TILERY_OPERATOR(-, Sub)
TILERY_OPERATOR(*, Mul)
TILERY_OPERATOR(/, RoundDiv) // rounded correctly under any rules
TILERY_OPERATOR(&, And)
TILERY_OPERATOR(|, Or)
TILERY_OPERATOR(^, Xor)
TILERY_OPERATOR(<<, Shl)
TILERY_OPERATOR(>>, Shr)
TILERY_OPERATOR(<, Lt)
TILERY_OPERATOR(<=, Le)
TILERY_OPERATOR(>, Gt)
TILERY_OPERATOR(>=, Ge)
TILERY_OPERATOR(==, Eq)
TILERY_OPERATOR(!=, Ne)
TILERY_OPERATOR(&&, LogicalAnd)
TILERY_OPERATOR(||, LogicalOr)
#undef TILERY_OPERATOR

inline Number operator-(const Number &x) { return {x.b, x.b->unary(UnaryOp::Neg, x.value)}; }
inline Number operator~(const Number &x) { return {x.b, x.b->unary(UnaryOp::Invert, x.value)}; }
inline Number abs(const Number &x) { return {x.b, x.b->unary(UnaryOp::Abs, x.value)}; }
template <typename T> Number min(const Number &x, const T &y) { return binary(BinaryOp::Min, x, y); }
template <typename T> Number max(const Number &x, const T &y) { return binary(BinaryOp::Max, x, y); }
inline Number math(MathOp op, const Number &x) { return {x.b, x.b->math(op, {x.value})}; }
template <typename T, typename U> Number fma(const Number &x, const T &y, const U &z) {
  return {x.b, x.b->math(MathOp::Fma, {x.value, operand(y), operand(z)})};
}
/// The size of one number with the sign of another.
template <typename T> Number copysign(const T &size, const Number &sign) {
  return {sign.b, sign.b->math(MathOp::CopySign, {operand(size), sign.value})};
}
template <typename T, typename U> Number select(const Number &condition, const T &x, const U &y) {
  return {condition.b, condition.b->select(condition.value, operand(x), operand(y))};
}
inline Number isFinite(const Number &x) { return math(MathOp::IsFinite, x); }
inline Number isNan(const Number &x) { return math(MathOp::IsNan, x); }

} // namespace tilery::functions
