// f32 functions computed in f64: one operand within 1 ULP is math_f32_test's; here functions of two operands, and vectors of one length.
#include "lanes_function.h"
#include "compiler/lower/math.h"
#include <bit>
#include <gtest/gtest.h>
#include <limits>

using namespace tilery;
using namespace tilery::lower;
using namespace tilery::test;

namespace {

using Exact = long double (*)(long double, long double);

std::vector<float> operands(uint32_t step) {
  using limits = std::numeric_limits<float>;
  std::vector<float> values = {
      0.0f,         -0.0f,      1.0f,      -1.0f,         INFINITY, -INFINITY, NAN,           2.0f,
      -2.0f,        3.0f,       -3.0f,     0.5f,          -0.5f,    10.0f,     limits::max(), limits::denorm_min(),
      1e-20f,       7.5f,       -7.5f,     limits::min(), 1e20f,    -0.3333f,  16777215.0f,   16777216.0f,
      -16777217.0f, 1.0000001f, 0.9999999f};
  for (uint32_t bits = 77; bits < 0x7F800000u; bits += step)
    values.push_back(std::bit_cast<float>(bits | (bits << 31)));
  while (values.size() % 8)
    values.push_back(0.25f);
  return values;
}

/// The largest error of name(x, y) over all pairs of operands, the second one a constant of the code.
void expectWithin(const char *name, Exact exact, double bound) {
  std::vector<float> in = operands(571003);
  for (float y : operands(61 * 571003)) {
    auto code = [&](Emitter &e, Lanes x) { return emitOwnMath(e, name, {x, llvm::ConstantFP::get(x->getType(), y)}); };
    for (unsigned lanes : {1u, 8u}) {
      auto out = evaluate(compileFunction(code, lanes), in);
      for (size_t i = 0; i < in.size(); ++i) {
        ASSERT_LE(ulps(out[i], exact(in[i], y)), bound) << name << "(" << in[i] << ", " << y << ") gave " << out[i];
        if (float rounded = float(exact(in[i], y)); rounded == 0)
          ASSERT_EQ(std::signbit(out[i]), std::signbit(rounded)) << name << "(" << in[i] << ", " << y << ")";
      }
    }
  }
}

TEST(WideMath, PowIsWithinOneUlp) {
  expectWithin("pow", [](long double x, long double y) { return std::pow(x, y); }, 1.0);
}
TEST(WideMath, Atan2IsWithinOneUlp) {
  expectWithin("atan2", [](long double x, long double y) { return std::atan2(x, y); }, 1.0);
}
TEST(WideMath, FmodIsExact) {
  expectWithin("fmod", [](long double x, long double y) { return std::fmod(x, y); }, 0.0);
}

TEST(WideMath, OtherNamesAndTypesAreLeftToOthers) {
  compileFunction(
      [](Emitter &e, Lanes x) {
        EXPECT_EQ(emitWideMath(e, "sin", {x}), nullptr);
        EXPECT_EQ(emitOwnMath(e, "atan", {llvm::ConstantFP::get(e.b.getDoubleTy(), 1.0)}), nullptr) << "f64 is libm's";
        return x;
      },
      1);
}

} // namespace
