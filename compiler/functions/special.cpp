// Special functions, computed in float64, so that those of float32 are rounded once.
#include "compiler/functions/table.h"
#include <cmath>
#include <limits>
#include <numbers>

namespace tilery::functions {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
constexpr double pi = std::numbers::pi;
const double rootPi = std::sqrt(pi), rootTwo = std::sqrt(2.0), rootTwoPi = std::sqrt(2 * pi);
// Lanczos' sum for the gamma function with g = 7.
constexpr double lanczosTerms[] = {0.99999999999980993,  676.5203681218851,     -1259.1392167224028,
                                   771.32342877765313,   -176.61502916214059,   12.507343278686905,
                                   -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7};

/// The highest power first.
Number polynomial(const Number &x, std::initializer_list<double> coefficients) {
  auto c = coefficients.begin();
  Number value = x * 0.0 + *c;
  while (++c != coefficients.end())
    value = fma(value, x, *c);
  return value;
}

/// (x * x, what that leaves out)
std::pair<Number, Number> squares(const Number &x) {
  Number square = x * x;
  return {square, fma(x, x, -square)};
}

/// The y with erfc(y) = q for q in [0, 1]: a first guess, and steps of Newton's on the logarithm.
Number inverseTail(const Number &q) {
  Number safe = max(q, 1e-320);
  Number t = math(MathOp::Sqrt, math(MathOp::Log, safe * 0.5) * -2.0);
  Number above = polynomial(t, {0.010328, 0.802853, 2.515517});
  Number below = polynomial(t, {0.001308, 0.189269, 1.432788, 1.0});
  Number y = (t - above / below) * std::sqrt(0.5);
  y = max(y, 0.0);
  for (int step = 0; step < 4; ++step) {
    Number tail = math(MathOp::Erfc, y);
    auto [square, rest] = squares(y);
    Number fall = math(MathOp::Exp, -square);
    Number slope = fall * ((1.0 - rest) * (2 / rootPi));
    Number change = (tail - q) / slope;
    Number half = fma(y * change, -1.0, 1.0); // Halley's
    Number finite = isFinite(change);
    Number usable = finite && abs(change) < 1.0;
    y = select(usable, y + change / max(half, 0.5), y);
  }
  Number zero = q == 0.0;
  return select(zero, infinity, y);
}

/// erfinv of |x| up to a half, by Newton's steps on erf.
Number central(const Number &x) {
  Number y = x * (rootPi / 2);
  for (int step = 0; step < 5; ++step) {
    Number slope = math(MathOp::Exp, -(y * y)) * (2 / rootPi);
    Number beside = math(MathOp::Erf, y) - x;
    y = y - beside / slope;
  }
  Number tiny = abs(x) < 1e-8;
  return select(tiny, x * (rootPi / 2), y);
}

Number erfinv(const Number &x) {
  Number size = abs(x);
  Number inside = size <= 0.5;
  Number tail = copysign(inverseTail(select(inside, 0.5, 1.0 - size)), x);
  Number value = select(inside, central(select(inside, x, 0.0)), tail);
  Number outside = size > 1.0;
  Number none = isNan(x);
  return select(outside, nan, select(none, x, value));
}

Number erfcinv(const Number &x) {
  Number near = 1.0 - x;
  Number inside = abs(near) <= 0.5;
  Number low = x < 1.0;
  Number tail = inverseTail(select(inside, 0.5, max(select(low, x, 2.0 - x), 0.0)));
  Number middle = central(select(inside, near, 0.0));
  Number value = select(inside, middle, select(low, tail, -tail));
  Number negative = x < 0.0;
  Number outside = negative || x > 2.0;
  Number none = isNan(x);
  return select(outside, nan, select(none, x, value));
}

Number normcdfinv(const Number &x) { return erfcinv(x * 2.0) * -rootTwo; }

Number erfcx(const Number &x) {
  Number near = min(x, 25.0);
  auto [square, rest] = squares(near);
  Number grown = math(MathOp::Exp, square);
  Number scale = grown * (1.0 + rest);
  Number direct = math(MathOp::Erfc, near) * scale;
  Number over = 1.0 / (x * x); // 1 - 1 / (2 x^2) + 3 / (2 x^2)^2 - 15 / (2 x^2)^3 ..
  Number series = polynomial(over, {-945.0 / 32, 105.0 / 16, -15.0 / 8, 0.75, -0.5, 1.0});
  Number far = series * (1 / rootPi) / x;
  Number none = isNan(x);
  Number beyond = x > 25.0;
  return select(none, x, select(beyond, far, direct));
}

/// (sum, t) with gamma(x + 1) = sqrt(2 pi) t^(x + 1/2) exp(-t) sum, for x >= -1/2.
std::pair<Number, Number> lanczos(const Number &x) {
  Number total = x * 0.0 + lanczosTerms[0];
  for (int k = 1; k < 9; ++k)
    total = total + lanczosTerms[k] / (x + double(k));
  return {total, x + 7.5};
}

/// sin(pi x)
Number sineOfTurns(const Number &x) {
  Number nearest = math(MathOp::RoundEven, x);
  Number half = nearest * 0.5;
  Number odd = math(MathOp::Floor, half) != half;
  Number value = math(MathOp::Sin, (x - nearest) * pi);
  return select(odd, -value, value);
}

Number tgamma(const Number &x) {
  Number mirrored = x < 0.5;
  Number y = select(mirrored, 1.0 - x, x) - 1.0;
  auto [total, t] = lanczos(min(y, 200.0));
  Number power = binary(BinaryOp::Pow, t, (min(y, 200.0) + 0.5) * 0.5); // in halves: no overflow between
  Number front = power * math(MathOp::Exp, -t);
  Number value = front * (total * rootTwoPi);
  value = value * power;
  Number reflected = pi / (sineOfTurns(x) * value);
  Number result = select(mirrored, reflected, value);
  Number negative = x < 0.0;
  Number whole = negative && math(MathOp::Floor, x) == x;
  Number zero = x == 0.0;
  result = select(whole, nan, select(zero, copysign(infinity, x), result));
  Number endless = x == infinity;
  Number none = isNan(x);
  return select(endless, x, select(none, x, result));
}

Number lgamma(const Number &x) {
  Number mirrored = x < 0.5;
  Number y = select(mirrored, 1.0 - x, x) - 1.0;
  auto [total, t] = lanczos(y);
  Number front = math(MathOp::Log, total * rootTwoPi);
  Number value = front + -t;
  Number power = y + 0.5;
  value = fma(power, math(MathOp::Log, t), value);
  Number turn = abs(sineOfTurns(x));
  Number reflected = math(MathOp::Log, pi / turn) - value;
  Number result = select(mirrored, reflected, value);
  Number negative = x <= 0.0;
  Number whole = negative && math(MathOp::Floor, x) == x;
  Number one = x == 1.0;
  Number either = one || x == 2.0;
  result = select(either, 0.0, result);
  Number endless = whole || math(MathOp::IsInf, x);
  Number none = isNan(x);
  return select(endless, infinity, select(none, x, result));
}

template <Number (*function)(const Number &)> Number wide(const Numbers &x) {
  return function(x[0].cast(DType::F64)).cast(x[0].dtype());
}

} // namespace

List specialFunctions() {
  return {{"erfinv", 1, 1, wide<erfinv>}, {"erfcinv", 1, 1, wide<erfcinv>}, {"normcdfinv", 1, 1, wide<normcdfinv>},
          {"erfcx", 1, 1, wide<erfcx>},   {"tgamma", 1, 1, wide<tgamma>},   {"lgamma", 1, 1, wide<lgamma>}};
}

} // namespace tilery::functions
