// Every own f32 function against long double, over its whole range, with the special values. The bound is 2 ULP.
#include "lanes_function.h"
#include "compiler/lower/math.h"
#include <bit>
#include <gtest/gtest.h>
#include <limits>

using namespace tilery;
using namespace tilery::lower;
using namespace tilery::test;

namespace {

KernelPtr compileOwn(const std::string &name, unsigned lanes) {
  return compileFunction([&](Emitter &e, Lanes x) { return emitOwnMath(e, name, {x}); }, lanes);
}

struct Case {
  const char *name;
  long double (*exact)(long double);
};
class OwnMath : public testing::TestWithParam<Case> {};

TEST_P(OwnMath, IsWithinTwoUlps) {
  auto [name, exact] = GetParam();
  std::vector<float> in;
  for (uint32_t bits = 0; bits < 0x7F800000u; bits += 7919) // all magnitudes, both signs
    for (uint32_t sign : {0u, 0x80000000u})
      in.push_back(std::bit_cast<float>(bits | sign));
  for (int i = 0; i < 400000; ++i) // where the functions bend
    in.push_back(-110.0f + 0.00055f * i);
  for (float special : {0.0f, -0.0f, 1.0f, -1.0f, INFINITY, -INFINITY, NAN, std::numeric_limits<float>::denorm_min(),
                        std::numeric_limits<float>::max(), -std::numeric_limits<float>::max()})
    in.push_back(special);
  while (in.size() % 16)
    in.push_back(0.5f);
  for (unsigned lanes : {1u, 8u, 16u}) {
    auto out = evaluate(compileOwn(name, lanes), in);
    double worst = 0;
    float where = 0;
    for (size_t i = 0; i < in.size(); ++i)
      if (double error = ulps(out[i], exact(in[i])); error > worst)
        worst = error, where = in[i];
    EXPECT_LE(worst, 2.0) << name << "(" << where << ") in vectors of " << lanes;
    RecordProperty(std::string(name) + std::to_string(lanes), std::to_string(worst));
    if (lanes == 8)
      std::printf("%s: %.2f ulp at %g\n", name, worst, where);
  }
  auto zeros = evaluate(compileOwn(name, 1), {0.0f, -0.0f});
  if (exact(0.0L) == 0) // odd functions keep the sign of zero
    EXPECT_TRUE(!std::signbit(zeros[0]) && std::signbit(zeros[1]) == (exact(-0.5L) < 0)) << name;
}

INSTANTIATE_TEST_SUITE_P(
    All, OwnMath,
    testing::Values(
        Case{"exp", [](long double x) { return std::exp(x); }}, Case{"exp2", [](long double x) { return std::exp2(x); }},
        Case{"log", [](long double x) { return std::log(x); }}, Case{"log2", [](long double x) { return std::log2(x); }},
        Case{"tanh", [](long double x) { return std::tanh(x); }}, Case{"erf", [](long double x) { return std::erf(x); }},
        Case{"sin", [](long double x) { return std::sin(x); }}, Case{"cos", [](long double x) { return std::cos(x); }},
        Case{"expm1", [](long double x) { return std::expm1(x); }}, Case{"log10", [](long double x) { return std::log10(x); }},
        Case{"log1p", [](long double x) { return std::log1p(x); }}, Case{"erfc", [](long double x) { return std::erfc(x); }},
        Case{"tan", [](long double x) { return std::tan(x); }}, Case{"asin", [](long double x) { return std::asin(x); }},
        Case{"acos", [](long double x) { return std::acos(x); }}, Case{"atan", [](long double x) { return std::atan(x); }},
        Case{"sinh", [](long double x) { return std::sinh(x); }}, Case{"cosh", [](long double x) { return std::cosh(x); }},
        Case{"asinh", [](long double x) { return std::asinh(x); }}, Case{"acosh", [](long double x) { return std::acosh(x); }},
        Case{"atanh", [](long double x) { return std::atanh(x); }}, Case{"cbrt", [](long double x) { return std::cbrt(x); }}),
    [](auto &info) { return info.param.name; });

} // namespace
