// Random words by counters (Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3"), bit for bit as the paper's library.
#include "compiler/functions/number.h"
#include "tilery/functions.h"

namespace tilery {
using namespace functions;

std::vector<Value> philox(Builder &builder, const std::vector<Value> &counter, const std::vector<Value> &key, int64_t rounds) {
  Wrapping wrapping(builder);
  Number c[4], k[2];
  for (int i = 0; i < 4; ++i)
    c[i] = {&builder, counter.at(i)};
  for (int i = 0; i < 2; ++i)
    k[i] = {&builder, key.at(i)};
  bool wide = bitWidth(c[0].dtype()) == 64;
  auto number = [&](uint64_t value) { return constant(&builder, value, wide ? DType::U64 : DType::U32); };
  Number factorA = number(wide ? 0xD2E7470EE14C6C93 : 0xD2511F53), factorB = number(wide ? 0xCA5A826395121157 : 0xCD9E8D57);
  Number stepA = number(wide ? 0x9E3779B97F4A7C15 : 0x9E3779B9), stepB = number(wide ? 0xBB67AE8584CAA73B : 0xBB67AE85);
  for (int64_t round = 0; round < rounds; ++round) {
    Number old0 = c[0], old2 = c[2];
    c[0] = binary(BinaryOp::MulHigh, factorB, old2) ^ c[1] ^ k[0];
    c[2] = binary(BinaryOp::MulHigh, factorA, old0) ^ c[3] ^ k[1];
    c[1] = factorB * old2;
    c[3] = factorA * old0;
    k[0] = k[0] + stepA;
    k[1] = k[1] + stepB;
  }
  return {c[0].value, c[1].value, c[2].value, c[3].value};
}

} // namespace tilery
