// Quotients by one divisor for all lanes against long double, with the special values. They are code for any machine, and run here.
#include "compiler/targets/cuda/ptx/math_f32.h"
#include "tests/unit/lower/lanes_function.h"
#include <bit>
#include <gtest/gtest.h>
#include <limits>

using namespace tilery;
using namespace tilery::lower;
using namespace tilery::test;

namespace {

/// out[i] = in[i] / divisor within 2 ULP, with one divisor for all lanes.
KernelPtr compileDivision(float divisor, unsigned lanes) {
  return compileFunction(
      [&](Emitter &e, Lanes x) { return cuda::divideByUniformNearly(e, x, llvm::ConstantFP::get(e.b.getFloatTy(), divisor)); },
      lanes);
}

TEST(DivideByUniform, NearlyIsWithinTwoUlps) {
  std::vector<float> in = {0.0f,
                           -0.0f,
                           INFINITY,
                           -INFINITY,
                           NAN,
                           std::numeric_limits<float>::denorm_min(),
                           std::numeric_limits<float>::max(),
                           std::numeric_limits<float>::min()};
  for (uint32_t bits = 1; bits < 0x7F800000u; bits += 35711)
    in.push_back(std::bit_cast<float>(bits | (bits << 31)));
  while (in.size() % 8)
    in.push_back(0.5f);
  std::vector<float> divisors = {0.0f,      -0.0f,       INFINITY,        NAN,      1.0f,          3.0f,
                                 0x1p-149f, 0x1.8p-130f, 0x1.fffffep-65f, 0x1p-64f, 0x1.555554p0f, -0x1.2p64f,
                                 0x1p65f,   0x1.8p126f,  0x1.fffffep127f};
  for (uint32_t bits = 1; bits < 0x7F800000u; bits += 35711 * 997)
    divisors.push_back(std::bit_cast<float>(bits));
  for (unsigned lanes : {8u, 2u}) // in a branch where that is rare; by two products
    for (float divisor : divisors) {
      auto out = evaluate(compileDivision(divisor, lanes), in);
      for (size_t i = 0; i < in.size(); ++i)
        ASSERT_LE(ulps(out[i], (long double)in[i] / divisor), 2.0) << in[i] << " / " << divisor << " gave " << out[i];
    }
}

} // namespace
