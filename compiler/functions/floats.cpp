// libdevice's functions of floats that no single operation is.
#include "compiler/functions/table.h"
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>

namespace tilery::functions {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();

Number saturate(const Numbers &x) {
  Number positive = x[0] > 0.0;
  return select(positive, min(x[0], 1.0), 0.0);
}

Number signbit(const Numbers &x) {
  return (x[0].bitcast(x[0].dtype() == DType::F64 ? DType::I64 : DType::I32) < 0).cast(DType::I32);
}

/// The length of a vector, or 1 over it; scaled by a power of two near its greatest part, so that no square overflows.
Number norm(const Numbers &parts, bool inverse) {
  DType kind = parts[0].dtype();
  Numbers wide;
  for (const Number &x : parts)
    wide.push_back(abs(x));
  if (kind == DType::F32)
    for (Number &x : wide)
      x = x.cast(DType::F64);
  std::optional<Number> largest, infinite, total;
  for (const Number &x : wide) {
    largest = largest ? max(*largest, x) : x;
    Number here = x == infinity;
    infinite = infinite ? *infinite || here : here;
  }
  Number exponent = largest->bitcast(DType::I64) & (int64_t(0x7FF) << 52);
  Number none = exponent == 0;
  exponent = select(none, int64_t(1) << 52, exponent);
  Number scale = exponent.bitcast(DType::F64);
  for (const Number &part : wide) {
    Number x = part / scale;
    Number square = x * x;
    total = total ? *total + square : square;
  }
  Number root = math(MathOp::Sqrt, *total);
  Number length = inverse ? select(*infinite, 0.0, 1.0 / root / scale) : select(*infinite, infinity, root * scale);
  return length.cast(kind);
}

/// sin or cos of pi times x: exact where x is a multiple of a half.
Number turns(const Number &of, bool ofSine) {
  Number x = of.cast(DType::F64);
  Number nearest = math(MathOp::RoundEven, x * 2.0);
  Number rest = fma(nearest, -0.5, x) * std::numbers::pi;
  Number half = nearest * 0.5;
  Number odd = (half - math(MathOp::Floor, half)) * 2.0 > 0.5;
  Number quarters = nearest * 0.25;
  Number place = (quarters - math(MathOp::Floor, quarters)) * 4.0; // 0, 1, 2, 3 quarters of a turn
  Number sine = math(MathOp::Sin, rest), cosine = math(MathOp::Cos, rest);
  Number value = ofSine ? select(odd, cosine, sine) : select(odd, -sine, cosine);
  Number negative = ofSine ? place > 1.5 : (place > 1.5) && true;
  value = select(negative, -value, value);
  Number zero = value == 0.0;
  value = ofSine ? select(zero, copysign(0.0, x), value) : select(zero, 0.0, value); // a sine's zeros have the sign of x
  return value.cast(of.dtype());
}

/// IEEE 754's: less the nearest multiple, ties to the even one.
Number remainder(const Numbers &operands) {
  const Number &x = operands[0], &y = operands[1];
  Number size = abs(y);
  Number positive = abs(x);
  Number rest{x.b, x.b->math(MathOp::Fmod, {positive.value, (size * 2.0).value})};
  Number endless = size * 2.0 == infinity;
  rest = select(endless, abs(x), rest);
  Number half = size * 0.5;
  Number above = rest > half;
  Number once = select(above, rest - size, rest);
  Number again = once >= half;
  Number twice = select(again, once - size, once);
  above = rest > half;
  Number result = select(above, twice, rest);
  Number finite = isFinite(x);
  Number whole = select(finite, abs(x), nan);
  endless = size == infinity;
  result = select(endless, whole, result);
  Number nothing = isNan(y);
  result = select(nothing, y, result);
  Number negative = x < 0.0;
  Number sign = select(negative, -result, result);
  Number zero = result == 0.0;
  return select(zero, copysign(0.0, x), sign);
}

/// The exponent of a number that is neither 0 nor infinite, as int64.
Number exponentOf(const Number &x) {
  Number wide = x.cast(DType::F64);
  Number small = abs(wide) < 0x1p-1022;
  Number scaled = select(small, wide * 0x1p54, wide);
  Number exponent = (scaled.bitcast(DType::I64) >> 52) & 0x7FF;
  Number more = constant(x.b, int64_t(1023 + 54), DType::I64), bias = constant(x.b, int64_t(1023), DType::I64);
  return exponent - select(small, more, bias);
}

Number logb(const Numbers &operands) {
  const Number &x = operands[0];
  Number value = exponentOf(x).cast(x.dtype());
  Number zero = x == 0.0;
  value = select(zero, -infinity, value);
  Number finite = isFinite(x);
  return select(finite, value, x * x);
}

Number ilogb(const Numbers &operands) {
  const Number &x = operands[0];
  Number value = exponentOf(x).cast(DType::I32);
  Number endless = math(MathOp::IsInf, x);
  value = select(endless, int64_t(INT32_MAX), value);
  Number zero = x == 0.0;
  Number none = zero || isNan(x);
  return select(none, int64_t(INT32_MIN), value);
}

Number rcbrt(const Numbers &x) { return (1.0 / math(MathOp::Cbrt, x[0].cast(DType::F64))).cast(x[0].dtype()); }
Number erfc(const Numbers &x) { return math(MathOp::Erfc, x[0].cast(DType::F64)).cast(x[0].dtype()); }
Number normcdf(const Numbers &x) {
  return (math(MathOp::Erfc, x[0].cast(DType::F64) * -0.7071067811865476) * 0.5).cast(x[0].dtype());
}

Number limited(const Number &n, int64_t least, int64_t greatest) { return max(min(n, greatest), least); }
/// 2 to the power of n in [-1022, 1023].
Number powerOfTwo(const Number &n) { return ((n + 1023).cast(DType::I64) << 52).bitcast(DType::F64); }

/// x times 2 to the power of an integer, rounded once.
Number ldexp(const Numbers &x) {
  Number wide = x[0].cast(DType::F64), n = x[1].cast(DType::I32);
  if (x[0].dtype() == DType::F32) { // float64 has all its exponents, so that one rounding is left
    n = limited(n, -900, 900);
    return (wide * powerOfTwo(n)).cast(DType::F32);
  }
  n = limited(n, -3000, 3000);
  for (int turn = 0; turn < 3; ++turn) { // as long as the result is none of the smallest, the steps are exact
    Number part = limited(n, -900, 1000);
    Number scaled = wide * powerOfTwo(part);
    Number safe = abs(scaled) > 0x1p-100;
    wide = select(safe, scaled, wide);
    n = select(safe, n - part, n);
  }
  Number first = limited(n, -50, 1000);
  Number second = limited(n - first, -1022, 1000);
  Number third = limited(n - first - second, -1022, 1000);
  return wide * powerOfTwo(first) * powerOfTwo(second) * powerOfTwo(third);
}

Number fromHalves(const Numbers &x) {
  Number low = x[1].cast(DType::U32).cast(DType::I64);
  return ((x[0].cast(DType::I64) << 32) | low).bitcast(DType::F64);
}
Number lowHalf(const Numbers &x) { return x[0].bitcast(DType::I64).cast(DType::I32); }
Number highHalf(const Numbers &x) { return (x[0].bitcast(DType::I64) >> 32).cast(DType::I32); }
Number highHalfOfReciprocal(const Numbers &x) {
  return ((1.0 / x[0]).bitcast(DType::I64) & (int64_t(-1) << 32)).bitcast(DType::F64);
}

Number sinpi(const Numbers &x) { return turns(x[0], true); }
Number cospi(const Numbers &x) { return turns(x[0], false); }
Number length(const Numbers &parts) { return norm(parts, false); }
Number inverseLength(const Numbers &parts) { return norm(parts, true); }

} // namespace

List functionsOfFloats() {
  return {{"saturate", 1, 1, saturate},
          {"signbit", 1, 1, signbit},
          {"norm", 2, 4, length},
          {"rnorm", 2, 4, inverseLength},
          {"sinpi", 1, 1, sinpi},
          {"cospi", 1, 1, cospi},
          {"remainder", 2, 2, remainder},
          {"logb", 1, 1, logb},
          {"ilogb", 1, 1, ilogb},
          {"rcbrt", 1, 1, rcbrt},
          {"erfc", 1, 1, erfc},
          {"normcdf", 1, 1, normcdf},
          {"ldexp", 2, 2, ldexp},
          {"hiloint2double", 2, 2, fromHalves},
          {"double2loint", 1, 1, lowHalf},
          {"double2hiint", 1, 1, highHalf},
          {"rcp64h", 1, 1, highHalfOfReciprocal}};
}

} // namespace tilery::functions
