// Ops of the math dialect.
#include "compiler/lower/math.h"
#include "compiler/lower/power.h"

using namespace mlir;

namespace tilery::lower {

Lanes callLibm(Emitter &e, StringRef name, ArrayRef<Lanes> operands) {
  auto &b = e.b;
  llvm::Type *element = operands[0]->getType()->getScalarType();
  std::string symbol = name.str() + (element->isFloatTy() ? "f" : "");
  SmallVector<llvm::Type *> types(operands.size(), element);
  llvm::FunctionCallee callee = e.module.getOrInsertFunction(symbol, llvm::FunctionType::get(element, types, false));
  if (auto *function = llvm::dyn_cast<llvm::Function>(callee.getCallee())) {
    function->setDoesNotThrow();
    function->setDoesNotAccessMemory();
    function->setWillReturn();
  }
  unsigned lanes = e.lanesOf(operands[0]);
  if (lanes == 1)
    return b.CreateCall(callee, operands);
  llvm::Value *result = llvm::PoisonValue::get(operands[0]->getType());
  for (unsigned i = 0; i < lanes; ++i) {
    SmallVector<Lanes> scalars;
    for (Lanes operand : operands)
      scalars.push_back(b.CreateExtractElement(operand, i));
    result = b.CreateInsertElement(result, b.CreateCall(callee, scalars), i);
  }
  return result;
}

namespace {
Lanes integerPower(Emitter &e, Lanes base, Lanes exponent) {
  // Squaring, one step per bit of the exponent; a negative exponent gives what truncation gives: 1/1, 1/-1, else 0.
  auto &b = e.b;
  llvm::Type *type = base->getType();
  unsigned bits = type->getScalarSizeInBits();
  auto *one = llvm::ConstantInt::get(type, 1), *zero = llvm::Constant::getNullValue(type);
  Lanes result = one, power = base, left = exponent;
  for (unsigned i = 0; i < bits; ++i) {
    result = b.CreateMul(result, b.CreateSelect(b.CreateICmpNE(b.CreateAnd(left, one), zero), power, one));
    power = b.CreateMul(power, power);
    left = b.CreateLShr(left, 1);
  }
  Lanes unit = b.CreateOr(b.CreateICmpEQ(base, one), b.CreateICmpEQ(base, llvm::Constant::getAllOnesValue(type)));
  Lanes negative = b.CreateSelect(unit, b.CreateSelect(b.CreateICmpNE(b.CreateAnd(exponent, one), zero), base, one), zero);
  return b.CreateSelect(b.CreateICmpSLT(exponent, zero), negative, result);
}

const char *libmName(Operation *op) {
  return llvm::TypeSwitch<Operation *, const char *>(op)
      .Case([](math::ExpOp) { return "exp"; })
      .Case([](math::Exp2Op) { return "exp2"; })
      .Case([](math::ExpM1Op) { return "expm1"; })
      .Case([](math::LogOp) { return "log"; })
      .Case([](math::Log2Op) { return "log2"; })
      .Case([](math::Log10Op) { return "log10"; })
      .Case([](math::Log1pOp) { return "log1p"; })
      .Case([](math::TanhOp) { return "tanh"; })
      .Case([](math::ErfOp) { return "erf"; })
      .Case([](math::ErfcOp) { return "erfc"; })
      .Case([](math::SinOp) { return "sin"; })
      .Case([](math::CosOp) { return "cos"; })
      .Case([](math::TanOp) { return "tan"; })
      .Case([](math::AsinOp) { return "asin"; })
      .Case([](math::AcosOp) { return "acos"; })
      .Case([](math::AtanOp) { return "atan"; })
      .Case([](math::Atan2Op) { return "atan2"; })
      .Case([](math::SinhOp) { return "sinh"; })
      .Case([](math::CoshOp) { return "cosh"; })
      .Case([](math::AsinhOp) { return "asinh"; })
      .Case([](math::AcoshOp) { return "acosh"; })
      .Case([](math::AtanhOp) { return "atanh"; })
      .Case([](math::CbrtOp) { return "cbrt"; })
      .Case([](math::PowFOp) { return "pow"; })
      .Default([](Operation *) { return nullptr; });
}

/// What the target has instead of a function that may be approximated.
Lanes approximation(Emitter &e, Operation *op, ArrayRef<Lanes> v) {
  auto flags = dyn_cast<arith::ArithFastMathInterface>(op);
  if (!flags || !bitEnumContainsAll(flags.getFastMathFlagsAttr().getValue(), arith::FastMathFlags::afn))
    return nullptr;
  const char *name = isa<math::RsqrtOp>(op) ? "rsqrt" : libmName(op);
  return name ? e.options.target.function(e, (llvm::Twine(name) + " nearly").str(), v) : nullptr;
}

/// All that becomes of the result is that it is added to 1, or subtracted from it: what it lacks where it is small is lost then.
bool isAddedToOne(Operation *op) {
  auto isOne = [](Value value) {
    Attribute constant;
    if (!matchPattern(value, m_Constant(&constant)))
      return false;
    if (auto splat = dyn_cast<SplatElementsAttr>(constant))
      constant = splat.getSplatValue<Attribute>();
    auto number = dyn_cast<FloatAttr>(constant);
    return number && std::abs(number.getValueAsDouble()) >= 1;
  };
  return llvm::all_of(op->getUsers(), [&](Operation *user) {
    return isa<arith::AddFOp, arith::SubFOp>(user) && llvm::any_of(user->getOperands(), isOne);
  });
}
/// All that becomes of an exponential is computed with and then rounded to bf16: its products, quotients and selections, and sums of them
/// with constants of [-1, 1], which take away no more of its last places than it has of 1's. What is rounded as it is stays as exact as bf16
/// can be.
bool endsNarrow(Value value, bool computed = false, unsigned steps = 8) {
  auto isSmall = [](Value value) {
    Attribute constant;
    if (!matchPattern(value, m_Constant(&constant)))
      return false;
    if (auto splat = dyn_cast<SplatElementsAttr>(constant))
      constant = splat.getSplatValue<Attribute>();
    auto number = dyn_cast<FloatAttr>(constant);
    return number && std::abs(number.getValueAsDouble()) <= 1;
  };
  return steps && !value.use_empty() && llvm::all_of(value.getUses(), [&](OpOperand &use) {
           Operation *user = use.getOwner();
           if (isa<arith::TruncFOp>(user))
             return computed && elementOf(user->getResult(0)).isBF16();
           if (isa<arith::SelectOp>(user))
             return endsNarrow(user->getResult(0), computed, steps - 1);
           bool computes = isa<arith::MulFOp>(user) || (isa<arith::DivFOp>(user) && use.getOperandNumber() == 0) ||
                           (isa<arith::AddFOp, arith::SubFOp>(user) && isSmall(user->getOperand(1 - use.getOperandNumber())));
           return computes && endsNarrow(user->getResult(0), true, steps - 1);
         });
}

/// "exp", or what does instead of it where its result goes.
const char *kindOfExp(Operation *op) {
  Value result = op->getResult(0);
  if (endsNarrow(result))
    return "exp nearly";
  return result.hasOneUse() && isa<tile::ReduceOp>(*result.user_begin()) ? "exp summed" : nullptr;
}
} // namespace

bool isInlineMath(Operation *op) {
  Type element = op->getNumResults() ? getElementTypeOrSelf(op->getResult(0).getType()) : Type();
  return isa<math::ExpOp, math::Exp2Op, math::ExpM1Op, math::LogOp, math::Log2Op, math::Log10Op, math::Log1pOp, math::TanhOp,
             math::ErfOp, math::ErfcOp, math::AsinOp, math::AcosOp, math::AtanOp, math::Atan2Op, math::SinhOp, math::CoshOp,
             math::AsinhOp, math::AcoshOp, math::AtanhOp, math::CbrtOp, math::PowFOp>(op) &&
         !element.isF64();
}

Lanes emitMath(Emitter &e, Operation *op, ArrayRef<Lanes> v) {
  auto &b = e.b;
  llvm::Type *type = v[0]->getType();
  auto unary = [&](llvm::Intrinsic::ID id) -> Lanes { return e.intrinsic(id, {v[0]}, {type}); };
  auto isClass = [&](unsigned mask) -> Lanes {
    return e.intrinsic(llvm::Intrinsic::is_fpclass, {v[0], b.getInt32(mask)}, {type});
  };
  if (isa<math::PowFOp>(op))
    if (Lanes power = powerOfConstant(e, v[0], v[1]))
      return power;
  if (Lanes nearly = approximation(e, op, v))
    return nearly;
  if (const char *name = libmName(op)) {
    if (const char *kind = isa<math::ExpOp>(op) ? kindOfExp(op) : nullptr)
      if (Lanes own = e.options.target.function(e, kind, v))
        return own;
    if (isa<math::ErfOp>(op) && isAddedToOne(op))
      if (Lanes nearly = e.options.target.function(e, "erf nearly", v))
        return nearly;
    if (Lanes own = emitOwnMath(e, name, v))
      return own;
    return callLibm(e, name, v);
  }
  Lanes result =
      llvm::TypeSwitch<Operation *, Lanes>(op)
          .Case([&](math::SqrtOp) { return unary(llvm::Intrinsic::sqrt); })
          .Case([&](math::RsqrtOp) { return b.CreateFDiv(llvm::ConstantFP::get(type, 1.0), unary(llvm::Intrinsic::sqrt)); })
          .Case([&](math::AbsFOp) { return unary(llvm::Intrinsic::fabs); })
          .Case([&](math::FloorOp) { return unary(llvm::Intrinsic::floor); })
          .Case([&](math::CeilOp) { return unary(llvm::Intrinsic::ceil); })
          .Case([&](math::TruncOp) { return unary(llvm::Intrinsic::trunc); })
          .Case([&](math::RoundOp) { return unary(llvm::Intrinsic::round); })
          .Case([&](math::RoundEvenOp) { return unary(llvm::Intrinsic::roundeven); })
          .Case([&](math::FmaOp) { return e.intrinsic(llvm::Intrinsic::fma, v, {type}); })
          .Case([&](math::CopySignOp) { return e.intrinsic(llvm::Intrinsic::copysign, v, {type}); })
          .Case([&](math::IsNaNOp) { return isClass(llvm::fcNan); })
          .Case([&](math::IsInfOp) { return isClass(llvm::fcInf); })
          .Case([&](math::IsFiniteOp) { return isClass(llvm::fcFinite); })
          .Case([&](math::AbsIOp) { return e.intrinsic(llvm::Intrinsic::abs, {v[0], b.getFalse()}, {type}); })
          .Case([&](math::CtPopOp) { return unary(llvm::Intrinsic::ctpop); })
          .Case([&](math::CountLeadingZerosOp) { return e.intrinsic(llvm::Intrinsic::ctlz, {v[0], b.getFalse()}, {type}); })
          .Case([&](math::CountTrailingZerosOp) { return e.intrinsic(llvm::Intrinsic::cttz, {v[0], b.getFalse()}, {type}); })
          .Case([&](math::IPowIOp) { return integerPower(e, v[0], v[1]); })
          .Default([](Operation *) -> Lanes { return nullptr; });
  if (!result)
    op->emitError() << e.options.target.name << " has no code for " << op->getName().getStringRef();
  return result;
}

} // namespace tilery::lower
