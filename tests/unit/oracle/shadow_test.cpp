// Intervals hold whatever a correct implementation may compute.
#include "compiler/oracle/shadow.h"
#include <cmath>
#include <gtest/gtest.h>
#include <random>

using namespace tilery::oracle;

namespace {
const double infinity = std::numeric_limits<double>::infinity(), nan = std::nan("");
Element f32{Format::F32, 32, &llvm::APFloat::IEEEsingle()}, f16{Format::F16, 16, &llvm::APFloat::IEEEhalf()};

struct Numbers {
  std::mt19937_64 random{11};
  double value() { return std::normal_distribution<>()(random) * std::exp(std::uniform_real_distribution<>(-8, 8)(random)); }
  Interval interval() {
    double a = value(), b = value();
    return {std::min(a, b), std::max(a, b)};
  }
  double inside(Interval range) { return std::uniform_real_distribution<>(range.lo, range.hi)(random); }
};

TEST(Shadow, ResultsOfValuesInsideAreInside) {
  Numbers numbers;
  for (int i = 0; i < 5000; ++i) {
    Interval a = numbers.interval(), b = numbers.interval();
    for (int j = 0; j < 8; ++j) {
      double x = numbers.inside(a), y = numbers.inside(b);
      // Bounds are rounded like any result: widen() adds the unit.
      auto holds = [](Interval range, double value) { return widen({Format::F64, 64}, range, 0).contains(value); };
      EXPECT_TRUE(holds(addRange(a, b), x + y));
      EXPECT_TRUE(holds(subRange(a, b), x - y));
      EXPECT_TRUE(holds(mulRange(a, b), x * y));
      EXPECT_TRUE(holds(divRange(a, b), x / y));
      EXPECT_TRUE(hull(a, b).contains(x) && hull(a, b).contains(y));
    }
  }
}

TEST(Shadow, NothingIsKnownAboutADivisionByZero) {
  EXPECT_TRUE(divRange({1, 2}, {-1, 1}).isUnknown());
  EXPECT_TRUE(divRange({1, 2}, {0, 1}).isUnknown());
  EXPECT_FALSE(divRange({1, 2}, {0.5, 1}).isUnknown());
  EXPECT_TRUE(mulRange({0, 1}, {0, infinity}).isUnknown());
  EXPECT_TRUE(subRange({infinity, infinity}, {infinity, infinity}).isUnknown());
}

TEST(Shadow, NanStaysNan) {
  for (Interval range : {addRange(exactly(nan), {0, 1}), mulRange({0, 1}, exactly(nan)), divRange(exactly(nan), {-1, 1}),
                         widen(f32, exactly(nan), 2)}) {
    EXPECT_TRUE(range.contains(nan));
    EXPECT_FALSE(range.contains(0.5));
  }
  EXPECT_FALSE(exactly(1).contains(nan));
  EXPECT_TRUE(unknown().contains(nan));
}

TEST(Shadow, WideningIsInUnitsOfTheFormat) {
  Interval one = widen(f32, exactly(1), 2);
  EXPECT_TRUE(one.contains(1 + 0x1p-22) && one.contains(1 - 0x1p-22));
  EXPECT_FALSE(one.contains(1 + 0x1p-21) || one.contains(1 - 0x1p-21));
  EXPECT_TRUE(widen(f16, exactly(1), 1).contains(1 + 0x1p-10));
  EXPECT_FALSE(widen(f16, exactly(1), 1).contains(1 + 0x1p-9));
}

TEST(Shadow, WhatMayOverflowMayBeInfinite) {
  EXPECT_TRUE(widen(f16, {60000, 70000}, 0).contains(infinity));
  EXPECT_TRUE(widen(f16, {60000, 70000}, 0).contains(65504));
  EXPECT_TRUE(widen(f16, {70000, 80000}, 0).contains(65504)) << "an implementation that rounds later may still be finite";
  EXPECT_FALSE(widen(f16, {60000, 65000}, 0).contains(infinity));
  EXPECT_TRUE(widen(f16, {-80000, -70000}, 0).contains(-infinity));
}
} // namespace
