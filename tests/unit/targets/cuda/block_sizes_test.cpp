#include "compiler/targets/cuda/block_sizes.h"
#include <array>
#include <gtest/gtest.h>

using namespace tilery;
using namespace tilery::arrange;

namespace {

Tensor symbolic(size_t rank) { return Tensor(Source{}, std::vector<std::optional<Symbol>>(rank)); }

TEST(GpuBlockSizes, ProductsFillItAndFetchLittle) {
  Symbol m = Symbol::named("M", Role::meta), n = Symbol::named("N", Role::meta), k = Symbol::named("K", Role::meta);
  Tensor c = symbolic(2).tile({m, n});
  Tensor a = symbolic(2).tile({m, k}).tile({1, -1}).expand({-1, c.shape()[1]});
  Tensor b = symbolic(2).tile({k, n}).tile({-1, 1}).expand({c.shape()[0], -1});
  auto chosen = [&](int64_t size) {
    Symbol::Values sizes;
    for (const Tensor &t : {a, b, c})
      for (const Symbol &extent : t.source().shape)
        sizes.insert_or_assign(extent.name().text, size);
    auto values = choose({{a, 2}, {b, 2}, {c, 2}}, {m, n, k}, sizes, cuda::blockCost(132));
    auto value = [&](const Symbol &s) { return *values.at(s.name().text).constant(); };
    return std::array{value(m), value(n), value(k)};
  };
  for (int64_t size : {2048, 4096, 8192})
    EXPECT_EQ(chosen(size), (std::array<int64_t, 3>{128, 256, 64})) << size;
  EXPECT_EQ(chosen(1024)[0] * chosen(1024)[1], 64 * 128); // 128 programs for 132 multiprocessors
  EXPECT_EQ(chosen(1024)[2], 64);
}

} // namespace
