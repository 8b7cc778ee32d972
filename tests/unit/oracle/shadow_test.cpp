// Intervals hold whatever a correct implementation may compute.
#include "compiler/oracle/shadow.h"
#include <algorithm>
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

/// Of a list in any order and with any brackets, each step rounded to f32.
float inAnyOrder(std::vector<float> list, bool sum, std::mt19937_64 &random) {
  while (list.size() > 1) {
    std::shuffle(list.begin(), list.end(), random);
    float last = list.back();
    list.pop_back();
    list.back() = sum ? list.back() + last : list.back() * last;
  }
  return list[0];
}

TEST(Shadow, SumsAndProductsHoldInEveryOrder) {
  Numbers numbers;
  int known = 0;
  for (int i = 0; i < 3000; ++i) {
    std::vector<float> list(2 + i % 70);
    double scale = std::exp(std::uniform_real_distribution<>(-12, 4)(numbers.random)); // products that overflow, and that vanish
    for (float &x : list)
      x = i % 7 == 0 && numbers.random() % 40 == 0 ? 0.0f : float(numbers.value() * scale);
    std::vector<Interval> values;
    for (float x : list)
      values.push_back(exactly(x));
    Interval sum = sumRange(f32, values), product = productRange(f32, values);
    known += !product.isUnknown();
    for (int j = 0; j < 8; ++j) {
      EXPECT_TRUE(sum.contains(inAnyOrder(list, true, numbers.random)));
      float value = inAnyOrder(list, false, numbers.random);
      EXPECT_TRUE(product.contains(value)) << value << " of " << list.size() << ": " << product.lo << " " << product.hi;
    }
  }
  EXPECT_GT(known, 1000);
}

TEST(Shadow, AProductThatMayOverflowMayBeNanWhereThereIsAZero) {
  std::vector<Interval> values(6, exactly(0x1p31));
  EXPECT_TRUE(productRange(f32, values).isUnknown());
  values[3] = exactly(0); // 0 if it comes early, else infinity times 0
  EXPECT_TRUE(productRange(f32, values).isUnknown());
  values.resize(4);
  EXPECT_TRUE(productRange(f32, values).isExact());
  values[1] = exactly(nan);
  EXPECT_TRUE(productRange(f32, values).contains(nan));
  EXPECT_FALSE(productRange(f32, values).contains(0));
  EXPECT_TRUE(productRange(f32, {exactly(3), {2, 2.5}}).contains(7.5));
  EXPECT_FALSE(productRange(f32, {exactly(3), {2, 2.5}}).contains(7.51));
  EXPECT_FALSE(productRange(f32, {exactly(3), {2, 2.5}}).contains(5.99));
}

TEST(Shadow, SumsOfInfinitiesAreDecided) {
  EXPECT_EQ(sumRange(f32, {exactly(infinity), exactly(1), exactly(infinity)}).lo, infinity);
  EXPECT_TRUE(sumRange(f32, {exactly(infinity), exactly(-infinity)}).contains(nan));
  EXPECT_FALSE(sumRange(f32, {exactly(infinity), exactly(-infinity)}).contains(0));
  EXPECT_TRUE(sumRange(f32, {exactly(3e38), exactly(3e38), exactly(-3e38)}).isUnknown());
  EXPECT_TRUE(sumRange(f32, {exactly(infinity), exactly(-3e38), exactly(-3e38)}).isUnknown()) << "-inf if these two come first";
  EXPECT_TRUE(sumRange(f32, {exactly(infinity), {-infinity, 1}}).isUnknown());
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
