#include "compiler/targets/cuda/ptx/math_f32.h"
#include "compiler/lower/branch.h"
#include "compiler/targets/cuda/ptx/branch.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

namespace tilery::cuda {
using lower::Emitter;
using lower::F32;
using lower::Lanes;

namespace {

/// An instruction that takes single numbers, on each lane.
Lanes eachLane(F32 &m, llvm::ArrayRef<Lanes> operands, llvm::Intrinsic::ID id, llvm::ArrayRef<llvm::Type *> overloads = {}) {
  auto &b = m.e.b;
  auto *vector = llvm::dyn_cast<llvm::FixedVectorType>(m.type);
  if (!vector)
    return m.e.intrinsic(id, operands, overloads);
  Lanes result = llvm::PoisonValue::get(m.type);
  for (uint64_t i = 0; i < vector->getNumElements(); ++i) {
    llvm::SmallVector<Lanes> lanes;
    for (Lanes operand : operands)
      lanes.push_back(b.CreateExtractElement(operand, i));
    result = b.CreateInsertElement(result, m.e.intrinsic(id, lanes, overloads), i);
  }
  return result;
}

/// The hardware's 2^r times 2^n, where `shifted` is n + 127 in its low bits. Denormal 2^r are 0.
Lanes unitScaledExp2(F32 &m, Lanes r, Lanes shifted) {
  auto &b = m.e.b;
  Lanes power = eachLane(m, {r}, llvm::Intrinsic::nvvm_ex2_approx_ftz, {b.getFloatTy()});
  return m.mul(power, m.fromBits(b.CreateShl(m.toBits(shifted), 23)));
}

// 1.5 * 2^23 plus the bias of exponents: adding it rounds to an integer n of [-126, 126] and leaves n + 127 in the low bits.
constexpr double unitMagic = 12582912.0 + 127.0;

/// Nearly the integer nearest to x * factor, cut off at +-126, plus unitMagic. Cutting off costs nothing where a multiplication saturates
/// to [0, 1]. NaN gives a number.
Lanes unitExponent(F32 &m, Lanes x, double factor) {
  Lanes part = eachLane(m, {m.fma(x, m.number(factor / 252), m.number(0.5))}, llvm::Intrinsic::nvvm_saturate_f);
  return m.fma(part, m.number(252.0), m.number(unitMagic - 126));
}

/// exp: x log2(e) = n + r with n cut off at +-126: beyond, r goes on and 2^r with it. NaN stays in r. 2 ULP.
Lanes unitExp(F32 &m, Lanes x) {
  Lanes shifted = unitExponent(m, x, 1.4426950408889634);
  Lanes minusN = m.sub(m.number(unitMagic), shifted);
  Lanes r = m.fma(x, m.number(1.4426950216293335), minusN); // log2(e) in two parts
  return unitScaledExp2(m, m.fma(x, m.number(1.925963033500011e-08), r), shifted);
}

/// A function of the module that is always inlined, made once for a type: its branches keep what calls it straight-line code.
llvm::Function *ownFunction(Emitter &e, llvm::StringRef name, llvm::FixedVectorType *type, llvm::ArrayRef<llvm::Type *> arguments,
                            llvm::function_ref<llvm::Value *(llvm::Function *)> body) {
  std::string symbol = ("tilery." + name + ".f32x" + llvm::Twine(type->getNumElements())).str();
  if (llvm::Function *existing = e.module.getFunction(symbol))
    return existing;
  auto &b = e.b;
  llvm::IRBuilder<>::InsertPointGuard guard(b);
  auto debug = b.getCurrentDebugLocation();
  b.SetCurrentDebugLocation(llvm::DebugLoc());
  auto *function =
      llvm::Function::Create(llvm::FunctionType::get(type, arguments, false), llvm::Function::InternalLinkage, symbol, e.module);
  function->setDoesNotThrow();
  function->setDoesNotAccessMemory();
  function->addFnAttr(llvm::Attribute::AlwaysInline);
  b.SetInsertPoint(llvm::BasicBlock::Create(e.context(), "", function));
  b.CreateRet(body(function));
  b.SetCurrentDebugLocation(debug);
  return function;
}

/// `fast` where `usual` holds; elsewhere what rare() emits.
Lanes unless(Emitter &e, llvm::Value *usual, Lanes fast, llvm::function_ref<Lanes()> rare) {
  auto kept = [&] {
    keepBranch(e.b);
    return lower::Values{rare()};
  };
  return lower::emitUnless(e.b, usual, fast, kept)[0];
}

/// (x, d, 1 / d) -> x / d as a function of the module. Markstein: a quotient that is off by less than its last place becomes the
/// correctly rounded one by adding its exact remainder times the rounded reciprocal. That needs results and remainders that are no
/// denormals; zeros, infinities and NaNs are divided, too.
llvm::Function *uniformDivision(Emitter &e, llvm::FixedVectorType *type) {
  auto &b = e.b;
  llvm::Type *scalar = b.getFloatTy();
  return ownFunction(e, "divide", type, {type, scalar, scalar}, [&](llvm::Function *function) {
    F32 m(e, type);
    unsigned lanes = type->getNumElements();
    llvm::Value *divisor = function->getArg(1);
    Lanes x = function->getArg(0), d = b.CreateVectorSplat(lanes, divisor), r = b.CreateVectorSplat(lanes, function->getArg(2));
    Lanes minusD = b.CreateFNeg(d), q = m.mul(x, r);
    q = m.fma(m.fma(minusD, q, x), r, q);
    q = m.fma(m.fma(minusD, q, x), r, q);
    Lanes size = m.abs(q);
    llvm::Value *least = b.CreateExtractElement(size, uint64_t(0)); // NaN where any is NaN
    for (uint64_t i = 1; i < lanes; ++i)
      least = e.intrinsic(llvm::Intrinsic::minimum, {least, b.CreateExtractElement(size, i)}, {scalar});
    auto number = [&](double value) { return llvm::ConstantFP::get(scalar, value); };
    llvm::Value *range = e.intrinsic(llvm::Intrinsic::fabs, {divisor}, {scalar});
    llvm::Value *usual = b.CreateAnd(b.CreateFCmpOGE(range, number(0x1p-40)), b.CreateFCmpOLE(range, number(0x1p100)));
    usual = b.CreateAnd(usual, b.CreateFCmpOGE(least, number(0x1p-60)));
    return unless(e, usual, q, [&] { return m.div(x, d); });
  });
}

/// What a divisor is multiplied with so that it and its reciprocal stay in [2^-64, 2^64]; x takes the same factor before it meets the
/// reciprocal, so that neither step overflows, or rounds a denormal, where the quotient is none.
Lanes scaleOfDivisor(F32 &m, Lanes divisor) {
  auto &b = m.e.b;
  Lanes size = m.abs(divisor);
  Lanes factor = b.CreateSelect(b.CreateFCmpOLT(size, m.number(0x1p-64)), m.number(0x1p64), m.number(1.0));
  return b.CreateSelect(b.CreateFCmpOGT(size, m.number(0x1p64)), m.number(0x1p-64), factor);
}

/// (x, d, 1 / d, whether d and 1 / d are normal numbers) -> x / d within 2 ULP as a function of the module.
llvm::Function *nearDivision(Emitter &e, llvm::FixedVectorType *type) {
  auto &b = e.b;
  llvm::Type *scalar = b.getFloatTy();
  return ownFunction(e, "divide_nearly", type, {type, scalar, scalar, b.getInt1Ty()}, [&](llvm::Function *function) {
    F32 m(e, scalar), wide(e, type);
    auto splat = [&](llvm::Value *value) { return b.CreateVectorSplat(type->getNumElements(), value); };
    Lanes x = function->getArg(0), divisor = function->getArg(1), near = wide.mul(x, splat(function->getArg(2)));
    return unless(e, function->getArg(3), near, [&] {
      Lanes factor = scaleOfDivisor(m, divisor);
      return wide.mul(wide.mul(x, splat(factor)), splat(m.div(m.number(1.0), m.mul(divisor, factor))));
    });
  });
}

} // namespace

Lanes approximateExp(Emitter &e, Lanes x) {
  F32 m(e, x->getType());
  return unitExp(m, x);
}

// What is multiplied last is a power of two, so that a sum of normal results is the same, fused or not.
Lanes summedExp(Emitter &e, Lanes x) {
  Lanes result = approximateExp(e, x);
  if (auto *product = llvm::dyn_cast<llvm::Instruction>(result))
    product->setHasAllowContract(true);
  return result;
}

// The hardware's power, 2 ULP, which makes 0 of denormal results: these are rounded once, of a power 2^24 times as large. (Its instruction
// that gives denormals squares the power of half the exponent: 2.4 ULP.)
Lanes approximateExp2(Emitter &e, Lanes x) {
  F32 m(e, x->getType());
  auto &b = m.e.b;
  Lanes low = b.CreateFCmpOLT(x, m.number(-126.0));
  Lanes power =
      eachLane(m, {b.CreateSelect(low, m.add(x, m.number(24.0)), x)}, llvm::Intrinsic::nvvm_ex2_approx_ftz, {b.getFloatTy()});
  return b.CreateSelect(low, m.mul(power, m.number(0x1p-24)), power);
}

// A square of half the exponent: it neither overflows nor is a denormal before the result is.
Lanes nearExp(Emitter &e, Lanes x) {
  F32 m(e, x->getType());
  Lanes half = nearExp2(e, m.mul(x, m.number(1.4426950408889634 / 2)));
  return m.mul(half, half);
}

Lanes nearExp2(Emitter &e, Lanes x) {
  F32 m(e, x->getType());
  return eachLane(m, {x}, llvm::Intrinsic::nvvm_ex2_approx_ftz, {e.b.getFloatTy()});
}

// log2(erfc(a)) goes down for ever where its polynomials end, so that nothing is cut off.
Lanes approximateErf(Emitter &e, Lanes x) {
  F32 m(e, x->getType());
  Lanes a = m.abs(x), s = m.mul(a, a);
  Lanes small = m.fma(a,
                      m.polynomial(s, {0.12837915122509003, -0.37612494826316833, 0.11281802505254745, -0.026765568181872368,
                                       0.004990980960428715, -0.0005976897082291543}),
                      a);
  Lanes power =
      nearExp2(e, m.polynomial(a, {0.0002537395339459181, -1.6295541524887085, -0.9137086868286133, -0.1562352031469345,
                                   0.03625298663973808, -0.006022753193974495, 0.0006278915097936988, -3.0530467483913526e-05}));
  Lanes large = m.sub(m.number(1.0), power);
  return m.withSign(e.b.CreateSelect(e.b.CreateFCmpOLT(a, m.number(0.925)), small, large), x);
}

Lanes nearErf(Emitter &e, Lanes x) {
  F32 m(e, x->getType());
  Lanes a = m.abs(x);
  Lanes exponent =
      m.mul(a, m.polynomial(a, {-1.6279085874557495, -0.9184167385101318, -0.14848016202449799, 0.02825063467025757,
                                -0.0007712636142969131, -0.001491450471803546, 0.00044611620251089334, -4.543162140180357e-05}));
  return m.withSign(m.sub(m.number(1.0), nearExp2(e, exponent)), x);
}

// 1 - 2 / (exp(2a) + 1): what the power and the reciprocal are off by shrinks on the way. Infinite powers give 1.
Lanes approximateTanh(Emitter &e, Lanes x) {
  F32 m(e, x->getType());
  Lanes a = m.abs(x), s = m.mul(a, a);
  Lanes small = m.fma(m.mul(a, s),
                      m.polynomial(s, {-0.33333298563957214, 0.13332220911979675, -0.053852323442697525, 0.021302970126271248,
                                       -0.007409528363496065, 0.0015847410541027784}),
                      a);
  Lanes power = nearExp2(e, m.mul(a, m.number(2 * 1.4426950408889634)));
  Lanes reciprocal = eachLane(m, {m.add(power, m.number(1.0))}, llvm::Intrinsic::nvvm_rcp_approx_ftz_f);
  Lanes large = m.fma(reciprocal, m.number(-2.0), m.number(1.0));
  return m.withSign(e.b.CreateSelect(e.b.CreateFCmpOLT(a, m.number(0.8)), small, large), x);
}

namespace {
/// log2(x) by one instruction; of a constant here.
Lanes nearLog2(F32 &m, Lanes x) {
  auto *constant = llvm::dyn_cast<llvm::Constant>(x);
  auto *number =
      llvm::dyn_cast_or_null<llvm::ConstantFP>(constant && m.type->isVectorTy() ? constant->getSplatValue() : constant);
  if (number)
    return m.number(std::log2(number->getValueAPF().convertToDouble()));
  return eachLane(m, {x}, llvm::Intrinsic::nvvm_lg2_approx_ftz_f);
}
} // namespace

Lanes fastFunction(Emitter &e, llvm::StringRef name, llvm::ArrayRef<Lanes> operands) {
  Lanes x = operands[0];
  F32 m(e, x->getType());
  auto by = [&](llvm::Intrinsic::ID id) { return eachLane(m, {x}, id); };
  if (name == "log2 nearly")
    return nearLog2(m, x);
  if (name == "log nearly")
    return m.mul(nearLog2(m, x), m.number(0.6931471805599453));
  if (name == "log10 nearly")
    return m.mul(nearLog2(m, x), m.number(0.30102999566398120));
  if (name == "pow nearly")
    return nearExp2(e, m.mul(operands[1], nearLog2(m, x)));
  if (name == "sin nearly")
    return by(llvm::Intrinsic::nvvm_sin_approx_ftz_f);
  if (name == "cos nearly")
    return by(llvm::Intrinsic::nvvm_cos_approx_ftz_f);
  if (name == "tan nearly")
    return approximateQuotient(e, by(llvm::Intrinsic::nvvm_sin_approx_ftz_f), by(llvm::Intrinsic::nvvm_cos_approx_ftz_f));
  if (name == "rsqrt nearly")
    return by(llvm::Intrinsic::nvvm_rsqrt_approx_ftz_f);
  return nullptr;
}

Lanes approximateQuotient(Emitter &e, Lanes x, Lanes y) {
  F32 m(e, x->getType());
  return eachLane(m, {x, y}, llvm::Intrinsic::nvvm_div_full);
}

Lanes divideByUniform(Emitter &e, Lanes x, Lanes divisor) {
  auto *type = llvm::cast<llvm::FixedVectorType>(x->getType());
  F32 m(e, e.b.getFloatTy());
  return e.b.CreateCall(uniformDivision(e, type), {x, divisor, m.div(m.number(1.0), divisor)});
}

Lanes divideByUniformNearly(Emitter &e, Lanes x, Lanes divisor) {
  constexpr unsigned few = 2; // lanes, for which a second product costs less than a branch of their own
  F32 m(e, divisor->getType());
  auto &b = e.b;
  if (unsigned lanes = e.lanesOf(x); lanes <= few) {
    F32 wide(e, x->getType());
    Lanes factor = scaleOfDivisor(m, divisor), reciprocal = m.div(m.number(1.0), m.mul(divisor, factor));
    return wide.mul(wide.mul(x, b.CreateVectorSplat(lanes, factor)), b.CreateVectorSplat(lanes, reciprocal));
  }
  Lanes size = m.abs(divisor);
  Lanes usual = b.CreateAnd(b.CreateFCmpOGE(size, m.number(0x1p-126)), b.CreateFCmpOLE(size, m.number(0x1p126)));
  auto *function = nearDivision(e, llvm::cast<llvm::FixedVectorType>(x->getType()));
  return b.CreateCall(function, {x, divisor, m.div(m.number(1.0), divisor), usual});
}

} // namespace tilery::cuda
