// math ops. f32 and below are computed in double and rounded once; f64 in long double where the C library has it.
#include "compiler/oracle/float_ops.h"

using namespace mlir;

namespace tilery::oracle {

// Error that a code generator may have, in units of the last place: its own polynomials keep 2, the oracle's rounding and the
// rounding of their result add one.
static constexpr double functionUlps = 3;

enum class Trend { Rising, Falling, Other };

// An op that is not exactly rounded: its result is an interval around f.
template <typename Op, typename F> static void addFunction(Handlers &table, Trend trend, F f) {
  table.addLanewise<Op>([=](Interpreter &in, Op op) {
    const Tile &a = in.tile(op->getOperand(0));
    Tile result = lanewiseResult(a.element, {&a});
    for (int64_t i = 0; i < result.size(); ++i)
      result.lanes[i] = a.element.format == Format::F64 ? encode(a.element, double(f((long double)decode(a.element, a.lanes[i]))))
                                                        : encode(a.element, f(decode(a.element, a.lanes[i])));
    shadowLanes(in, result, {&a}, true, functionUlps, [&](int64_t i) {
      Interval x = a.range(i);
      if (x.isExact())
        return exactly(decode(a.element, result.lanes[i]));
      if (trend == Trend::Other || x.isUnknown())
        return unknown();
      double lo = f(x.lo), hi = f(x.hi);
      if (lo != lo || hi != hi)
        return unknown();
      return hull(exactly(lo), exactly(hi)); // 1 / x of two zeros rises
    });
    in.set(op->getResult(0), std::move(result));
  });
}

template <typename Op, typename F> static void addFunction2(Handlers &table, F f) {
  table.addLanewise<Op>([=](Interpreter &in, Op op) {
    const Tile &a = in.tile(op->getOperand(0)), &b = in.tile(op->getOperand(1));
    Tile result = lanewiseResult(a.element, {&a, &b});
    for (int64_t i = 0; i < result.size(); ++i) {
      double x = decode(a.element, a.lanes[laneOf(a, i)]), y = decode(b.element, b.lanes[laneOf(b, i)]);
      result.lanes[i] = a.element.format == Format::F64 ? encode(a.element, double(f((long double)x, (long double)y)))
                                                        : encode(a.element, f(x, y));
    }
    shadowLanes(in, result, {&a, &b}, true, functionUlps, [&](int64_t i) {
      bool exact = a.range(laneOf(a, i)).isExact() && b.range(laneOf(b, i)).isExact();
      return exact ? exactly(decode(a.element, result.lanes[i])) : unknown();
    });
    in.set(op->getResult(0), std::move(result));
  });
}

// Correctly rounded, so exact operands give an exact result; rising.
template <typename Op, typename F> static void addRounded(Handlers &table, double ulps, F f) {
  table.addLanewise<Op>([=](Interpreter &in, Op op) {
    const Tile &a = in.tile(op->getOperand(0));
    Tile result = floatUnary(a, f);
    shadowLanes(in, result, {&a}, false, ulps, [&](int64_t i) {
      Interval x = a.range(i), y{f(x.lo), f(x.hi)};
      return x.isUnknown() || y.lo != y.lo ? unknown() : y;
    });
    in.set(op->getResult(0), std::move(result));
  });
}

template <typename Op, typename F> static void addTest(Handlers &table, F test) {
  table.addLanewise<Op>([=](Interpreter &in, Op op) {
    const Tile &a = in.tile(op->getOperand(0));
    Tile result = lanewiseResult(elementOf(op->getResult(0).getType()), {&a});
    for (int64_t i = 0; i < result.size(); ++i)
      result.lanes[i] = test(a.element, a.lanes[i]);
    forgetRounded(result, {&a});
    in.set(op->getResult(0), std::move(result));
  });
}

static bool isNormal(Element e, uint64_t lane) {
  double value = std::fabs(decode(e, lane));
  return std::isfinite(value) && value >= llvm::APFloat::getSmallestNormalized(*e.semantics).convertToDouble();
}

static void fma(Interpreter &in, math::FmaOp op) {
  const Tile &a = in.tile(op.getA()), &b = in.tile(op.getB()), &c = in.tile(op.getC());
  Tile result = lanewiseResult(a.element, {&a, &b, &c});
  Element e = a.element;
  for (int64_t i = 0; i < result.size(); ++i) {
    double x = decode(e, a.lanes[laneOf(a, i)]), y = decode(e, b.lanes[laneOf(b, i)]), z = decode(e, c.lanes[laneOf(c, i)]);
    result.lanes[i] = e.format == Format::F64 ? encode(e, std::fma(x, y, z)) : encode(e, std::fma(float(x), float(y), float(z)));
  }
  shadowLanes(in, result, {&a, &b, &c}, false, 1,
              [&](int64_t i) { return addRange(mulRange(a.range(laneOf(a, i)), b.range(laneOf(b, i))), c.range(laneOf(c, i))); });
  in.set(op.getResult(), std::move(result));
}

static void clampFloat(Interpreter &in, math::ClampFOp op) {
  const Tile &value = in.tile(op.getValue()), &lo = in.tile(op.getMin()), &hi = in.tile(op.getMax());
  Tile result = lanewiseResult(value.element, {&value, &lo, &hi});
  for (int64_t i = 0; i < result.size(); ++i) {
    double x = decode(value.element, value.lanes[laneOf(value, i)]), low = decode(lo.element, lo.lanes[laneOf(lo, i)]),
           high = decode(hi.element, hi.lanes[laneOf(hi, i)]);
    const Tile &chosen = x < low ? lo : x > high ? hi : value; // NaN stays
    result.lanes[i] = chosen.lanes[laneOf(chosen, i)];
  }
  shadowLanes(in, result, {&value, &lo, &hi}, false, 0, [&](int64_t) { return unknown(); });
  in.set(op.getResult(), std::move(result));
}

template <typename Op> static void addIntegerPower(Handlers &table) {
  table.addLanewise<Op>([](Interpreter &in, Op op) {
    const Tile &a = in.tile(op->getOperand(0)), &b = in.tile(op->getOperand(1));
    Tile result = lanewiseResult(a.element, {&a, &b});
    for (int64_t i = 0; i < result.size(); ++i) {
      int64_t exponent = asSigned(b.element, b.lanes[laneOf(b, i)]);
      if (a.element.isFloat()) {
        result.lanes[i] =
            encode(a.element, double(std::pow((long double)decode(a.element, a.lanes[laneOf(a, i)]), (long double)exponent)));
        continue;
      }
      int64_t base = asSigned(a.element, a.lanes[laneOf(a, i)]);
      uint64_t power = 1;
      if (exponent < 0) // the rounded-to-zero quotient 1 / base^-exponent
        power = base == 1 ? 1 : base == -1 ? (exponent & 1 ? uint64_t(-1) : 1) : 0;
      for (uint64_t square = uint64_t(base); exponent > 0; exponent >>= 1, square *= square)
        if (exponent & 1)
          power *= square;
      result.lanes[i] = wrap(a.element, power);
    }
    if (a.element.isFloat())
      shadowLanes(in, result, {&a}, true, functionUlps, [&](int64_t i) {
        return a.range(laneOf(a, i)).isExact() ? exactly(decode(a.element, result.lanes[i])) : unknown();
      });
    else
      forgetRounded(result, {&a, &b});
    in.set(op->getResult(0), std::move(result));
  });
}

static void addBits(Handlers &table) {
  auto add = [&]<typename Op>(std::type_identity<Op>, auto count) {
    addTest<Op>(table, [=](Element e, uint64_t lane) { return wrap(e, uint64_t(count(e, asUnsigned(e, lane)))); });
  };
  add(std::type_identity<math::CountLeadingZerosOp>(),
      [](Element e, uint64_t v) { return std::countl_zero(v) - int(64 - e.width); });
  add(std::type_identity<math::CountTrailingZerosOp>(),
      [](Element e, uint64_t v) { return std::min<int>(std::countr_zero(v), e.width); });
  add(std::type_identity<math::CtPopOp>(), [](Element, uint64_t v) { return std::popcount(v); });
  addTest<math::AbsIOp>(table,
                        [](Element e, uint64_t lane) { return wrap(e, asSigned(e, lane) < 0 ? uint64_t(0) - lane : lane); });
  table.addLanewise<math::AbsFOp>([](Interpreter &in, math::AbsFOp op) {
    Tile result = in.tile(op.getOperand());
    for (uint64_t &lane : result.lanes)
      lane &= (1ull << (result.element.width - 1)) - 1;
    for (Interval &x : result.ranges)
      if (!x.isUnknown() && x.lo == x.lo)
        x = x.lo >= 0 ? x : x.hi <= 0 ? Interval{-x.hi, -x.lo} : Interval{0, std::max(-x.lo, x.hi)};
    in.set(op.getResult(), std::move(result));
  });
  table.addLanewise<math::CopySignOp>([](Interpreter &in, math::CopySignOp op) {
    const Tile &a = in.tile(op.getLhs()), &b = in.tile(op.getRhs());
    Tile result = lanewiseResult(a.element, {&a, &b});
    uint64_t sign = 1ull << (a.element.width - 1);
    for (int64_t i = 0; i < result.size(); ++i)
      result.lanes[i] = (a.lanes[laneOf(a, i)] & (sign - 1)) | (b.lanes[laneOf(b, i)] & sign);
    shadowLanes(in, result, {&a, &b}, false, 0, [&](int64_t) { return unknown(); });
    in.set(op.getResult(), std::move(result));
  });
}

void addMathHandlers(Handlers &table) {
  addRounded<math::SqrtOp>(table, 1, [](auto x) { return std::sqrt(x); });
  addRounded<math::FloorOp>(table, 0, [](auto x) { return std::floor(x); });
  addRounded<math::CeilOp>(table, 0, [](auto x) { return std::ceil(x); });
  addRounded<math::TruncOp>(table, 0, [](auto x) { return std::trunc(x); });
  addRounded<math::RoundOp>(table, 0, [](auto x) { return std::round(x); });
  addRounded<math::RoundEvenOp>(table, 0, [](auto x) { return std::nearbyint(x); });
  addFunction<math::ExpOp>(table, Trend::Rising, [](auto x) { return std::exp(x); });
  addFunction<math::Exp2Op>(table, Trend::Rising, [](auto x) { return std::exp2(x); });
  addFunction<math::ExpM1Op>(table, Trend::Rising, [](auto x) { return std::expm1(x); });
  addFunction<math::LogOp>(table, Trend::Rising, [](auto x) { return std::log(x); });
  addFunction<math::Log2Op>(table, Trend::Rising, [](auto x) { return std::log2(x); });
  addFunction<math::Log10Op>(table, Trend::Rising, [](auto x) { return std::log10(x); });
  addFunction<math::Log1pOp>(table, Trend::Rising, [](auto x) { return std::log1p(x); });
  addFunction<math::CbrtOp>(table, Trend::Rising, [](auto x) { return std::cbrt(x); });
  addFunction<math::RsqrtOp>(table, Trend::Falling, [](auto x) { return decltype(x)(1) / std::sqrt(x); });
  addFunction<math::TanhOp>(table, Trend::Rising, [](auto x) { return std::tanh(x); });
  addFunction<math::SinhOp>(table, Trend::Rising, [](auto x) { return std::sinh(x); });
  addFunction<math::AsinhOp>(table, Trend::Rising, [](auto x) { return std::asinh(x); });
  addFunction<math::AtanOp>(table, Trend::Rising, [](auto x) { return std::atan(x); });
  addFunction<math::AtanhOp>(table, Trend::Rising, [](auto x) { return std::atanh(x); });
  addFunction<math::AsinOp>(table, Trend::Rising, [](auto x) { return std::asin(x); });
  addFunction<math::AcosOp>(table, Trend::Falling, [](auto x) { return std::acos(x); });
  addFunction<math::AcoshOp>(table, Trend::Rising, [](auto x) { return std::acosh(x); });
  addFunction<math::ErfOp>(table, Trend::Rising, [](auto x) { return std::erf(x); });
  addFunction<math::ErfcOp>(table, Trend::Falling, [](auto x) { return std::erfc(x); });
  addFunction<math::SinOp>(table, Trend::Other, [](auto x) { return std::sin(x); });
  addFunction<math::CosOp>(table, Trend::Other, [](auto x) { return std::cos(x); });
  addFunction<math::TanOp>(table, Trend::Other, [](auto x) { return std::tan(x); });
  addFunction<math::CoshOp>(table, Trend::Other, [](auto x) { return std::cosh(x); });
  addFunction2<math::PowFOp>(table, [](auto x, auto y) { return std::pow(x, y); });
  addFunction2<math::Atan2Op>(table, [](auto x, auto y) { return std::atan2(x, y); });
  addIntegerPower<math::FPowIOp>(table);
  addIntegerPower<math::IPowIOp>(table);
  table.addLanewise<math::FmaOp>(fma);
  table.addLanewise<math::ClampFOp>(clampFloat);
  addTest<math::IsNaNOp>(table, [](Element e, uint64_t lane) { return uint64_t(std::isnan(decode(e, lane))); });
  addTest<math::IsInfOp>(table, [](Element e, uint64_t lane) { return uint64_t(std::isinf(decode(e, lane))); });
  addTest<math::IsFiniteOp>(table, [](Element e, uint64_t lane) { return uint64_t(std::isfinite(decode(e, lane))); });
  addTest<math::IsNormalOp>(table, [](Element e, uint64_t lane) { return uint64_t(isNormal(e, lane)); });
  addBits(table);
}

} // namespace tilery::oracle
