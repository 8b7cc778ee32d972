// Our own f32 functions computed in f64 lanes and rounded once: the spare bits stand for the care that cancellation, double steps and
// overflow of intermediate values would take in f32. At most 1 ULP, with IEEE results for infinities, NaN, zeros and denormals.
// The polynomials come from tools/fit_math.py, which states what each one approximates.
#include "compiler/lower/floats.h"
#include "compiler/lower/math.h"
#include <numbers>

namespace tilery::lower {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
constexpr double magic = 6755399441055744.0; // 1.5 * 2^52: adding it rounds to an integer, which then stands in the low bits

/// `yes` where `test` holds.
Lanes select(F64 &m, Lanes test, Lanes yes, Lanes no) { return m.e.b.CreateSelect(test, yes, no); }
/// x where it is a zero: odd functions keep its sign.
Lanes keepZero(F64 &m, Lanes x, Lanes y) { return select(m, m.e.b.CreateFCmpOEQ(x, m.number(0.0)), x, y); }
Lanes floor(F64 &m, Lanes x) { return m.e.intrinsic(llvm::Intrinsic::floor, {x}, {m.type}); }
Lanes isNegative(F64 &m, Lanes x) { return m.e.b.CreateICmpSLT(m.toBits(x), m.bits(0)); }

/// e^x = scale + scale * part, for x cut off at +-110: beyond, f32 has 0 and infinity either way. NaN stays.
struct Power {
  Lanes scale, part;
};
Power power(F64 &m, Lanes x) {
  auto &b = m.e.b;
  x = select(m, b.CreateFCmpOGT(x, m.number(110.0)), m.number(110.0), x);
  x = select(m, b.CreateFCmpOLT(x, m.number(-110.0)), m.number(-110.0), x);
  Lanes t = m.fma(x, m.number(std::numbers::log2e), m.number(magic));
  Lanes r = m.fma(m.sub(t, m.number(magic)), m.number(-std::numbers::ln2), x);
  Lanes rest = m.polynomial(r, {0.4999999999971581, 0.16666666759698034, 0.04166666697219207, 0.008333287219127412,
                                0.0013888806169521913, 0.00019906202145427294, 2.4884088999139023e-05});
  Lanes exponent = b.CreateShl(m.toBits(t), m.bits(52));
  return {m.fromBits(b.CreateAdd(exponent, m.bits(0x3FF0000000000000))), m.fma(m.mul(r, r), rest, r)};
}
Lanes exp(F64 &m, Lanes x) {
  Power p = power(m, x);
  return m.fma(p.scale, p.part, p.scale);
}
Lanes expm1(F64 &m, Lanes x) {
  Power p = power(m, x);
  return m.fma(p.scale, p.part, m.sub(p.scale, m.number(1.0)));
}

/// log of positive normal numbers, + `correction`; zero, infinity, NaN and negative numbers have IEEE's results.
Lanes log(F64 &m, Lanes x, Lanes correction = nullptr) {
  auto &b = m.e.b;
  constexpr uint64_t root = 0x3FE6A09E667F3BCD; // sqrt 1/2: x = 2^n (1 + f) with 1 + f from there to sqrt 2
  Lanes shifted = b.CreateSub(m.toBits(x), m.bits(root));
  Lanes mantissa = b.CreateAdd(b.CreateAnd(shifted, m.bits(0x000FFFFFFFFFFFFF)), m.bits(root));
  // No AVX2 instruction converts 64-bit integers: n, made positive, becomes the low bits of 2^52.
  Lanes biased = b.CreateXor(b.CreateLShr(shifted, m.bits(52)), m.bits(0x4330000000000800));
  Lanes n = m.sub(m.fromBits(biased), m.number(0x1p52 + 2048));
  Lanes f = m.sub(m.fromBits(mantissa), m.number(1.0)), square = m.mul(f, f);
  Lanes p = m.polynomial(f, {0.33333333399182546, -0.2500000112566799, 0.19999989260472859, -0.16666532462898515,
                             0.1428617912919302, -0.12505713473548133, 0.11105470914602687, -0.09889385363939887,
                             0.0904020019819694, -0.09286946516666768, 0.09115753439804232, -0.048226123986484494});
  Lanes y = m.fma(square, m.fma(f, p, m.number(-0.5)), f);
  y = m.fma(n, m.number(std::numbers::ln2), correction ? m.add(y, correction) : y);
  y = select(m, b.CreateFCmpOEQ(x, m.number(inf)), x, y);
  y = select(m, b.CreateFCmpOEQ(x, m.number(0.0)), m.number(-inf), y);
  return select(m, b.CreateFCmpULT(x, m.number(0.0)), m.number(nan), y);
}
/// log(1 + y) for y from f32, or y >= 0. What the sum 1 + y rounds away matters where it is small.
Lanes log1p(F64 &m, Lanes y) {
  Lanes sum = m.add(m.number(1.0), y), lost = m.sub(y, m.sub(sum, m.number(1.0)));
  return log(m, sum, select(m, m.e.b.CreateFCmpOLT(sum, m.number(2.0)), lost, m.number(0.0)));
}

/// The angle of the point (x, y), x and y >= 0, from 0 to pi/2: y / x = infinity / infinity counts as 1, 0 / 0 as 0.
Lanes angle(F64 &m, Lanes y, Lanes x) {
  auto &b = m.e.b;
  Lanes steep = b.CreateFCmpOGT(y, x);
  Lanes low = select(m, steep, x, y), high = select(m, steep, y, x);
  Lanes q = m.div(low, select(m, b.CreateFCmpOEQ(high, m.number(0.0)), m.number(1.0), high));
  Lanes diagonal = b.CreateAnd(b.CreateFCmpOEQ(low, m.number(inf)), b.CreateFCmpOEQ(high, m.number(inf)));
  q = select(m, diagonal, m.number(1.0), q);
  Lanes s = m.mul(q, q);
  Lanes p = m.polynomial(s, {-0.33333326898059895, 0.1999967107899097, -0.142798325600952, 0.11058220840722172,
                             -0.08811081778034972, 0.06741577123728063, -0.04468968035271508, 0.02253965880588286,
                             -0.007317863976216959, 0.0011137711628982593});
  Lanes small = m.fma(m.mul(q, s), p, q);
  return select(m, steep, m.sub(m.number(std::numbers::pi / 2), small), small);
}
/// sqrt(1 - a^2); NaN for a > 1.
Lanes complement(F64 &m, Lanes a) { return m.sqrt(m.fma(m.e.b.CreateFNeg(a), a, m.number(1.0))); }
/// `angle` of the first quadrant mirrored to where x is.
Lanes mirrored(F64 &m, Lanes angle, Lanes x) {
  return select(m, isNegative(m, x), m.sub(m.number(std::numbers::pi), angle), angle);
}

Lanes sinh(F64 &m, Lanes x) {
  Lanes e = expm1(m, m.abs(x));
  Lanes sum = m.add(e, m.div(e, m.add(e, m.number(1.0))));
  return m.withSign(m.mul(sum, m.number(0.5)), x);
}
Lanes cosh(F64 &m, Lanes x) {
  Lanes e = exp(m, m.abs(x));
  return m.mul(m.add(e, m.div(m.number(1.0), e)), m.number(0.5));
}
Lanes asinh(F64 &m, Lanes x) {
  Lanes a = m.abs(x), s = m.mul(a, a);
  Lanes part = m.div(s, m.add(m.number(1.0), m.sqrt(m.add(s, m.number(1.0)))));
  Lanes y = log1p(m, m.add(a, part));
  return m.withSign(select(m, m.e.b.CreateFCmpOEQ(a, m.number(inf)), a, y), x);
}
Lanes acosh(F64 &m, Lanes x) {
  Lanes t = m.sub(x, m.number(1.0));
  Lanes y = log1p(m, m.add(t, m.sqrt(m.mul(t, m.add(t, m.number(2.0))))));
  return select(m, m.e.b.CreateFCmpOLT(x, m.number(1.0)), m.number(nan), y);
}
Lanes atanh(F64 &m, Lanes x) {
  Lanes a = m.abs(x);
  Lanes y = log1p(m, m.div(m.add(a, a), m.sub(m.number(1.0), a)));
  return m.withSign(m.mul(y, m.number(0.5)), x);
}
Lanes asin(F64 &m, Lanes x) {
  Lanes a = m.abs(x);
  return m.withSign(angle(m, a, complement(m, a)), x);
}
Lanes acos(F64 &m, Lanes x) {
  Lanes a = m.abs(x);
  return mirrored(m, angle(m, complement(m, a), a), x);
}
Lanes atan(F64 &m, Lanes x) { return m.withSign(angle(m, m.abs(x), m.number(1.0)), x); }
Lanes atan2(F64 &m, Lanes y, Lanes x) { return m.withSign(mirrored(m, angle(m, m.abs(y), m.abs(x)), x), y); }
Lanes cbrt(F64 &m, Lanes x) {
  return keepZero(m, x, m.withSign(exp(m, m.mul(log(m, m.abs(x)), m.number(1.0 / 3.0))), x));
}

/// erfc(a) = exp(-a^2) erfcx(a), and erfcx(a) (1 + 2a) is a polynomial in (a - 2) / (a + 2); from 10.06 on it is 0 in f32.
Lanes erfc(F64 &m, Lanes x) {
  auto &b = m.e.b;
  Lanes a = m.abs(x);
  a = select(m, b.CreateFCmpOGT(a, m.number(10.2)), m.number(10.2), a);
  Lanes t = m.div(m.sub(a, m.number(2.0)), m.add(a, m.number(2.0)));
  Lanes p = m.polynomial(t, {1.2769783818185203, -0.09276382855104219, -0.16603043177439653, 0.16405135454871658,
                             -0.05421926034217223, -0.00803463012848382, 0.008716567721725996, 0.0012718021688098852,
                             -0.001433795672828592, -0.0004439631769414012, 0.00016723017427491447, 0.00011520431697971337,
                             1.7247023828398255e-05});
  Lanes tail = m.div(m.mul(exp(m, m.mul(b.CreateFNeg(a), a)), p), m.fma(a, m.number(2.0), m.number(1.0)));
  return select(m, isNegative(m, x), m.sub(m.number(2.0), tail), tail);
}

/// IEEE's pow: |x|^y = exp(y log |x|) with the sign of odd powers, and the cases whose result does not depend on one operand.
Lanes pow(F64 &m, Lanes x, Lanes y) {
  auto &b = m.e.b;
  Lanes a = m.abs(x), one = m.number(1.0), zero = m.number(0.0);
  Lanes exponent = m.mul(y, log(m, a));
  exponent = select(m, b.CreateAnd(b.CreateFCmpOEQ(a, one), b.CreateFCmpORD(y, y)), zero, exponent); // (-1)^inf is 1
  Lanes result = exp(m, exponent), half = m.mul(y, m.number(0.5));
  Lanes fraction = b.CreateFCmpONE(floor(m, y), y), odd = b.CreateAnd(b.CreateNot(fraction), b.CreateFCmpONE(floor(m, half), half));
  result = select(m, b.CreateAnd(isNegative(m, x), odd), b.CreateFNeg(result), result);
  Lanes undefined = b.CreateAnd(b.CreateAnd(b.CreateFCmpOLT(x, zero), b.CreateFCmpONE(x, m.number(-inf))), fraction);
  result = select(m, undefined, m.number(nan), result);
  return select(m, b.CreateOr(b.CreateFCmpOEQ(x, one), b.CreateFCmpOEQ(y, zero)), one, result);
}

/// tan for |x| <= 2^28: the argument reduced with pi/2 in two parts, then sine over cosine.
Lanes tan(F64 &m, Lanes x) {
  auto &b = m.e.b;
  Lanes t = m.fma(x, m.number(2 / std::numbers::pi), m.number(magic)), n = m.sub(t, m.number(magic));
  Lanes r = m.fma(n, m.number(-6.1232339957367658861e-17), m.fma(n, m.number(-1.5707963267948965580), x));
  Lanes s = m.mul(r, r);
  Lanes sine = m.fma(m.mul(r, s),
                     m.polynomial(s, {-0.16666666666627966, 0.008333333324611378, -0.000198412634569241, 2.7555279055311697e-06,
                                      -2.475589204386004e-08}),
                     r);
  Lanes cosine = m.fma(
      m.mul(s, s),
      m.polynomial(s, {0.04166666661920679, -0.0013888883438598501, 2.479943644553632e-05, -2.7203306311269517e-07}),
      m.fma(s, m.number(-0.5), m.number(1.0)));
  Lanes odd = b.CreateICmpNE(b.CreateAnd(m.toBits(t), m.bits(1)), m.bits(0));
  return keepZero(m, x, m.div(select(m, odd, b.CreateFNeg(cosine), sine), select(m, odd, sine, cosine)));
}

/// The quotient, cut off, may be one off; the remainder is exact, since both operands are multiples of what its last place is worth.
struct Remainder {
  Lanes value, quotient;
};
Remainder remainder(F64 &m, Lanes x, Lanes y) {
  auto &b = m.e.b;
  Lanes a = m.abs(x), d = m.abs(y);
  Lanes quotient = m.e.intrinsic(llvm::Intrinsic::trunc, {m.div(a, d)}, {m.type});
  Lanes r = m.fma(b.CreateFNeg(quotient), d, a);
  r = select(m, b.CreateFCmpOLT(r, m.number(0.0)), m.add(r, d), r);
  r = select(m, b.CreateFCmpOGE(r, d), m.sub(r, d), r);
  Lanes unchanged = b.CreateAnd(b.CreateFCmpOEQ(d, m.number(inf)), b.CreateFCmpONE(a, m.number(inf)));
  return {m.withSign(select(m, unchanged, a, r), x), quotient};
}

using Unary = Lanes (*)(F64 &, Lanes);
using Binary = Lanes (*)(F64 &, Lanes, Lanes);

Unary unaryFunction(llvm::StringRef name) {
  return llvm::StringSwitch<Unary>(name)
      .Case("expm1", [](F64 &m, Lanes x) { return keepZero(m, x, expm1(m, x)); })
      .Case("log10", [](F64 &m, Lanes x) { return m.mul(log(m, x), m.number(std::numbers::log10e)); })
      .Case("log1p", [](F64 &m, Lanes x) { return keepZero(m, x, log1p(m, x)); })
      .Case("erfc", erfc)
      .Case("asin", asin)
      .Case("acos", acos)
      .Case("atan", atan)
      .Case("sinh", sinh)
      .Case("cosh", cosh)
      .Case("asinh", asinh)
      .Case("acosh", acosh)
      .Case("atanh", atanh)
      .Case("cbrt", cbrt)
      .Default(nullptr);
}
} // namespace

Lanes emitWideMath(Emitter &e, llvm::StringRef name, llvm::ArrayRef<Lanes> operands) {
  auto &b = e.b;
  llvm::Type *narrow = operands[0]->getType();
  F64 m(e, narrow->getWithNewType(b.getDoubleTy()));
  auto wide = [&](Lanes x) { return b.CreateFPExt(x, m.type); };
  auto rounded = [&](Lanes x) { return b.CreateFPTrunc(x, narrow); };
  if (Unary function = unaryFunction(name))
    return rounded(function(m, wide(operands[0])));
  Binary binary = llvm::StringSwitch<Binary>(name).Case("pow", pow).Case("atan2", atan2).Default(nullptr);
  if (binary)
    return rounded(binary(m, wide(operands[0]), wide(operands[1])));
  if (name == "tan")
    return callOwnFunction(e, name, operands, [&](llvm::ArrayRef<Lanes> x) {
      Lanes argument = wide(x[0]);
      Lanes huge = b.CreateFCmpOGT(m.abs(argument), m.number(0x1p28));
      return unlessRare(e, rounded(tan(m, argument)), huge, name, x);
    });
  if (name == "fmod")
    return callOwnFunction(e, name, operands, [&](llvm::ArrayRef<Lanes> x) {
      Remainder r = remainder(m, wide(x[0]), wide(x[1]));
      Lanes huge = b.CreateAnd(b.CreateFCmpOGT(r.quotient, m.number(0x1p52)), b.CreateFCmpONE(r.quotient, m.number(inf)));
      return unlessRare(e, rounded(r.value), huge, name, x);
    });
  return nullptr;
}

} // namespace tilery::lower
