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

// Divisions of f64 take four times as long as those of f32, which run beside other arithmetic: one step of Newton's after f32's leaves an
// error of 2^-46.
/// 1 / d for |d| below 2^126 or of f32's normal numbers: for larger ones (infinity included) 0 or NaN, for 0 NaN.
Lanes reciprocal(F64 &m, Lanes d) {
  auto &b = m.e.b;
  F32 narrow(m.e, m.type->getWithNewType(b.getFloatTy()));
  Lanes r = b.CreateFPExt(narrow.div(narrow.number(1.0), b.CreateFPTrunc(d, narrow.type)), m.type);
  return m.mul(r, m.fma(b.CreateFNeg(d), r, m.number(2.0)));
}
/// sqrt(x) for x of 0 or [2^-100, 2^100], NaN for NaN, and some number for others. The error is 2^-35: 1 / sqrt x from half the bits of the
/// exponent, two steps of Newton's in f32, and one in f64 for the root (f32's own root and quotient took longer).
Lanes root(F64 &m, Lanes x) {
  auto &b = m.e.b;
  F32 narrow(m.e, m.type->getWithNewType(b.getFloatTy()));
  Lanes near = b.CreateFPTrunc(x, narrow.type), minusHalf = narrow.mul(near, narrow.number(-0.5));
  Lanes r = narrow.fromBits(b.CreateSub(narrow.bits(0x5F375A86), b.CreateLShr(narrow.toBits(near), narrow.bits(1))));
  for (int step = 0; step < 2; ++step)
    r = narrow.mul(r, narrow.fma(narrow.mul(minusHalf, r), r, narrow.number(1.5)));
  r = b.CreateFPExt(r, m.type);
  Lanes y = m.mul(x, r);
  return m.fma(m.fma(b.CreateFNeg(y), y, x), m.mul(r, m.number(0.5)), y);
}

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

/// x = 2^n mantissa with the mantissa from sqrt 1/2 to sqrt 2.
struct Parts {
  Lanes n, mantissa;
};
Parts split(F64 &m, Lanes x) {
  auto &b = m.e.b;
  constexpr uint64_t root = 0x3FE6A09E667F3BCD; // sqrt 1/2
  Lanes shifted = b.CreateSub(m.toBits(x), m.bits(root));
  Lanes mantissa = b.CreateAdd(b.CreateAnd(shifted, m.bits(0x000FFFFFFFFFFFFF)), m.bits(root));
  // No AVX2 instruction converts 64-bit integers: n, made positive, becomes the low bits of 2^52.
  Lanes biased = b.CreateXor(b.CreateLShr(shifted, m.bits(52)), m.bits(0x4330000000000800));
  return {m.sub(m.fromBits(biased), m.number(0x1p52 + 2048)), m.fromBits(mantissa)};
}
/// log of positive normal numbers within 2^-30 of itself; `lessOne` is x - 1 where that has places which x rounds away. `precise`: within 2^-38,
/// for what is multiplied and goes through exp.
Lanes logOfNormal(F64 &m, Lanes x, Lanes lessOne = nullptr, bool precise = false) {
  auto [n, mantissa] = split(m, x);
  Lanes f = m.sub(mantissa, m.number(1.0));
  if (lessOne)
    f = select(m, m.e.b.CreateFCmpOEQ(n, m.number(0.0)), lessOne, f);
  Lanes p = precise ? m.polynomial(f, {0.33333333399182546, -0.2500000112566799, 0.19999989260472859, -0.16666532462898515,
                                       0.1428617912919302, -0.12505713473548133, 0.11105470914602687, -0.09889385363939887,
                                       0.0904020019819694, -0.09286946516666768, 0.09115753439804232, -0.048226123986484494})
                    : m.polynomial(f, {0.3333331260578512, -0.2500000960364543, 0.20002118536583535, -0.16667995504261154,
                                       0.14219554584490146, -0.12405596506369755, 0.11888153609188212, -0.11675604223555507,
                                       0.06746602804969207});
  return m.fma(n, m.number(std::numbers::ln2), m.fma(m.mul(f, f), m.fma(f, p, m.number(-0.5)), f));
}
/// `y`, the logarithm of x, with IEEE's results for zero, infinity, NaN and negative numbers.
Lanes logEdges(F64 &m, Lanes x, Lanes y) {
  auto &b = m.e.b;
  y = select(m, b.CreateFCmpOEQ(x, m.number(inf)), x, y);
  y = select(m, b.CreateFCmpOEQ(x, m.number(0.0)), m.number(-inf), y);
  return select(m, b.CreateFCmpULT(x, m.number(0.0)), m.number(nan), y);
}
Lanes log(F64 &m, Lanes x, bool precise = false) { return logEdges(m, x, logOfNormal(m, x, nullptr, precise)); }
/// log(1 + y) for y from f32.
Lanes log1p(F64 &m, Lanes y) {
  Lanes sum = m.add(m.number(1.0), y);
  return logEdges(m, sum, logOfNormal(m, sum, y));
}
/// log(1 + y) for y >= 0 and NaN, below 2^130 or infinite.
Lanes log1pOfPositive(F64 &m, Lanes y) {
  Lanes result = logOfNormal(m, m.add(m.number(1.0), y), y);
  return m.fma(y, m.number(0x1p-300), result); // infinity and NaN pass, others add nothing
}

/// atan(q) for q of [0, 1]; pi/2 less that where `steep`.
Lanes angle(F64 &m, Lanes q, Lanes steep) {
  Lanes s = m.mul(q, q);
  Lanes p = m.polynomial(s, {-0.33333326898059895, 0.1999967107899097, -0.142798325600952, 0.11058220840722172,
                             -0.08811081778034972, 0.06741577123728063, -0.04468968035271508, 0.02253965880588286,
                             -0.007317863976216959, 0.0011137711628982593});
  Lanes small = m.fma(m.mul(q, s), p, q);
  return select(m, steep, m.sub(m.number(std::numbers::pi / 2), small), small);
}
/// `angle` of the first quadrant mirrored to where x is.
Lanes mirrored(F64 &m, Lanes angle, Lanes x) {
  return select(m, isNegative(m, x), m.sub(m.number(std::numbers::pi), angle), angle);
}
/// atan2: infinity / infinity counts as 1, 0 / 0 as 0.
Lanes atan2(F64 &m, Lanes y, Lanes x) {
  auto &b = m.e.b;
  Lanes up = m.abs(y), right = m.abs(x), steep = b.CreateFCmpOGT(up, right);
  Lanes low = select(m, steep, right, up), high = select(m, steep, up, right);
  Lanes q = m.div(low, select(m, b.CreateFCmpOEQ(high, m.number(0.0)), m.number(1.0), high));
  Lanes diagonal = b.CreateAnd(b.CreateFCmpOEQ(low, m.number(inf)), b.CreateFCmpOEQ(high, m.number(inf)));
  return m.withSign(mirrored(m, angle(m, select(m, diagonal, m.number(1.0), q), steep), x), y);
}
Lanes atan(F64 &m, Lanes x) {
  auto &b = m.e.b;
  Lanes a = m.abs(x);
  a = select(m, b.CreateFCmpOGT(a, m.number(0x1p60)), m.number(0x1p60), a); // pi/2 from there on
  Lanes steep = b.CreateFCmpOGT(a, m.number(1.0));
  return m.withSign(angle(m, select(m, steep, reciprocal(m, select(m, steep, a, m.number(1.0))), a), steep), x);
}
/// asin(a) of [0, 1], from a itself up to 1/2 and from half the angle between a and 1 above: asin a = pi/2 - 2 asin sqrt((1 - a) / 2).
struct ArcSine {
  Lanes above, value; // the half angle's sine, where `above`
};
ArcSine arcSine(F64 &m, Lanes a) {
  auto &b = m.e.b;
  Lanes above = b.CreateFCmpUGT(a, m.number(0.5));
  Lanes half = m.fma(a, m.number(-0.5), m.number(0.5));
  half = select(m, b.CreateFCmpOLT(half, m.number(0.0)), m.number(nan), half);
  Lanes s = select(m, above, half, m.mul(a, a)), q = select(m, above, root(m, half), a);
  Lanes p = m.polynomial(s, {0.16666667180265682, 0.07499948897327363, 0.044659972208360744, 0.030112524973151436,
                             0.024604714117211844, 0.007509467720977488, 0.03464633479187837});
  return {above, m.fma(m.mul(q, s), p, q)};
}
Lanes asin(F64 &m, Lanes x) {
  ArcSine arc = arcSine(m, m.abs(x));
  Lanes large = m.fma(arc.value, m.number(-2.0), m.number(std::numbers::pi / 2));
  return m.withSign(select(m, arc.above, large, arc.value), x);
}
Lanes acos(F64 &m, Lanes x) {
  ArcSine arc = arcSine(m, m.abs(x));
  Lanes small = m.sub(m.number(std::numbers::pi / 2), m.withSign(arc.value, x));
  return select(m, arc.above, mirrored(m, m.add(arc.value, arc.value), x), small);
}

Lanes sinh(F64 &m, Lanes x) {
  Lanes e = expm1(m, m.abs(x));
  Lanes sum = m.fma(e, reciprocal(m, m.add(e, m.number(1.0))), e);
  return m.withSign(m.mul(sum, m.number(0.5)), x);
}
Lanes cosh(F64 &m, Lanes x) {
  Lanes e = exp(m, m.abs(x));
  return m.mul(m.add(e, reciprocal(m, e)), m.number(0.5));
}
/// From 2^40 on, sqrt(x^2 +- 1) is x.
Lanes whereLarge(F64 &m, Lanes x, Lanes large, Lanes other) {
  return select(m, m.e.b.CreateFCmpOGT(x, m.number(0x1p40)), large, other);
}
Lanes asinh(F64 &m, Lanes x) {
  Lanes a = m.abs(x),
        s = m.mul(a, a); // log1p of a + (sqrt(1 + s) - 1), and of a + s/2 where that difference would lose its places
  Lanes part = m.sub(root(m, m.add(s, m.number(1.0))), m.number(1.0));
  part = select(m, m.e.b.CreateFCmpOLT(a, m.number(0x1p-10)), m.mul(s, m.number(0.5)), part);
  return m.withSign(log1pOfPositive(m, m.add(a, whereLarge(m, a, a, part))), x);
}
Lanes acosh(F64 &m, Lanes x) {
  Lanes t = m.sub(x, m.number(1.0));
  Lanes y = log1pOfPositive(m, m.add(t, whereLarge(m, t, t, root(m, m.mul(t, m.add(t, m.number(2.0)))))));
  return select(m, m.e.b.CreateFCmpOLT(x, m.number(1.0)), m.number(nan), y);
}
/// Half the log of (1 + a) / (1 - a) = 2^n t: log t = 2 atanh((t - 1) / (t + 1)), and the same divisor serves both quotients. The difference
/// of their bits is as good as 2^n itself, for t between 2/3 and 3/2.
Lanes atanh(F64 &m, Lanes x) {
  auto &b = m.e.b;
  Lanes a = m.abs(x), one = m.number(1.0);
  Lanes quotient = b.CreateAdd(b.CreateSub(m.toBits(m.add(one, a)), m.toBits(m.sub(one, a))), m.bits(0x3FF8000000000000));
  Lanes power = m.fromBits(b.CreateAnd(quotient, m.bits(0x7FF0000000000000)));
  Lanes n =
      m.sub(m.fromBits(b.CreateOr(b.CreateLShr(quotient, m.bits(52)), m.bits(0x4330000000000000))), m.number(0x1p52 + 1023));
  Lanes less = m.sub(one, power), more = m.add(one, power);
  Lanes z = m.mul(m.fma(a, more, less), reciprocal(m, m.fma(a, less, more))), s = m.mul(z, z);
  Lanes p = m.polynomial(s, {0.3333333154835868, 0.2000043055340132, 0.14253547573737407, 0.12049603144001347});
  Lanes y = m.fma(n, m.number(std::numbers::ln2 / 2), m.fma(m.mul(z, s), p, z));
  Lanes edge = select(m, b.CreateFCmpOEQ(a, one), m.number(inf), m.number(nan));
  return m.withSign(select(m, b.CreateFCmpOLT(a, one), y, edge), x);
}
Lanes cbrt(F64 &m, Lanes x) { return keepZero(m, x, m.withSign(exp(m, m.mul(log(m, m.abs(x), true), m.number(1.0 / 3.0))), x)); }

/// erfc(a) = exp(-a^2) erfcx(a), and erfcx(a) (1 + 2a) is a polynomial in (a - 2) / (a + 2); from 10.06 on it is 0 in f32.
Lanes erfc(F64 &m, Lanes x) {
  auto &b = m.e.b;
  Lanes a = m.abs(x);
  a = select(m, b.CreateFCmpOGT(a, m.number(10.2)), m.number(10.2), a);
  Lanes first = m.add(a, m.number(2.0)), second = m.fma(a, m.number(2.0), m.number(1.0)),
        both = reciprocal(m, m.mul(first, second));
  Lanes t = m.mul(m.sub(a, m.number(2.0)), m.mul(both, second));
  Lanes p =
      m.polynomial(t, {1.2769783818185203, -0.09276382855104219, -0.16603043177439653, 0.16405135454871658, -0.05421926034217223,
                       -0.00803463012848382, 0.008716567721725996, 0.0012718021688098852, -0.001433795672828592,
                       -0.0004439631769414012, 0.00016723017427491447, 0.00011520431697971337, 1.7247023828398255e-05});
  Lanes tail = m.mul(m.mul(exp(m, m.mul(b.CreateFNeg(a), a)), p), m.mul(both, first));
  return select(m, isNegative(m, x), m.sub(m.number(2.0), tail), tail);
}

/// IEEE's pow: |x|^y = exp(y log |x|) with the sign of odd powers, and the cases whose result does not depend on one operand.
Lanes pow(F64 &m, Lanes x, Lanes y) {
  auto &b = m.e.b;
  Lanes a = m.abs(x), one = m.number(1.0), zero = m.number(0.0);
  Lanes exponent = m.mul(y, log(m, a, true));
  exponent = select(m, b.CreateAnd(b.CreateFCmpOEQ(a, one), b.CreateFCmpORD(y, y)), zero, exponent); // (-1)^inf is 1
  Lanes result = exp(m, exponent), half = m.mul(y, m.number(0.5));
  Lanes fraction = b.CreateFCmpONE(floor(m, y), y),
        odd = b.CreateAnd(b.CreateNot(fraction), b.CreateFCmpONE(floor(m, half), half));
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
      m.mul(s, s), m.polynomial(s, {0.04166666661920679, -0.0013888883438598501, 2.479943644553632e-05, -2.7203306311269517e-07}),
      m.fma(s, m.number(-0.5), m.number(1.0)));
  Lanes odd = b.CreateICmpNE(b.CreateAnd(m.toBits(t), m.bits(1)), m.bits(0));
  Lanes tangent = m.mul(select(m, odd, b.CreateFNeg(cosine), sine), reciprocal(m, select(m, odd, sine, cosine)));
  return keepZero(m, x, tangent);
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
