#include "tilery/gpu_choice.h"
#include <array>
#include <gtest/gtest.h>

using namespace tilery::arrange;

namespace {

Tensor symbolic(size_t rank) { return Tensor(Source{}, std::vector<std::optional<Symbol>>(rank)); }

TEST(Choose, LongVectorsTakeTheLargestBlock) {
  Symbol block = Symbol::named("B", Role::meta);
  Tensor x = symbolic(1).tile({block});
  std::string text = block.name().text;
  auto chosen = [&](int64_t size) {
    return *chooseBlockSizes({{x, 4}, {x, 4}}, {block}, {{x.source().shape[0].name().text, size}}, 2).at(text).constant();
  };
  EXPECT_EQ(chosen(1 << 20), 1024);
  EXPECT_EQ(chosen(0), 32);
  EXPECT_LE(chosen(10), 32);
}

TEST(Choose, MatmulBlocksStayWithinTheLimitAndFavourRows) {
  Symbol m = Symbol::named("M", Role::meta), n = Symbol::named("N", Role::meta), k = Symbol::named("K", Role::meta);
  Tensor c = symbolic(2).tile({m, n});
  Tensor a = symbolic(2).tile({m, k}).tile({1, -1}).expand({-1, c.shape()[1]});
  Tensor b = symbolic(2).tile({k, n}).tile({-1, 1}).expand({c.shape()[0], -1});
  Symbol::Values sizes;
  for (const Tensor &t : {a, b, c})
    for (const Symbol &size : t.source().shape)
      sizes.insert_or_assign(size.name().text, 1024);
  auto chosen = chooseBlockSizes({{a, 4}, {b, 4}, {c, 4}}, {m, n, k}, sizes, 2);
  auto value = [&](const Symbol &s) { return *chosen.at(s.name().text).constant(); };
  EXPECT_LE(value(m) * value(n), 32768);
  EXPECT_GE(value(m) * value(n), 8192);
  EXPECT_GE(value(n), value(m));
  EXPECT_LE(value(m) * value(k) + value(k) * value(n), 65536);
}

TEST(Choose, ProductsOnAGpuFillItAndFetchLittle) {
  Symbol m = Symbol::named("M", Role::meta), n = Symbol::named("N", Role::meta), k = Symbol::named("K", Role::meta);
  Tensor c = symbolic(2).tile({m, n});
  Tensor a = symbolic(2).tile({m, k}).tile({1, -1}).expand({-1, c.shape()[1]});
  Tensor b = symbolic(2).tile({k, n}).tile({-1, 1}).expand({c.shape()[0], -1});
  auto chosen = [&](int64_t size) {
    Symbol::Values sizes;
    for (const Tensor &t : {a, b, c})
      for (const Symbol &extent : t.source().shape)
        sizes.insert_or_assign(extent.name().text, size);
    auto values = chooseGpuBlockSizes({{a, 2}, {b, 2}, {c, 2}}, {m, n, k}, sizes, 132);
    auto value = [&](const Symbol &s) { return *values.at(s.name().text).constant(); };
    return std::array{value(m), value(n), value(k)};
  };
  for (int64_t size : {2048, 4096, 8192})
    EXPECT_EQ(chosen(size), (std::array<int64_t, 3>{128, 256, 64})) << size;
  EXPECT_EQ(chosen(1024)[0] * chosen(1024)[1], 64 * 128); // 128 programs for 132 multiprocessors
  EXPECT_EQ(chosen(1024)[2], 64);
}

TEST(Choose, NoCandidateIsAnError) {
  Symbol block = Symbol::named("B", Role::meta, 65536, 65536);
  Tensor x = symbolic(1).tile({block});
  EXPECT_THROW(chooseBlockSizes({{x, 4}}, {block}, {{x.source().shape[0].name().text, 8}}, 1), std::invalid_argument);
}

} // namespace
