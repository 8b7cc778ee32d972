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
  auto chosenFor = [&](int64_t rows, int64_t columns, int64_t depth) {
    Symbol::Values sizes;
    auto insert = [&](const Tensor &t, int64_t first, int64_t second) {
      sizes.insert_or_assign(t.source().shape[0].name().text, first);
      sizes.insert_or_assign(t.source().shape[1].name().text, second);
    };
    insert(a, rows, depth), insert(b, depth, columns), insert(c, rows, columns);
    auto values = choose({{a, 2}, {b, 2}, {c, 2}}, {m, n, k}, sizes, cuda::blockCost(132));
    auto value = [&](const Symbol &s) { return *values.at(s.name().text).constant(); };
    return std::array{value(m), value(n), value(k)};
  };
  auto chosen = [&](int64_t size) { return chosenFor(size, size, size); };
  for (int64_t size : {2048, 4096, 8192})
    EXPECT_EQ(chosen(size), (std::array<int64_t, 3>{128, 256, 64})) << size;
  EXPECT_EQ(chosen(1024)[0] * chosen(1024)[1], 64 * 128); // 128 programs for 132 multiprocessors
  EXPECT_EQ(chosen(1024)[2], 64);
  EXPECT_LE(chosenFor(16, 8192, 8192)[0], 32);                                  // few rows are the tensor cores' columns
  EXPECT_EQ(chosenFor(16, 8192, 8192)[1], 64);                                  // 128 programs
  EXPECT_EQ(chosenFor(128, 8192, 8192), (std::array<int64_t, 3>{128, 64, 64})); // of as many bytes a program, B once
  EXPECT_EQ(chosenFor(8192, 128, 8192), (std::array<int64_t, 3>{64, 128, 64})); // A once
}

} // namespace
