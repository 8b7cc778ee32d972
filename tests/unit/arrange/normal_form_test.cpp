#include "compiler/arrange/normal_form.h"
#include <gtest/gtest.h>
#include <random>

using namespace tilery::arrange;

namespace {
const std::vector<std::string> names = {"a", "b", "c", "d"};

Symbol::Values randomValues(std::mt19937 &random, int64_t low, int64_t high) {
  Symbol::Values values;
  for (const std::string &name : names)
    values.insert_or_assign(name, std::uniform_int_distribution<int64_t>(low, high)(random));
  return values;
}

Symbol randomExpression(std::mt19937 &random, int depth) {
  auto pick = [&](int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(random); };
  int64_t kind = pick(0, depth ? 8 : 1);
  if (kind == 0)
    return pick(-4, 8);
  if (kind == 1)
    return Symbol::plain(names[pick(0, names.size() - 1)]);
  Symbol x = randomExpression(random, depth - 1), y = randomExpression(random, depth - 1);
  constexpr ExprKind kinds[] = {ExprKind::add,     ExprKind::sub,     ExprKind::mul, ExprKind::floordiv,
                                ExprKind::minimum, ExprKind::maximum, ExprKind::mod};
  return Symbol::make(kinds[kind - 2], {x, y});
}

// Rules about division hold for positive divisors; a size of 0 makes the bounds that guard them false.
bool dividesByNoPositive(const Symbol &expr, const Symbol::Values &values) {
  if (expr.isName() || expr.constant())
    return false;
  bool divides = expr.kind() == ExprKind::floordiv || expr.kind() == ExprKind::mod;
  if (divides && *expr.args()[1].substitute(values).constant() <= 0)
    return true;
  return std::any_of(expr.args().begin(), expr.args().end(), [&](const Symbol &arg) { return dividesByNoPositive(arg, values); });
}

TEST(NormalForm, KeepsTheValue) {
  std::mt19937 random(1);
  unsigned compared = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    Symbol expr = randomExpression(random, 4);
    Symbol simple = simplify(expr);
    for (int i = 0; i < 3; ++i) {
      Symbol::Values values = randomValues(random, 0, 9);
      if (dividesByNoPositive(expr, values))
        continue;
      ++compared;
      ASSERT_EQ(simple.substitute(values).constant(), expr.substitute(values).constant()) << expr.str() << " -> " << simple.str();
    }
  }
  EXPECT_GT(compared, 3000u);
}

TEST(NormalForm, NonNegativeIsNeverBelowZero) {
  std::mt19937 random(2);
  Ranges ranges{{"a", {0, Symbol::plain("b") - 1}}, {"c", {-1, {}}}};
  unsigned proved = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    Symbol expr = randomExpression(random, 3);
    if (!isNonNegative(polyOf(expr, ranges), ranges))
      continue;
    ++proved;
    for (int i = 0; i < 5; ++i) {
      Symbol::Values values = randomValues(random, 0, 9);
      int64_t b = *values.at("b").constant();
      if (!b) // no program and no lane runs then
        continue;
      values.insert_or_assign("a", std::uniform_int_distribution<int64_t>(0, b - 1)(random));
      values.insert_or_assign("c", std::uniform_int_distribution<int64_t>(-1, 9)(random));
      if (dividesByNoPositive(expr, values))
        continue;
      ASSERT_GE(*expr.substitute(values).constant(), 0) << expr.str();
    }
  }
  EXPECT_GT(proved, 500u);
}

TEST(NormalForm, FactorsOfNames) {
  Symbol x = Symbol::plain("x"), y = Symbol::plain("y");
  auto poly = [](const char *text) { return polyOf(Symbol::parse(text)); };
  EXPECT_EQ(*factorOf(poly("3 * x * y + x + y + 1"), x), poly("3 * y + 1"));
  EXPECT_EQ(without(poly("3 * x * y + x + y + 1"), x), poly("y + 1"));
  EXPECT_FALSE(factorOf(poly("x * x"), x));
  EXPECT_FALSE(factorOf(poly("x + x // y"), x)); // an opaque term hides it
  EXPECT_TRUE(contains(poly("x // y"), y));
  EXPECT_FALSE(contains(poly("x // y - x // y"), y));
}

TEST(NormalForm, ConstantsOfDivisionsAreNumbers) {
  EXPECT_EQ(polyOf(Symbol::parse("(6 * x + 3) % 2")).constant(), 1);
  EXPECT_EQ(polyOf(Symbol::parse("(6 * x + 3) // 2 - 3 * x")).constant(), 1);
}

} // namespace
