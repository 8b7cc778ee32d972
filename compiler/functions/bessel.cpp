// The Bessel functions, in float64, so that those of float32 are rounded once.
#include "compiler/functions/table.h"
#include <cmath>
#include <limits>
#include <numbers>

namespace tilery::functions {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
constexpr double pi = std::numbers::pi, limit = 25;
constexpr int orders = 64, terms = 26;

/// J or Y (`second`) of 0 < x <= 25, of orders 0 and 1: by the recurrence over orders, downwards, in which they are stable.
/// J_n(x) = (x/2)^n / n! L_n with L_(n-1) = L_n - x^2/4 / (n (n+1)) L_(n+1), made absolute by 1 = J_0 + 2 J_2 + 2 J_4 + ..;
/// Y_0 and Y_1 are sums of the same J_n.
Number near(const Number &x, int order, bool second) {
  Number quarter = x * x * 0.25;
  Number zero = x * 0.0;
  Number above = zero + 1.0, here = above;
  // Sums of L_n (x/2)^n / n!, whose common powers are taken in as they go down, two orders at a time.
  Number norm = zero, series = zero, first;
  for (int n = orders; n >= 0; --n) {
    auto step = [&] { return quarter * (1.0 / ((n + 1) * (n + 2))); };
    if (n % 2 == 0) { // norm: 2 J_n for n > 0, and what stands below it
      Number power = step();
      norm = fma(norm, power, here * (n ? 2.0 : 1.0));
    }
    if (second && n > 0 && n % 2 == order) {
      int k = n / 2;
      double weight = k ? (order == 0 ? 1.0 / k : double(2 * k + 1) / (k * (k + 1))) : 0;
      Number power = step();
      series = fma(series, power, here * (k % 2 ? -weight : weight));
    }
    if (n == 1)
      first = here;
    if (n) {
      Number minus = -quarter;
      Number below = fma(minus, above * (1.0 / (n * (n + 1))), here);
      above = here;
      here = below;
    }
  }
  Number own = order == 0 ? here : first * x * 0.5;
  Number value = own / norm;
  if (!second)
    return value;
  // What is left of the series stands at order 2 (order 0) or order 1: its powers of x/2 that are missing.
  series = series * (order == 0 ? quarter * 0.5 : x * 0.5);
  series = series / norm;
  Number logarithm = math(MathOp::Log, x * 0.5) + (std::numbers::egamma - order);
  Number whole = logarithm * value;
  Number total = whole - series * (2.0 - order);
  if (order)
    total = total - here / norm / x;
  return total * (2 / pi);
}

/// The same of x >= 25, by the asymptotic series: sqrt(2 / (pi x)) (P cos - Q sin) of x - (order / 2 + 1 / 4) pi.
Number far(const Number &x, int order, bool second) {
  Number inverse = 1.0 / x;
  double coefficients[terms] = {1};
  for (int k = 1; k < terms; ++k)
    coefficients[k] = coefficients[k - 1] * (double(4 * order * order - (2 * k - 1) * (2 * k - 1)) / (8 * k));
  auto alternating = [&](int start) {
    Number square = inverse * inverse;
    Number total = x * 0.0;
    for (int j = (terms - 1 - start) / 2; j >= 0; --j)
      total = fma(total, square, (j % 2 ? -1 : 1) * coefficients[start + 2 * j]);
    return total;
  };
  Number p = alternating(0);
  Number q = alternating(1) * inverse;
  Number sine = math(MathOp::Sin, x), cosine = math(MathOp::Cos, x);
  Number less = sine - cosine, more = sine + cosine;
  Number c = order == 0 ? more : less, s = order == 0 ? less : -more; // cos and sin of the angle, times sqrt(2)
  Number a = second ? p * s : p * c;
  Number b = second ? q * c : -(q * s);
  Number sum = a + b;
  return sum / math(MathOp::Sqrt, x * pi);
}

Number ofOrder(const Number &x, int order, bool second) {
  Number size = abs(x);
  Number inner = near(min(second ? max(size, 1e-300) : size, limit), order, second);
  Number endless = math(MathOp::IsInf, size);
  Number outer = far(select(endless, limit, max(size, limit)), order, second);
  Number beyond = size > limit;
  Number value = select(endless, 0.0, select(beyond, outer, inner));
  if (second) {
    Number zero = x == 0.0, negative = x < 0.0;
    value = select(zero, -infinity, select(negative, nan, value));
  } else if (order) {
    Number negative = x < 0.0;
    value = select(negative, -value, value);
  }
  return select(isNan(x), x, value);
}

/// The modified function: its series, and from 30 on the asymptotic one.
Number modified(const Number &x, int order) {
  auto polynomial = [](const Number &x, const std::vector<double> &upwards) {
    Number value = x * 0.0 + upwards.back();
    for (size_t k = upwards.size() - 1; k-- > 0;)
      value = fma(value, x, upwards[k]);
    return value;
  };
  std::vector<double> powers, inverses = {1};
  long double term = 1; // 1 / (k! (k + order)!)
  for (int k = 0; k <= 68; term /= (k + 1) * (k + 1 + order), ++k)
    powers.push_back(double(term));
  for (int k = 1; k < 17; ++k)
    inverses.push_back(inverses.back() * (-double(4 * order * order - (2 * k - 1) * (2 * k - 1)) / (8 * k)));
  Number size = abs(x);
  Number inner = min(size, 30.0), outer = max(size, 30.0);
  Number series = polynomial(inner * inner * 0.25, powers);
  if (order)
    series = series * (inner * 0.5);
  Number sums = polynomial(1.0 / outer, inverses);
  Number half = math(MathOp::Exp, outer * 0.5); // twice: no overflow between
  Number scaled = sums / math(MathOp::Sqrt, outer * (2 * pi));
  Number value = scaled * half * half;
  Number beyond = size > 30.0;
  value = select(beyond, value, series);
  Number endless = math(MathOp::IsInf, x);
  value = select(endless, infinity, select(isNan(x), x, value));
  return order ? copysign(value, x) : value;
}

// Any order, by the recurrence over orders J_(k+1) = 2k/x J_k - J_(k-1), which Y obeys, too. It is stable upwards for Y, and for J as
// long as the order is below x; downwards for J beyond, begun far above and made absolute by 1 = J_0 + 2 J_2 + 2 J_4 + ..

/// for k in [lower, upper): what is carried.
template <typename Body> Numbers loop(const Number &lower, const Number &upper, const Numbers &carried, Body body) {
  Builder &b = *upper.b;
  std::vector<Value> init, yields;
  for (const Number &x : carried)
    init.push_back(x.value);
  auto [k, here] = b.beginFor(lower.value, upper.value, b.constant(int64_t(1), DType::I32), init);
  Numbers numbers;
  for (const Value &x : here)
    numbers.push_back({&b, x});
  for (const Number &x : body(Number{&b, k}, numbers))
    yields.push_back(x.value);
  numbers.clear();
  for (const Value &x : b.endFor(yields))
    numbers.push_back({&b, x});
  return numbers;
}

/// The function of order `size` at x, of those of order 0 and 1; `top` is the greatest of all orders.
Number upwards(const Number &size, const Number &x, const Number &zeroth, const Number &first, const Number &top) {
  Number none = size == 0;
  Number one = constant(x.b, int64_t(1), DType::I32);
  return loop(one, top, {zeroth, first, select(none, zeroth, first)}, [&](const Number &k, const Numbers &carried) {
    Number after = carried[1] * (k.cast(DType::F64) * 2.0 / x) - carried[0];
    Number endless = abs(carried[1]) == infinity;
    after = select(endless, carried[1], after);
    Number reached = size == k + 1;
    return Numbers{carried[1], after, select(reached, after, carried[2])};
  })[2];
}

/// J of order `size` at x > 0, where the order is greater than x.
Number downwards(const Number &size, const Number &x, const Number &top) {
  Number more = math(MathOp::Sqrt, top.cast(DType::F64) * 40.0).cast(DType::I32);
  Number start = ((top + more + 24) >> 1) << 1;
  Number zero = x * 0.0;
  Number none = constant(x.b, int64_t(0), DType::I32);
  Numbers sums = loop(none, start, {zero, zero + 1.0, zero, zero}, [&](const Number &down, const Numbers &carried) {
    Number k = start - down; // carried[1] is J_k times what all are too great by
    Number below = carried[1] * (k.cast(DType::F64) * 2.0 / x) - carried[0];
    Number great = abs(below) > 1e100;
    Number factor = select(great, constant(x.b, 1e-100, DType::F64), 1.0);
    Number here = below * factor;
    Number odd = (k & 1) == 1, last = k == 1;
    Number weight = select(odd, select(last, 1.0, 2.0), 0.0).cast(DType::F64);
    Number norm = carried[3] * factor + weight * here;
    Number reached = size == k - 1;
    return Numbers{carried[1] * factor, here, select(reached, here, carried[2] * factor), norm};
  });
  return sums[2] / sums[3];
}

/// The greatest order of all lanes.
Number greatest(const Number &size) {
  return size.value.shape().empty() ? size : Number{size.b, size.b->reduce(ReduceKind::Max, size.value, std::nullopt, false)};
}

/// n and x as tiles of one shape, int32 and float64.
std::pair<Number, Number> orderAndPlace(const Numbers &operands) {
  Builder *b = operands[0].b;
  std::vector<Value> both = b->broadcast({operands[0].cast(DType::I32).value, operands[1].cast(DType::F64).value});
  return {{b, both[0]}, {b, both[1]}};
}

Number firstKind(const Numbers &operands) {
  auto [n, x] = orderAndPlace(operands);
  Number top = greatest(abs(operands[0].cast(DType::I32)));
  Number size = abs(n), r = abs(x);
  Number zeroth = ofOrder(r, 0, false), first = ofOrder(r, 1, false);
  Number up = upwards(size, r, zeroth, first, top);
  Number tiny = r < 1e-80;
  Number down = select(tiny, 0.0, downwards(size, select(tiny, 1.0, r), top));
  Number low = size < 2, none = size == 0, below = size.cast(DType::F64) <= r;
  Number value = select(low, select(none, zeroth, first), select(below, up, down));
  value = select(isNan(x), x, value);
  Number odd = (n & 1) != 0, turned = (n < 0) ^ (x < 0.0);
  return select(odd & turned, -value, value).cast(operands[1].dtype());
}

Number secondKind(const Numbers &operands) {
  auto [n, x] = orderAndPlace(operands);
  Number top = greatest(abs(operands[0].cast(DType::I32)));
  Number zeroth = ofOrder(x, 0, true), first = ofOrder(x, 1, true);
  Number value = upwards(abs(n), x, zeroth, first, top);
  Number zero = x == 0.0, negative = x < 0.0;
  value = select(zero, -infinity, select(negative, nan, value));
  Number odd = (n & 1) != 0, turned = n < 0;
  return select(odd & turned, -value, value).cast(operands[1].dtype());
}

template <Number (*function)(const Number &, int, bool), int order, bool second> Number wide(const Numbers &x) {
  return function(x[0].cast(DType::F64), order, second).cast(x[0].dtype());
}
template <int order> Number wideModified(const Numbers &x) { return modified(x[0].cast(DType::F64), order).cast(x[0].dtype()); }

} // namespace

List besselFunctions() {
  return {{"j0", 1, 1, wide<ofOrder, 0, false>},
          {"j1", 1, 1, wide<ofOrder, 1, false>},
          {"y0", 1, 1, wide<ofOrder, 0, true>},
          {"y1", 1, 1, wide<ofOrder, 1, true>},
          {"cyl_bessel_i0", 1, 1, wideModified<0>},
          {"cyl_bessel_i1", 1, 1, wideModified<1>},
          {"jn", 2, 2, firstKind},
          {"yn", 2, 2, secondKind}};
}

} // namespace tilery::functions
