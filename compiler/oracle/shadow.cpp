#include "compiler/oracle/shadow.h"
#include <cmath>

namespace tilery::oracle {

static const double infinity = std::numeric_limits<double>::infinity();

bool Interval::isUnknown() const { return lo == -infinity && hi == infinity; }
bool Interval::contains(double value) const {
  if (isUnknown() || (value != value && lo != lo))
    return true;
  return lo <= value && value <= hi;
}

Interval unknown() { return {-infinity, infinity}; }
Interval exactly(double value) { return {value, value}; }

// Bounds from candidates; a NaN among them means that infinities or invalid operations are near.
static Interval bounds(std::initializer_list<double> values) {
  Interval range{infinity, -infinity};
  for (double value : values) {
    if (value != value)
      return unknown();
    range.lo = std::min(range.lo, value);
    range.hi = std::max(range.hi, value);
  }
  return range;
}

static bool isNan(Interval a) { return a.lo != a.lo; }

Interval hull(Interval a, Interval b) {
  if (isNan(a) && isNan(b))
    return a;
  return bounds({a.lo, a.hi, b.lo, b.hi});
}

Interval widen(Element element, Interval range, double ulps) {
  if (isNan(range) || range.isUnknown())
    return range;
  // The interval's own arithmetic is rounded too: one more unit of double on each side.
  double lo = range.lo - ulps * ulpAt(element, range.lo) - ulpAt({Format::F64, 64}, range.lo);
  double hi = range.hi + ulps * ulpAt(element, range.hi) + ulpAt({Format::F64, 64}, range.hi);
  double top = largest(element);
  if (lo < -top)
    lo = -infinity;
  if (hi > top)
    hi = infinity;
  if (lo > top)
    lo = top;
  if (hi < -top)
    hi = -top;
  return {lo, hi};
}

static Interval nanOr(Interval a, Interval b, Interval otherwise) { return isNan(a) ? a : isNan(b) ? b : otherwise; }
Interval addRange(Interval a, Interval b) { return nanOr(a, b, bounds({a.lo + b.lo, a.hi + b.hi})); }
Interval subRange(Interval a, Interval b) { return nanOr(a, b, bounds({a.lo - b.hi, a.hi - b.lo})); }
Interval mulRange(Interval a, Interval b) { return nanOr(a, b, bounds({a.lo * b.lo, a.lo * b.hi, a.hi * b.lo, a.hi * b.hi})); }
Interval divRange(Interval a, Interval b) {
  if (!isNan(b) && b.lo <= 0 && b.hi >= 0)
    return isNan(a) ? a : unknown();
  return nanOr(a, b, bounds({a.lo / b.lo, a.lo / b.hi, a.hi / b.lo, a.hi / b.hi}));
}

// The classic bound n * u * sum |x| holds for every order.
Interval sumRange(Element element, llvm::ArrayRef<Interval> values) {
  if (values.size() == 1)
    return values[0];
  double magnitude = 0, lo = 0, hi = 0;
  for (Interval value : values) {
    if (isNan(value))
      return value;
    if (std::isfinite(value.lo) && std::isfinite(value.hi))
      magnitude += std::max(std::fabs(value.lo), std::fabs(value.hi));
    else if (!value.isExact())
      return unknown();
    lo += value.lo;
    hi += value.hi;
  }
  double unit = ulpAt(element, 1.0) / 2, error = magnitude * double(values.size()) * unit;
  if (magnitude + error > largest(element)) // in some order a partial sum overflows
    return unknown();
  if (!std::isfinite(lo)) // of infinities among the values, in every order
    return exactly(lo);
  return widen(element, {lo - error, hi + error}, 1);
}

// Each of the n - 1 steps errs by half a unit of its result, or by half the smallest number where the result is below the normal ones; what
// follows multiplies that by `most` at the worst. The interval's own steps in double err less.
Interval productRange(Element element, llvm::ArrayRef<Interval> values) {
  if (values.size() == 1)
    return values[0];
  for (Interval value : values)
    if (isNan(value))
      return value;
  double most = 1; // of any values among them
  Interval product = exactly(1);
  bool zero = false;
  for (Interval value : values) {
    most *= std::max({1.0, std::fabs(value.lo), std::fabs(value.hi)});
    product = mulRange(product, value);
    zero |= value.isExact() && value.lo == 0;
  }
  double steps = double(values.size() - 1), relative = steps * ulpAt(element, 1.0); // twice what the steps err
  if (!(most * (1 + relative) <= largest(element))) // in some order a partial product overflows, and may then meet a zero
    return unknown();
  if (zero)
    return exactly(0);
  double error = steps * ulpAt(element, 0) * most + relative * std::max(std::fabs(product.lo), std::fabs(product.hi));
  return widen(element, {product.lo - error, product.hi + error}, 1);
}

Interval Tile::range(int64_t lane) const {
  if (!ranges.empty() && !(ranges[lane].lo > ranges[lane].hi))
    return ranges[lane];
  return exactly(element.isFloat() ? decode(element, lanes[lane]) : double(int64_t(lanes[lane])));
}

void Tile::setRange(int64_t lane, Interval range) {
  ranges.resize(lanes.size(), {infinity, -infinity});
  ranges[lane] = range;
}

void Tile::setUndefined(int64_t lane, Unwritten from) {
  undefined.resize(lanes.size());
  undefined[lane] = from;
}

} // namespace tilery::oracle
