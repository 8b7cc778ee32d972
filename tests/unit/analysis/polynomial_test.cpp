#include "compiler/analysis/polynomial.h"
#include <array>
#include <gtest/gtest.h>
#include <random>

using namespace tilery::analysis;

namespace {
using Poly = Polynomial<unsigned>; // atoms: places in a vector of values
constexpr unsigned atoms = 4;
using Values = std::array<int64_t, atoms>;

uint64_t evaluate(const Poly &p, const Values &values) {
  uint64_t sum = 0;
  for (auto &[monomial, coefficient] : p.terms()) {
    uint64_t product = coefficient;
    for (unsigned atom : monomial)
      product *= uint64_t(values[atom]);
    sum += product;
  }
  return sum;
}

class Random {
public:
  explicit Random(unsigned seed) : random(seed) {}
  int64_t pick(int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(random); }
  Values values() {
    Values result;
    for (int64_t &value : result) // small ones, and ones whose products wrap
      value = pick(0, 3) ? pick(-9, 9) : pick(INT64_MIN, INT64_MAX);
    return result;
  }
  /// A random expression, and what it should be worth.
  std::pair<Poly, uint64_t> expression(const Values &values, unsigned depth) {
    int64_t kind = pick(0, depth ? 4 : 1);
    if (kind == 0) {
      int64_t constant = pick(-6, 6);
      return {Poly(constant), constant};
    }
    if (kind == 1) {
      unsigned atom = pick(0, atoms - 1);
      return {Poly::of(atom), values[atom]};
    }
    auto [x, a] = expression(values, depth - 1);
    auto [y, b] = expression(values, depth - 1);
    if (kind == 2)
      return {x + y, a + b};
    return kind == 3 ? std::pair(x - y, a - b) : std::pair(x * y, a * b);
  }

private:
  std::mt19937 random;
};
} // namespace

TEST(Polynomial, IsWorthWhatItWasMadeFrom) {
  Random random(1);
  for (int trial = 0; trial < 2000; ++trial) {
    Values values = random.values();
    auto [poly, expected] = random.expression(values, 4);
    EXPECT_EQ(evaluate(poly, values), expected);
    for (auto &[monomial, coefficient] : poly.terms()) {
      EXPECT_NE(coefficient, 0);
      EXPECT_TRUE(std::is_sorted(monomial.begin(), monomial.end()));
    }
    if (auto constant = poly.constant())
      EXPECT_EQ(uint64_t(*constant), expected);
  }
}

TEST(Polynomial, OneFormForEqualExpressions) {
  Random random(2);
  for (int trial = 0; trial < 500; ++trial) {
    Values values = random.values();
    Poly x = random.expression(values, 3).first, y = random.expression(values, 3).first, z = random.expression(values, 2).first;
    EXPECT_EQ((x + y) * z, z * y + x * z);
    EXPECT_EQ((x + y) * (x - y), x * x - y * y);
    EXPECT_TRUE((x + y - y - x).isZero());
    EXPECT_EQ(x == y, (x - y).isZero());
  }
  EXPECT_EQ(Poly().constant(), 0);
  EXPECT_EQ((Poly(3) * Poly(5)).constant(), 15);
  EXPECT_FALSE((Poly(3) == Poly(5)));
  EXPECT_FALSE((Poly::of(0) * Poly::of(0) == Poly::of(0)));
}

TEST(Polynomial, QuotientAndRestMakeTheWhole) {
  Random random(3);
  unsigned divided = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    Values values = random.values();
    Poly p = random.expression(values, 4).first, rest;
    Poly divisor(random.pick(-4, 4)); // a term most of the time
    for (unsigned atom = 0; atom < 2; ++atom)
      if (random.pick(0, 1))
        divisor = divisor * Poly::of(atom);
    if (random.pick(0, 9) == 0)
      divisor = divisor + Poly::of(2);
    Poly quotient = p.divided(divisor, rest);
    EXPECT_EQ(quotient * divisor + rest, p);
    divided += !quotient.isZero();
    Poly rest2;
    if (divisor.terms().size() == 1) { // nothing more can be taken out of the rest
      EXPECT_TRUE(rest.divided(divisor, rest2).isZero());
      EXPECT_EQ(rest2, rest);
    } else {
      EXPECT_TRUE(quotient.isZero());
    }
  }
  EXPECT_GT(divided, 300u);
}

TEST(Polynomial, CoefficientsOfAnAtom) {
  Random random(4);
  for (int trial = 0; trial < 500; ++trial) {
    Values values = random.values();
    Poly p = random.expression(values, 4).first, rest;
    Poly factor = p.coefficient(1, rest);
    EXPECT_FALSE(rest.uses(1));
    EXPECT_EQ(factor * Poly::of(1) + rest, p);
    EXPECT_EQ(p.uses(1), !factor.isZero());
  }
}

TEST(Polynomial, DividesInPlace) { // the rest may be the dividend
  Poly p = Poly::of(0) * Poly(6) + Poly(4);
  EXPECT_EQ(p.divided(Poly(3), p), Poly::of(0) * Poly(2));
  EXPECT_EQ(p, Poly(4));
}

TEST(Polynomial, CoefficientsWrap) {
  Poly most(INT64_MIN);
  EXPECT_TRUE((most + most).isZero());
  Poly rest;
  EXPECT_EQ(most.divided(Poly(-1), rest), most);
  EXPECT_TRUE(rest.isZero());
}
