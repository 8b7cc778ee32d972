#include "compiler/targets/cpu/block_sizes.h"
#include <gtest/gtest.h>

using namespace tilery;
using namespace tilery::arrange;

namespace {

Tensor symbolic(size_t rank) { return Tensor(Source{}, std::vector<std::optional<Symbol>>(rank)); }

TEST(CpuBlockSizes, LongVectorsTakeTheLargestBlock) {
  Symbol block = Symbol::named("B", Role::meta);
  Tensor x = symbolic(1).tile({block});
  std::string text = block.name().text;
  auto chosen = [&](int64_t size) {
    return *choose({{x, 4}, {x, 4}}, {block}, {{x.source().shape[0].name().text, size}}, cpu::blockCost(2)).at(text).constant();
  };
  EXPECT_EQ(chosen(1 << 20), 1024);
  EXPECT_EQ(chosen(0), 32);
  EXPECT_LE(chosen(10), 32);
}

TEST(CpuBlockSizes, MatmulBlocksStayWithinTheLimitAndFavourRows) {
  Symbol m = Symbol::named("M", Role::meta), n = Symbol::named("N", Role::meta), k = Symbol::named("K", Role::meta);
  Tensor c = symbolic(2).tile({m, n});
  Tensor a = symbolic(2).tile({m, k}).tile({1, -1}).expand({-1, c.shape()[1]});
  Tensor b = symbolic(2).tile({k, n}).tile({-1, 1}).expand({c.shape()[0], -1});
  Symbol::Values sizes;
  for (const Tensor &t : {a, b, c})
    for (const Symbol &size : t.source().shape)
      sizes.insert_or_assign(size.name().text, 1024);
  auto chosen = choose({{a, 4}, {b, 4}, {c, 4}}, {m, n, k}, sizes, cpu::blockCost(2));
  auto value = [&](const Symbol &s) { return *chosen.at(s.name().text).constant(); };
  EXPECT_LE(value(m) * value(n), 32768);
  EXPECT_GE(value(m) * value(n), 8192);
  EXPECT_GE(value(n), value(m));
  EXPECT_LE(value(m) * value(k) + value(k) * value(n), 65536);
}

} // namespace
