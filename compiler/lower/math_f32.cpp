// Our own f32 functions computed in f32, as straight-line vector code: at most 2 ULP, with IEEE results for infinities, NaN, zeros and denormals.
// The polynomials come from tools/fit_math.py, which states what each one approximates.
#include "compiler/lower/floats.h"
#include "compiler/lower/math.h"

namespace tilery::lower {
namespace {

// 1.5 * 2^23 plus twice the bias of exponents: adding it rounds to an integer n and leaves n + 254 in the low bits.
constexpr double roundMagic = 12582912.0 + 254.0;

/// p * 2^n for n of [-252, 254], in two steps so that denormal results are rounded and not flushed. `rounded` is n + roundMagic: its bits,
/// halved and shifted, are the two powers, since what is above the low bits is shifted out.
Lanes scale(F32 &m, Lanes p, Lanes rounded) {
  auto &b = m.e.b;
  Lanes n = m.toBits(rounded), half = b.CreateLShr(n, 1);
  Lanes first = m.fromBits(b.CreateShl(half, 23)), second = m.fromBits(b.CreateShl(b.CreateSub(n, half), 23));
  return m.mul(m.mul(p, first), second);
}
Lanes clamp(F32 &m, Lanes x, double lo, double hi) { // NaN stays
  auto &b = m.e.b;
  x = b.CreateSelect(b.CreateFCmpOGT(x, m.number(hi)), m.number(hi), x);
  return b.CreateSelect(b.CreateFCmpOLT(x, m.number(lo)), m.number(lo), x);
}

/// e^(x - n ln 2).
Lanes expOfRest(F32 &m, Lanes x, Lanes n) {
  Lanes r = m.fma(n, m.number(-0.693359375), x); // ln 2 in two parts, the first short: n times it is exact
  r = m.fma(n, m.number(2.12194440e-4), r);
  Lanes g = m.polynomial(
      r, {0.4999999403953552, 0.16666515171527863, 0.04166845604777336, 0.008369418792426586, 0.0013813142431899905});
  return m.fma(r, m.fma(r, g, m.number(1.0)), m.number(1.0));
}

Lanes exp(F32 &m, Lanes x) {
  x = clamp(m, x, -104.0, 89.0); // beyond: 0 and infinity either way
  Lanes t = m.fma(x, m.number(1.4426950408889634), m.number(roundMagic));
  return scale(m, expOfRest(m, x, m.sub(t, m.number(roundMagic))), t);
}

/// e^x where the result is a normal number, for x of [-87, 0] or NaN.
Lanes expOfNegative(F32 &m, Lanes x) {
  auto &b = m.e.b;
  constexpr double magic = 12582912.0 + 127.0; // as roundMagic, with one bias: the low bits are 2^n's exponent
  Lanes t = m.fma(x, m.number(1.4426950408889634), m.number(magic));
  Lanes p = expOfRest(m, x, m.sub(t, m.number(magic)));
  return m.mul(p, m.fromBits(b.CreateShl(m.toBits(t), 23)));
}

Lanes exp2(F32 &m, Lanes x) {
  x = clamp(m, x, -151.0, 129.0);
  Lanes t = m.add(x, m.number(roundMagic));
  Lanes r = m.sub(x, m.sub(t, m.number(roundMagic)));
  Lanes g = m.polynomial(r, {0.6931471824645996, 0.24022650718688965, 0.0555032454431057, 0.009617999196052551,
                             0.0013401577016338706, 0.0001547774882055819});
  return scale(m, m.fma(r, g, m.number(1.0)), t);
}

/// x = 2^e * (1 + f) with 1 + f in [sqrt 1/2, sqrt 2), and log(1 + f) = f + square * rest. Denormals are `scaled` to normal numbers.
struct Logarithm {
  Lanes scaled, e, f, square, rest;
};
Logarithm logarithm(F32 &m, Lanes x) {
  auto &b = m.e.b;
  Lanes tiny = b.CreateFCmpOLT(x, m.number(1.1754943508222875e-38));
  Lanes scaled = b.CreateSelect(tiny, m.mul(x, m.number(8388608.0)), x);
  Lanes raw = m.toBits(scaled);
  Lanes power = b.CreateAnd(b.CreateSub(raw, m.bits(0x3F3504F3)), m.bits(0xFF800000)); // sqrt 1/2; e where exponents are
  Lanes e = m.fma(b.CreateSIToFP(power, m.type), m.number(0x1p-23), b.CreateSelect(tiny, m.number(-23.0), m.number(0.0)));
  Lanes f = m.sub(m.fromBits(b.CreateSub(raw, power)), m.number(1.0));
  Lanes p = m.polynomial(f, {0.3333333134651184, -0.2500081956386566, 0.20001226663589478, -0.16623356938362122,
                             0.14201757311820984, -0.13160181045532227, 0.1276157945394516, -0.07634501904249191});
  return {scaled, e, f, m.mul(f, f), m.fma(p, f, m.number(-0.5))};
}
/// log of zero, infinity, NaN and negative numbers; `y` elsewhere. A machine's own logarithm, however rough, is infinite or NaN there.
Lanes logEdges(F32 &m, Lanes x, Lanes scaled, Lanes y) {
  auto &b = m.e.b;
  double inf = std::numeric_limits<double>::infinity();
  if (Lanes rough = m.e.options.target.function(m.e, "log2 nearly", {scaled}))
    return b.CreateSelect(b.CreateFCmpOLT(m.abs(rough), m.number(inf)), y, rough);
  y = b.CreateSelect(b.CreateFCmpOEQ(x, m.number(inf)), x, y);
  y = b.CreateSelect(b.CreateFCmpOEQ(x, m.number(0.0)), m.number(-inf), y);
  return b.CreateSelect(b.CreateFCmpULT(x, m.number(0.0)), m.number(std::numeric_limits<double>::quiet_NaN()), y);
}
Lanes log(F32 &m, Lanes x) {
  Logarithm l = logarithm(m, x);
  return logEdges(m, x, l.scaled, m.fma(l.e, m.number(0.6931471805599453), m.fma(l.rest, l.square, l.f)));
}
/// log2(e) = 1 + tail: the product with f is formed in parts, the exact one last.
Lanes log2(F32 &m, Lanes x) {
  Logarithm l = logarithm(m, x);
  constexpr double tail = 0.44269504088896340736; // log2(e) - 1
  Lanes rest = m.mul(l.rest, l.square);
  Lanes y = m.mul(rest, m.number(tail));
  y = m.fma(l.f, m.number(tail), y);
  y = m.add(y, rest);
  y = m.add(y, l.f);
  return logEdges(m, x, l.scaled, m.add(y, l.e));
}

Lanes tanh(F32 &m, Lanes x) {
  auto &b = m.e.b;
  Lanes a = m.abs(x), s = m.mul(a, a);
  Lanes g = m.polynomial(
      s, {-0.33333316445350647, 0.13332512974739075, -0.05384344235062599, 0.021031292155385017, -0.006212451495230198});
  Lanes small = m.fma(m.mul(a, s), g, a);
  Lanes large = m.sub(m.number(1.0), m.div(m.number(2.0), m.add(emitOwnMath(m.e, "exp", {m.add(a, a)}), m.number(1.0))));
  return m.withSign(b.CreateSelect(b.CreateFCmpOLT(a, m.number(0.55)), small, large), x);
}

Lanes erf(F32 &m, Lanes x) {
  auto &b = m.e.b;
  Lanes a = m.abs(x), s = m.mul(a, a);
  Lanes small = m.fma(a,
                      m.polynomial(s, {0.12837915122509003, -0.37612494826316833, 0.11281802505254745, -0.026765568181872368,
                                       0.004990980960428715, -0.0005976897082291543}),
                      a);
  Lanes t = b.CreateSelect(b.CreateFCmpOGT(a, m.number(4.0)), m.number(4.0), a); // from 3.92 on erf rounds to 1
  Lanes r = m.add(m.polynomial(t, {-0.00017587884212844074, 0.12952084839344025, 0.6333346366882324, 0.10829399526119232,
                                   -0.02512865513563156, 0.004174654372036457, -0.00043522121268324554, 2.1162108168937266e-05}),
                  t);
  Lanes large = m.sub(m.number(1.0), expOfNegative(m, m.sub(m.number(0.0), r)));
  return m.withSign(b.CreateSelect(b.CreateFCmpOLT(a, m.number(0.925)), small, large), x);
}

/// sin (quadrant shift 0) or cos (1). Reduction in f64 with pi/2 in two parts: right for |x| <= 2^28.
Lanes sinOrCos(F32 &m, Lanes x, unsigned shift) {
  auto &b = m.e.b;
  llvm::Type *wide = m.type->getWithNewType(b.getDoubleTy()), *wideInteger = m.type->getWithNewType(b.getInt64Ty());
  auto number = [&](double value) { return llvm::ConstantFP::get(wide, value); };
  auto fma = [&](Lanes p, Lanes q, Lanes r) { return m.e.intrinsic(llvm::Intrinsic::fma, {p, q, r}, {wide}); };
  constexpr double magic = 6755399441055744.0; // 1.5 * 2^52
  Lanes xd = b.CreateFPExt(x, wide);
  Lanes t = fma(xd, number(0.63661977236758134308), number(magic));
  auto *n = llvm::cast<llvm::Instruction>(b.CreateFSub(t, number(magic)));
  n->copyFastMathFlags(llvm::FastMathFlags());
  Lanes rd = fma(n, number(-1.5707963267948965580), xd);
  rd = fma(n, number(-6.1232339957367658861e-17), rd);
  Lanes r = b.CreateFPTrunc(rd, m.type), s = m.mul(r, r);
  Lanes quadrant = b.CreateAdd(b.CreateTrunc(b.CreateBitCast(t, wideInteger), m.integer), m.bits(shift));
  Lanes sine =
      m.fma(m.mul(r, s),
            m.polynomial(s, {-0.1666666716337204, 0.008333329111337662, -0.0001983926194952801, 2.717603138080449e-06}), r);
  Lanes cosine = m.fma(m.mul(s, s), m.polynomial(s, {0.04166664555668831, -0.0013887316454201937, 2.4432214559055865e-05}),
                       m.fma(s, m.number(-0.5), m.number(1.0)));
  Lanes odd = b.CreateICmpNE(b.CreateAnd(quadrant, m.bits(1)), m.bits(0));
  Lanes sign = b.CreateShl(b.CreateAnd(quadrant, m.bits(2)), m.bits(30));
  Lanes y = m.fromBits(b.CreateXor(m.toBits(b.CreateSelect(odd, cosine, sine)), sign));
  return shift ? y : b.CreateSelect(b.CreateFCmpOEQ(x, m.number(0.0)), x, y); // sin(-0) is -0
}

/// Sine or cosine, with a branch for huge arguments.
Lanes trigonometric(Emitter &e, llvm::StringRef name, Lanes x) {
  return callOwnFunction(e, name, {x}, [&](llvm::ArrayRef<Lanes> operands) {
    F32 m(e, x->getType());
    Lanes huge = e.b.CreateFCmpOGT(m.abs(operands[0]), m.number(268435456.0));
    return unlessRare(e, sinOrCos(m, operands[0], name == "cos"), huge, name, operands);
  });
}

} // namespace

Lanes emitOwnMath(Emitter &e, llvm::StringRef name, llvm::ArrayRef<Lanes> operands) {
  llvm::Type *type = operands[0]->getType();
  if (!type->getScalarType()->isFloatTy())
    return nullptr;
  if (Lanes own = e.options.target.function(e, name, operands))
    return own;
  F32 m(e, type);
  Lanes x = operands[0];
  if (name == "exp")
    return exp(m, x);
  if (name == "exp2")
    return exp2(m, x);
  if (name == "log")
    return log(m, x);
  if (name == "log2")
    return log2(m, x);
  if (name == "tanh")
    return tanh(m, x);
  if (name == "erf")
    return erf(m, x);
  if (name == "sin" || name == "cos")
    return trigonometric(e, name, x);
  return emitWideMath(e, name, operands);
}

} // namespace tilery::lower
