// Elementwise functions of floats.
#include "compiler/builder/impl.h"

namespace tilery {
namespace math = mlir::math;
namespace {

template <typename Op> mlir::Value unary(Builder::Impl &impl, mlir::Value x) { return impl.create<Op>(x); }
template <typename Op> mlir::Value binary(Builder::Impl &impl, mlir::Value x, mlir::Value y) { return impl.create<Op>(x, y); }

using Unary = mlir::Value (*)(Builder::Impl &, mlir::Value);
using Binary = mlir::Value (*)(Builder::Impl &, mlir::Value, mlir::Value);

/// One operand, a result of its type; null: the function is none of these.
Unary unaryFunction(MathOp op) {
  static constexpr std::pair<MathOp, Unary> table[] = {
      // Exponentials, logarithms, roots.
      {MathOp::Exp, unary<math::ExpOp>},
      {MathOp::Exp2, unary<math::Exp2Op>},
      {MathOp::Expm1, unary<math::ExpM1Op>},
      {MathOp::Log, unary<math::LogOp>},
      {MathOp::Log2, unary<math::Log2Op>},
      {MathOp::Log10, unary<math::Log10Op>},
      {MathOp::Log1p, unary<math::Log1pOp>},
      {MathOp::Sqrt, unary<math::SqrtOp>},
      {MathOp::Rsqrt, unary<math::RsqrtOp>},
      {MathOp::Cbrt, unary<math::CbrtOp>},
      {MathOp::Erf, unary<math::ErfOp>},
      {MathOp::Erfc, unary<math::ErfcOp>},
      // Trigonometric and hyperbolic functions and their inverses.
      {MathOp::Sin, unary<math::SinOp>},
      {MathOp::Cos, unary<math::CosOp>},
      {MathOp::Tan, unary<math::TanOp>},
      {MathOp::Asin, unary<math::AsinOp>},
      {MathOp::Acos, unary<math::AcosOp>},
      {MathOp::Atan, unary<math::AtanOp>},
      {MathOp::Sinh, unary<math::SinhOp>},
      {MathOp::Cosh, unary<math::CoshOp>},
      {MathOp::Tanh, unary<math::TanhOp>},
      {MathOp::Asinh, unary<math::AsinhOp>},
      {MathOp::Acosh, unary<math::AcoshOp>},
      {MathOp::Atanh, unary<math::AtanhOp>},
      // To integers.
      {MathOp::Floor, unary<math::FloorOp>},
      {MathOp::Ceil, unary<math::CeilOp>},
      {MathOp::Round, unary<math::RoundOp>},
      {MathOp::RoundEven, unary<math::RoundEvenOp>},
      {MathOp::Trunc, unary<math::TruncOp>},
  };
  auto *row = llvm::find_if(table, [&](const auto &row) { return row.first == op; });
  return row == std::end(table) ? nullptr : row->second;
}

/// One operand, a truth value.
Unary predicate(MathOp op) {
  switch (op) {
  case MathOp::IsNan:
    return unary<math::IsNaNOp>;
  case MathOp::IsInf:
    return unary<math::IsInfOp>;
  case MathOp::IsFinite:
    return unary<math::IsFiniteOp>;
  default:
    return nullptr;
  }
}

Binary binaryFunction(MathOp op) {
  switch (op) {
  case MathOp::Atan2:
    return binary<math::Atan2Op>;
  case MathOp::CopySign:
    return binary<math::CopySignOp>;
  case MathOp::Fmod:
    return binary<mlir::arith::RemFOp>;
  default:
    return nullptr;
  }
}

} // namespace

mlir::Value Builder::Impl::approximated(mlir::Value value) {
  mlir::Operation *op = value.getDefiningOp();
  if (fastMath && mlir::isa_and_present<math::ExpOp, math::Exp2Op, math::LogOp, math::Log2Op, math::Log10Op, math::SinOp,
                                        math::CosOp, math::TanOp, math::RsqrtOp, math::PowFOp>(op)) {
    auto flags = mlir::arith::FastMathFlagsAttr::get(op->getContext(), mlir::arith::FastMathFlags::afn);
    op->setAttr(mlir::cast<mlir::arith::ArithFastMathInterface>(op).getFastMathAttrName(), flags);
  }
  return value;
}

Value Builder::math(MathOp op, const std::vector<Operand> &args) {
  for (const Operand &arg : args)
    if (auto *value = std::get_if<Value>(&arg))
      requireNumbers(*value, "a function of numbers");
  DType type = materialize(args[0]).dtype();
  auto has = [&](const Operand &operand) {
    auto *value = std::get_if<Value>(&operand);
    return value && value->dtype() == type;
  };
  Operand widest = args[0]; // of those before; literals have no type of their own
  for (size_t i = 1; i < args.size(); ++i) {
    type = commonType(widest, args[i], BinaryOp::Add);
    if (!has(widest))
      widest = has(args[i]) ? args[i] : Operand(cast(widest, type));
  }
  if (!isFloat(type))
    type = DType::F32;
  std::vector<Value> values;
  for (const Operand &arg : args)
    values.push_back(cast(arg, type));
  values = broadcast(values);
  const Type &shape = values[0].type;
  mlir::Value x = impl->raw(values[0]);
  mlir::Value y = values.size() > 1 ? impl->raw(values[1]) : nullptr;
  if (Unary function = unaryFunction(op))
    return impl->like(impl->approximated(function(*impl, x)), shape);
  if (Unary function = predicate(op))
    return impl->wrap(function(*impl, x), DType::Bool);
  if (Binary function = binaryFunction(op))
    return impl->like(function(*impl, x, y), shape);
  if (op == MathOp::Exp10)
    return impl->like(impl->approximated(impl->create<math::PowFOp>(impl->raw(impl->constant(Literal(10.0), shape)), x)), shape);
  assert(op == MathOp::Fma && "every function is in one of the families");
  return impl->like(impl->create<math::FmaOp>(x, y, impl->raw(values.at(2))), shape);
}

} // namespace tilery
