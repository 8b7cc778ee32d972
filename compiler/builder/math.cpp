// Elementwise functions of floats.
#include "compiler/builder/impl.h"

namespace tilery {
namespace math = mlir::math;

Value Builder::math(MathOp op, const std::vector<Operand> &args) {
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
  auto same = [&](mlir::Value result) { return impl->like(result, shape); };
  auto truth = [&](mlir::Value result) { return impl->wrap(result, DType::Bool); };
  auto scaled = [&](double factor) { return impl->raw(impl->constant(Literal(factor), shape)); };
  switch (op) {
  case MathOp::Exp:
    return same(impl->create<math::ExpOp>(x));
  case MathOp::Exp2:
    return same(impl->create<math::Exp2Op>(x));
  case MathOp::Exp10:
    return same(impl->create<math::PowFOp>(scaled(10.0), x));
  case MathOp::Log:
    return same(impl->create<math::LogOp>(x));
  case MathOp::Log2:
    return same(impl->create<math::Log2Op>(x));
  case MathOp::Log10:
    return same(impl->create<math::Log10Op>(x));
  case MathOp::Log1p:
    return same(impl->create<math::Log1pOp>(x));
  case MathOp::Expm1:
    return same(impl->create<math::ExpM1Op>(x));
  case MathOp::Sin:
    return same(impl->create<math::SinOp>(x));
  case MathOp::Cos:
    return same(impl->create<math::CosOp>(x));
  case MathOp::Tan:
    return same(impl->create<math::TanOp>(x));
  case MathOp::Asin:
    return same(impl->create<math::AsinOp>(x));
  case MathOp::Acos:
    return same(impl->create<math::AcosOp>(x));
  case MathOp::Atan:
    return same(impl->create<math::AtanOp>(x));
  case MathOp::Sinh:
    return same(impl->create<math::SinhOp>(x));
  case MathOp::Cosh:
    return same(impl->create<math::CoshOp>(x));
  case MathOp::Tanh:
    return same(impl->create<math::TanhOp>(x));
  case MathOp::Asinh:
    return same(impl->create<math::AsinhOp>(x));
  case MathOp::Acosh:
    return same(impl->create<math::AcoshOp>(x));
  case MathOp::Atanh:
    return same(impl->create<math::AtanhOp>(x));
  case MathOp::Sqrt:
    return same(impl->create<math::SqrtOp>(x));
  case MathOp::Rsqrt:
    return same(impl->create<math::RsqrtOp>(x));
  case MathOp::Cbrt:
    return same(impl->create<math::CbrtOp>(x));
  case MathOp::Erf:
    return same(impl->create<math::ErfOp>(x));
  case MathOp::Floor:
    return same(impl->create<math::FloorOp>(x));
  case MathOp::Ceil:
    return same(impl->create<math::CeilOp>(x));
  case MathOp::Round:
    return same(impl->create<math::RoundOp>(x));
  case MathOp::RoundEven:
    return same(impl->create<math::RoundEvenOp>(x));
  case MathOp::Trunc:
    return same(impl->create<math::TruncOp>(x));
  case MathOp::IsNan:
    return truth(impl->create<math::IsNaNOp>(x));
  case MathOp::IsInf:
    return truth(impl->create<math::IsInfOp>(x));
  case MathOp::IsFinite:
    return truth(impl->create<math::IsFiniteOp>(x));
  case MathOp::Fma:
    return same(impl->create<math::FmaOp>(x, y, impl->raw(values.at(2))));
  case MathOp::Atan2:
    return same(impl->create<math::Atan2Op>(x, y));
  case MathOp::CopySign:
    return same(impl->create<math::CopySignOp>(x, y));
  case MathOp::Fmod:
    return same(impl->create<mlir::arith::RemFOp>(x, y));
  }
  return values[0];
}

} // namespace tilery
