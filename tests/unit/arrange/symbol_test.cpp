#include "tilery/arrange.h"
#include <gtest/gtest.h>

using namespace tilery::arrange;

namespace {

TEST(Symbol, FoldsWhatUpstreamFolds) {
  Symbol x = Symbol::plain("x");
  EXPECT_EQ((0 + x).str(), "x");
  EXPECT_EQ((x + 0).str(), "x");
  EXPECT_EQ((x - 0).str(), "x");
  EXPECT_EQ((1 * x).str(), "x");
  EXPECT_EQ((x * 1).str(), "x");
  EXPECT_EQ(floorDiv(x, 1).str(), "x");
  EXPECT_EQ((0 * x).str(), "0 * x");
}

TEST(Symbol, PrintsWithTheParenthesesPythonNeeds) {
  for (const char *text : {"a + b * c", "(a + b) * c", "a - (b - c)", "a - b - c", "-(a + b)", "-a * b", "(-a) ** b",
                           "a // b % c", "a // (b % c)", "a ** b ** c", "a & b | c ^ d", "(a < b) & (c >= d)", "min(a, b + 1)"})
    EXPECT_EQ(Symbol::parse(text).str(), text);
}

TEST(Symbol, DivisionRoundsDownAndIsTotal) {
  EXPECT_EQ(floorDiv(-7, 2).constant(), -4);
  EXPECT_EQ(floorMod(-7, 2).constant(), 1);
  EXPECT_EQ(floorDiv(7, 0).constant(), 0);
  EXPECT_EQ(floorMod(7, 0).constant(), 0);
  EXPECT_EQ(ceilDiv(7, 2).constant(), 4);
  EXPECT_THROW(Symbol::make(ExprKind::truediv, {7, 2}), ArrangementError);
}

TEST(Symbol, RolesPrefixTheNameAndSetBounds) {
  Symbol meta = Symbol::named("B", Role::meta), constant = Symbol::named("C", Role::constant, {}, 64);
  EXPECT_EQ(meta.str(), "ninetoothed_meta_prefix_B");
  EXPECT_EQ(meta.name().lower, 32);
  EXPECT_EQ(meta.name().upper, 1024);
  EXPECT_TRUE(meta.name().powerOfTwo);
  EXPECT_EQ(constant.str(), "ninetoothed_constexpr_prefix_C");
  EXPECT_EQ(constant.name().upper, 64);
  EXPECT_THROW(Symbol::named("B", Role::meta, 64, 32), ArrangementError);
}

TEST(Symbol, NamesSubstituteReplace) {
  Symbol e = Symbol::parse("(a + b) // 2 + a");
  ASSERT_EQ(e.names().size(), 2u);
  EXPECT_EQ(e.substitute({{"a", 4}, {"b", 3}}).constant(), 7);
  EXPECT_EQ(e.replace(Symbol::parse("a + b"), Symbol::plain("c")).str(), "c // 2 + a");
  EXPECT_TRUE(e.equals(Symbol::parse("(a+b)//2+a")));
}

TEST(Symbol, TuplesAndItems) {
  for (const char *text : {"x[i]", "x[i, j]", "x[(i,)]", "x[i][j]", "(a, b)", "(a,)", "()", "(a + b)[i]",
                           "x[slice(1, None, None)]", "(x[i] + 1) // 2"})
    EXPECT_EQ(Symbol::parse(text).str(), text);
  EXPECT_EQ(Symbol::parse("(a, b)[1]").str(), "b");
  EXPECT_EQ(Symbol::parse("(a, b)[-2] + 1").str(), "a + 1");
  EXPECT_EQ(Symbol::parse("x[i]").substitute({{"x", Symbol::parse("(a, 7)")}, {"i", 1}}).constant(), 7);
  EXPECT_EQ(Symbol::parse("x[i] + x[j]").names().size(), 3u);
  EXPECT_THROW(Symbol::parse("(a, b)[2]"), ArrangementError);
}

TEST(Symbol, ParseRefusesWhatIsNoInteger) {
  for (const char *text : {"", "a +", "1.5", "a b", "(a", "f(a)", "2x", "x[]", "x[i", "(a b)", "(a, b", "[a]", "min(a)"})
    EXPECT_THROW(Symbol::parse(text), ArrangementError) << text;
}

TEST(Symbol, WhatHasMoreThan64BitsIsRefused) {
  for (const char *text : {"2 ** 63", "3 ** 999999999", "(-2) ** 999999998", "9 * 999999999999999999 * 9", "2 ** 62 + 2 ** 62",
                           "-(2 ** 62) - 2 ** 62 - 1", "(-(2 ** 62) - 2 ** 62) // -1", "-(-(2 ** 62) - 2 ** 62)",
                           "abs(-(2 ** 62) - 2 ** 62)", "(-(2 ** 62) - 2 ** 62) / -1"})
    EXPECT_THROW(Symbol::parse(text), ArrangementError) << text;
  EXPECT_EQ(Symbol::parse("(-2) ** 63").constant(), INT64_MIN);
  EXPECT_EQ(Symbol::parse("((-2) ** 63) % -1").constant(), 0);
  EXPECT_EQ(Symbol::parse("(-1) ** 999999999999999999").constant(), -1); // soon
  EXPECT_EQ(Symbol::parse("0 ** 0 + 0 ** 999999999 + 1 ** 999999999").constant(), 2);
  try {
    Symbol::parse("10 ** 19");
  } catch (const ArrangementError &error) {
    EXPECT_STREQ(error.what(), "`10 ** 19` has more than 64 bits.");
  }
}

TEST(Symbol, OperationsInsideEachOtherAreBounded) {
  auto repeated = [](const std::string &text, int count) {
    std::string result;
    while (count-- > 0)
      result += text;
    return result;
  };
  EXPECT_EQ(Symbol::parse(repeated("(", 900) + "a" + repeated(")", 900)).str(), "a");
  EXPECT_EQ(Symbol::parse(repeated("a + ", 900) + "a").names().size(), 1u);
  const int many = 1000000; // none of which may use up the stack
  for (const std::string &text :
       {repeated("(", many), repeated("-", many) + "a", repeated("a ** ", many) + "a", repeated("a[", many),
        repeated("a + ", many) + "a", "a" + repeated("[b]", many), repeated("abs(", many)})
    EXPECT_THROW(Symbol::parse(text), ArrangementError) << text.substr(0, 20);
}

TEST(Simplify, EqualPolynomialsPrintEqually) {
  auto simple = [](const char *text) { return simplify(Symbol::parse(text)).str(); };
  EXPECT_EQ(simple("(s - (b - 1) - 1 + b - 1) // b + 1"), simple("(s - 1) // b + 1"));
  EXPECT_EQ(simple("0 * x + y * 2 - y"), "y");
  EXPECT_EQ(simple("(b * c + 4 * b) // b"), simple("c + 4"));
  EXPECT_EQ(simple("(6 * x + 3) // 2"), simple("3 * x + 1"));
  EXPECT_EQ(simple("(6 * x + 3) % 2"), "1");
  EXPECT_EQ(simple("x // 0"), "x // 0");
}

} // namespace
