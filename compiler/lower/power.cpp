#include "compiler/lower/power.h"
#include "compiler/lower/floats.h"

namespace tilery::lower {

static std::optional<double> constantOf(Lanes y) {
  auto *constant = llvm::dyn_cast<llvm::Constant>(y);
  auto *number =
      llvm::dyn_cast_or_null<llvm::ConstantFP>(constant && y->getType()->isVectorTy() ? constant->getSplatValue() : constant);
  if (!number)
    return std::nullopt;
  return number->getType()->isDoubleTy() ? number->getValueAPF().convertToDouble() : number->getValueAPF().convertToFloat();
}

/// Products of few f32 are exact in f64, or all but: one rounding counts.
static Lanes inDouble(Emitter &e, Lanes x, unsigned exponent) {
  auto &b = e.b;
  llvm::Type *wide = e.vectorOf(b.getDoubleTy(), e.lanesOf(x));
  Floats<64> m(e, wide);
  Lanes of = b.CreateFPExt(x, wide), square = m.mul(of, of);
  return b.CreateFPTrunc(m.mul(square, exponent == 3 ? of : square), x->getType());
}

template <unsigned Width> static Lanes power(Emitter &e, Lanes x, double exponent) {
  auto &b = e.b;
  Floats<Width> m(e, x->getType());
  if (exponent == 0)
    return m.number(1); // of NaN, too
  if (exponent == 1)
    return x;
  if (exponent == 2)
    return m.mul(x, x);
  if (exponent == -1)
    return m.div(m.number(1), x);
  if (Width == 32 && (exponent == 3 || exponent == 4))
    return inDouble(e, x, exponent);
  if (exponent != 0.5)
    return nullptr;
  constexpr double inf = std::numeric_limits<double>::infinity(); // -0 has the root 0 here, and -inf has one
  return b.CreateSelect(b.CreateFCmpOEQ(x, m.number(-inf)), m.number(inf), m.add(m.sqrt(x), m.number(0)));
}

Lanes powerOfConstant(Emitter &e, Lanes x, Lanes y) {
  auto exponent = constantOf(y);
  llvm::Type *type = x->getType()->getScalarType();
  if (!exponent || !(type->isFloatTy() || type->isDoubleTy()))
    return nullptr;
  return type->isFloatTy() ? power<32>(e, x, *exponent) : power<64>(e, x, *exponent);
}

} // namespace tilery::lower
