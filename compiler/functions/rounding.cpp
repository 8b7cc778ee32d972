// Arithmetic and conversions of floats with a stated rounding: to nearest (rn), toward zero (rz), down (rd) or up (ru), as the nearest
// result and the sign of what it leaves out.
#include "compiler/functions/table.h"
#include <cmath>
#include <limits>

namespace tilery::functions {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
enum class Mode { Nearest, TowardZero, Down, Up };
constexpr std::pair<const char *, Mode> modes[] = {
    {"rn", Mode::Nearest}, {"rz", Mode::TowardZero}, {"rd", Mode::Down}, {"ru", Mode::Up}};

/// The neighbour of x above it, or below; NaN stays NaN and the last infinity what it is.
Number step(const Number &x, bool up) {
  DType kind = x.dtype();
  Number bits = x.bitcast(kind == DType::F64 ? DType::I64 : DType::I32);
  Number away = up ? bits >= 0 : bits < 0; // from zero, whose neighbours are the smallest numbers of each sign
  Number above = bits + 1, below = bits - 1;
  Number moved = select(away, above, below).bitcast(kind);
  int64_t sign = kind == DType::F64 ? INT64_MIN : INT32_MIN;
  Number smallest = ((bits * 0) | (up ? 1 : sign + 1)).bitcast(kind);
  Number zero = x == 0.0;
  moved = select(zero, smallest, moved);
  Number last = x == (up ? infinity : -infinity);
  return select(isNan(x) || last, x, moved);
}

/// `nearest`, rounded by the mode, where `rest` has the sign of the exact result less it. `finite`: are the operands?
Number adjusted(const Number &nearest, const Number &rest, Mode mode, const Number *finite = nullptr) {
  if (mode == Mode::Nearest)
    return nearest;
  Number more = rest > 0.0, less = rest < 0.0;
  if (finite) { // a finite result beyond the greatest number
    Number low = nearest == -infinity, high = nearest == infinity;
    more = more || (low && *finite);
    less = less || (high && *finite);
  }
  if (mode == Mode::TowardZero) {
    Number negative = nearest < 0.0, positive = nearest > 0.0;
    more = more && negative;
    less = less && positive;
  }
  Number result = nearest;
  if (mode != Mode::Down)
    result = select(more, step(nearest, true), result);
  if (mode != Mode::Up)
    result = select(less, step(nearest, false), result);
  return result;
}

/// float64 as float32; `rest` has the sign of the exact value less x.
Number narrowed(const Number &x, const Number &rest, Mode mode, const Number &finite) {
  Number nearest = x.cast(DType::F32);
  if (mode == Mode::Nearest)
    return nearest;
  Number left = x - nearest.cast(DType::F64);
  left = select(isFinite(left), left, 0.0);
  Number exact = left == 0.0;
  return adjusted(nearest, select(exact, rest, left), mode, &finite);
}

using Pair = std::pair<Number, Number>; // (the nearest result, something of the sign of what it leaves out)

/// (x + y, what that leaves out), exactly.
Pair sum(const Number &x, const Number &y) {
  Number total = x + y;
  Number second = total - x;
  Number first = total - second;
  Number ofX = x - first, ofY = y - second;
  return {total, ofX + ofY};
}

Pair quotient(const Number &x, const Number &y) {
  Number total = x / y;
  Number left = fma(-total, y, x);
  Number negative = y < 0.0;
  return {total, select(negative, -left, left)};
}

Pair addition(const Numbers &x) { return sum(x[0], x[1]); }
Pair subtraction(const Numbers &x) { return sum(x[0], -x[1]); }
Pair product(const Numbers &x) {
  Number total = x[0] * x[1];
  return {total, fma(x[0], x[1], -total)};
}
Pair division(const Numbers &x) { return quotient(x[0], x[1]); }
Pair reciprocal(const Numbers &x) { return quotient(constant(x[0].b, 1.0, DType::F64), x[0]); }
Pair root(const Numbers &x) {
  Number total = math(MathOp::Sqrt, x[0]);
  return {total, fma(-total, total, x[0])};
}
/// Product and sum are split into what is rounded and the rest: of the three numbers that the exact result is then, less the rounded one,
/// the first that is not 0 has the sign of what is left out.
Pair fused(const Numbers &x) {
  Number rounded = fma(x[0], x[1], x[2]);
  Number whole = fma(x[0], x[1], 0.0); // not x * y, which a GPU may fuse with the sum below
  Number belowWhole = fma(x[0], x[1], -whole);
  auto [total, belowTotal] = sum(whole, x[2]);
  auto [middle, low] = sum(belowTotal, belowWhole);
  auto [first, second] = sum(total - rounded, middle);
  Number none = first == 0.0;
  return {rounded, select(none, second + low, first)};
}

struct Operation {
  const char *name;
  size_t operands;
  Pair (*exact)(const Numbers &);
};
constexpr Operation operations[] = {{"add", 2, addition},   {"sub", 2, subtraction}, {"mul", 2, product}, {"div", 2, division},
                                    {"rcp", 1, reciprocal}, {"sqrt", 1, root},       {"fma", 3, fused}};

/// float32 is computed in float64, which tells on which side of the nearest result the exact one lies.
Number rounded(const Operation &operation, Mode mode, const Numbers &x) {
  bool isFma = operation.exact == fused, narrow = x[0].dtype() == DType::F32;
  if (isFma && mode == Mode::Nearest)
    return fma(x[0], x[1], x[2]);
  Numbers wide = x;
  if (narrow)
    for (Number &operand : wide)
      operand = operand.cast(DType::F64);
  if (narrow && isFma) // float64 holds the product
    wide = {wide[0] * wide[1], wide[2]};
  auto [total, rest] = narrow && isFma ? addition(wide) : operation.exact(wide);
  if (mode == Mode::Nearest)
    return narrow ? total.cast(DType::F32) : total;
  Number finite = isFinite(wide[0]);
  for (size_t k = 1; k < wide.size(); ++k)
    finite = finite && isFinite(wide[k]);
  if (operation.exact == division || operation.exact == reciprocal) // a quotient by 0 is infinite
    finite = finite && wide.back() != 0.0;
  rest = select(isFinite(rest), rest, 0.0);
  return narrow ? narrowed(total, rest, mode, finite) : adjusted(total, rest, mode, &finite);
}

Number toFloat(const Number &x, DType kind, Mode mode) {
  DType source = x.dtype();
  if (source == DType::F64)
    return narrowed(x, constant(x.b, 0.0, DType::F64), mode, isFinite(x));
  Number nearest = x.cast(kind);
  if (mode == Mode::Nearest)
    return nearest;
  Number back = nearest.cast(source); // the greatest integer for a float beyond it
  Number beyond = nearest >= std::exp2(bitWidth(source) - isSigned(source));
  Number above = back > x || beyond, below = back < x;
  Number one = constant(x.b, 1.0, kind);
  Number under = select(below, one, 0.0);
  return adjusted(nearest, select(above, -one, under), mode);
}

Number toInteger(const Number &x, DType kind, Mode mode) {
  constexpr MathOp functions[] = {MathOp::RoundEven, MathOp::Trunc, MathOp::Floor, MathOp::Ceil};
  return math(functions[size_t(mode)], x).cast(kind);
}

Number nextAfter(const Numbers &x) {
  Number less = x[0] < x[1];
  Number up = step(x[0], true), down = step(x[0], false);
  Number moved = select(less, up, down);
  Number same = x[0] == x[1];
  return select(same, x[1], select(isNan(x[1]), x[1], moved));
}

/// A float type as its target of a rounding that no instruction makes.
struct Format {
  const char *name;
  int fraction, least; // bits of the fraction, exponent of the least normal number
  double greatest;
};
constexpr Format formats[] = {
    {"float16", 10, -14, 65504},        {"bfloat16", 7, -126, 0x1.fep127}, {"float32", 23, -126, 0x1.fffffep127},
    {"float8_e4m3fn", 3, -6, 448},      {"float8_e5m2", 2, -14, 57344},    {"float8_e4m3fnuz", 3, -7, 240},
    {"float8_e5m2fnuz", 2, -15, 57344}, {"float4_e2m1fn", 1, 0, 6},        {"float4_e2m1_unpacked", 1, 0, 6}};

/// The value, as float64, at the number of a type that a rounding chooses, counted in steps of that type, which is exact: the next greater
/// (Up), the next smaller (Down), or, with random bits, the one or the other side of it; what is rounded towards the finite numbers stays one.
Number placed(const Number &x, const Format &to, Mode mode, const Number *randomBits) {
  Number wide = x.cast(DType::F64);
  Builder *b = x.b;
  Number exponent = ((wide.bitcast(DType::I64) >> 52) & 0x7FF) - 1023;
  Number small = exponent < to.least;
  exponent = select(small, constant(b, int64_t(to.least), DType::I64), exponent);
  Number unit = ((exponent + (1023 - to.fraction)) << 52).bitcast(DType::F64);
  Number count = wide / unit;
  if (randomBits) { // bits that are small enough raise the magnitude
    Number share = randomBits->cast(DType::U32).cast(DType::F64) * 0x1p-32;
    Number size = math(MathOp::Floor, abs(count) + share);
    Number negative = wide < 0.0;
    count = select(negative, 0.0 - size, size);
  } else {
    count = math(mode == Mode::Up ? MathOp::Ceil : MathOp::Floor, count);
  }
  Number result = count * unit;
  if (randomBits || mode == Mode::Down) {
    Number over = result > to.greatest;
    result = select(over, to.greatest, result);
  }
  if (randomBits || mode == Mode::Up) {
    Number under = result < -to.greatest;
    result = select(under, -to.greatest, result);
  }
  Number finite = abs(wide) < infinity;
  return select(finite, result, wide);
}

} // namespace

List roundings() {
  List list = {{"nextafter", 2, 2, nextAfter}};
  for (auto [suffix, mode] : modes) {
    std::string ending = std::string("_") + suffix;
    for (const Operation &operation : operations)
      list.push_back({operation.name + ending, operation.operands, operation.operands,
                      [&operation, mode](const Numbers &x) { return rounded(operation, mode, x); }});
    for (auto [word, kind] : {std::pair("float", DType::F32), std::pair("double", DType::F64)})
      for (auto [integer, type] : {std::pair("int", DType::I32), std::pair("uint", DType::U32), std::pair("ll", DType::I64),
                                   std::pair("ull", DType::U64)}) {
        list.push_back({std::string(word) + "2" + integer + ending, 1, 1,
                        [type, mode](const Numbers &x) { return toInteger(x[0], type, mode); }});
        list.push_back({std::string(integer) + "2" + word + ending, 1, 1,
                        [kind, mode](const Numbers &x) { return toFloat(x[0], kind, mode); }});
      }
    list.push_back({"double2float" + ending, 1, 1, [mode](const Numbers &x) { return toFloat(x[0], DType::F32, mode); }});
  }
  for (const Format &to : formats) {
    std::string name = to.name;
    list.push_back({"rp_" + name, 1, 1, [&to](const Numbers &x) { return placed(x[0], to, Mode::Up, nullptr); }});
    list.push_back({"rm_" + name, 1, 1, [&to](const Numbers &x) { return placed(x[0], to, Mode::Down, nullptr); }});
    list.push_back({"rs_" + name, 2, 2, [&to](const Numbers &x) { return placed(x[0], to, Mode::Nearest, &x[1]); }});
  }
  return list;
}

} // namespace tilery::functions
