#include "runtime/polynomial.h"
#include <gtest/gtest.h>

using namespace tilery;

namespace {
using Terms = std::vector<PolynomialInfo::Term>;
constexpr uint32_t grid = PolynomialInfo::gridExtent;

const KernelInfo info{"k",
                      0,
                      {{"byte", DType::U8, false, false},
                       {"half", DType::I16, false, false},
                       {"word", DType::I32, false, false},
                       {"wide", DType::I64, false, false}}};

std::optional<int64_t> value(Terms terms, std::vector<uint64_t> args = {1, 2, 3, 4}) {
  const int64_t extents[3] = {5, 6, 7};
  PolynomialInfo polynomial;
  polynomial.terms = std::move(terms);
  return evaluate(polynomial, {info, args.data(), extents});
}
} // namespace

TEST(Polynomial, SumsOfProducts) {
  EXPECT_EQ(value({}), 0);
  EXPECT_EQ(value({{-3, {}}}), -3);
  EXPECT_EQ(value({{2, {1}}}), 4);
  EXPECT_EQ(value({{10, {}}, {2, {1, 2}}, {-1, {3, 3, 3}}}), 10 + 12 - 64);
  EXPECT_EQ(PolynomialInfo(0).terms.size(), 0u);
  EXPECT_EQ(PolynomialInfo(7).terms, (Terms{{7, {}}}));
}

TEST(Polynomial, GridExtentsAreFactors) {
  EXPECT_EQ(value({{1, {grid}}, {1, {grid + 1, grid + 2}}, {1, {3, grid + 2}}}), 5 + 42 + 28);
}

TEST(Polynomial, ArgumentsHaveTheirWidthAndASign) {
  // Slots hold what the caller's integer was; a kernel sees the low bytes.
  EXPECT_EQ(value({{1, {0}}}, {0x1ff, 0, 0, 0}), -1);
  EXPECT_EQ(value({{1, {1}}}, {0, 0x18000, 0, 0}), -32768);
  EXPECT_EQ(value({{1, {2}}}, {0, 0, 0xffffffff, 0}), -1);
  EXPECT_EQ(value({{1, {2}}}, {0, 0, uint64_t(-5), 0}), -5);
  EXPECT_EQ(value({{1, {3}}}, {0, 0, 0, 0xffffffff}), 0xffffffff);
}

TEST(Polynomial, OverflowIsNoValue) {
  const uint64_t huge = INT64_MAX;
  EXPECT_EQ(value({{1, {3}}}, {0, 0, 0, huge}), INT64_MAX);
  EXPECT_EQ(value({{2, {3}}}, {0, 0, 0, huge}), std::nullopt);
  EXPECT_EQ(value({{1, {3}}, {1, {}}}, {0, 0, 0, huge}), std::nullopt);
  EXPECT_EQ(value({{1, {3, 3}}}, {0, 0, 0, uint64_t(1) << 32}), std::nullopt);
  EXPECT_EQ(value({{-1, {3}}, {-2, {}}}, {0, 0, 0, huge}), std::nullopt);
}

TEST(Condition, IsNotNegativeOrDivides) {
  const int64_t extents[3] = {5, 6, 7};
  auto kept = [&](Terms terms, uint64_t divisor, uint64_t wide) {
    const uint64_t args[4] = {1, 2, 3, wide};
    ConditionInfo condition{{}, divisor};
    condition.value.terms = std::move(terms);
    return holds(condition, {info, args, extents});
  };
  const Terms lessOne{{1, {3}}, {-1, {}}};
  EXPECT_TRUE(kept(lessOne, 0, 1));
  EXPECT_FALSE(kept(lessOne, 0, 0));
  EXPECT_FALSE(kept(lessOne, 0, uint64_t(-7)));
  const Terms itself{{1, {3}}};
  EXPECT_TRUE(kept(itself, 16, 48));
  EXPECT_TRUE(kept(itself, 16, 0));
  EXPECT_TRUE(kept(itself, 16, uint64_t(-32)));
  EXPECT_FALSE(kept(itself, 16, 40));
  EXPECT_FALSE(kept({{2, {3}}}, 0, INT64_MAX)) << "a value that does not fit is none";
}
