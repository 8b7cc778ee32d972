#include "compiler/oracle/element.h"
#include <cmath>
#include <gtest/gtest.h>
#include <random>

using namespace tilery::oracle;
using llvm::APFloat;

namespace {

Element f16{Format::F16, 16, &APFloat::IEEEhalf()}, bf16{Format::BF16, 16, &APFloat::BFloat()};
Element e4m3{Format::OtherFloat, 8, &APFloat::Float8E4M3FN()}, e5m2{Format::OtherFloat, 8, &APFloat::Float8E5M2()};

uint64_t reference(Element e, double value) {
  APFloat number(value);
  bool inexact;
  number.convert(*e.semantics, APFloat::rmNearestTiesToEven, &inexact);
  return number.bitcastToAPInt().getZExtValue();
}

TEST(Element, EveryShortFloatSurvivesTheWayThroughDouble) {
  for (Element e : {f16, bf16, e4m3, e5m2})
    for (uint64_t bits = 0; bits < 1ull << e.width; ++bits) {
      double value = decode(e, bits);
      if (std::isnan(value))
        EXPECT_TRUE(std::isnan(decode(e, encode(e, value))));
      else
        EXPECT_EQ(encode(e, value), bits) << value;
    }
}

TEST(Element, RoundsOnceToNearestEven) {
  std::mt19937_64 random(7);
  for (Element e : {f16, bf16})
    for (int i = 0; i < 200000; ++i) {
      // Values near representable ones and near the middles between them, where double rounding would show.
      double base = decode(e, random() & 0x7FFF),
             value = base * (1 + std::ldexp(double(int(random() % 5) - 2), -int(random() % 40) - 8));
      if (random() & 1)
        value = -value;
      if (!std::isnan(value))
        EXPECT_EQ(encode(e, value), reference(e, value)) << value;
    }
}

TEST(Element, IntegersAreKeptSignExtended) {
  Element i8{Format::Int, 8}, i1{Format::Int, 1};
  EXPECT_EQ(int64_t(wrap(i8, 200)), -56);
  EXPECT_EQ(asUnsigned(i8, wrap(i8, 200)), 200u);
  EXPECT_EQ(wrap(i1, 3), 1u);
  EXPECT_EQ(asSigned(i1, 1), -1);
  uint8_t byte = 2;
  EXPECT_EQ(readElement(i1, &byte), 1u); // any byte but 0 is true
}

} // namespace
