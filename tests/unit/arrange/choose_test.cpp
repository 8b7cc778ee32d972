#include "compiler/arrange/choose.h"
#include <gtest/gtest.h>

using namespace tilery::arrange;

namespace {

Tensor symbolic(size_t rank) { return Tensor(Source{}, std::vector<std::optional<Symbol>>(rank)); }

TEST(Choose, DescribesEveryCandidate) {
  Symbol m = Symbol::named("M", Role::meta, 32, 64), k = Symbol::named("K", Role::meta, 16, 16);
  Tensor c = symbolic(1).tile({m});
  Tensor a = symbolic(2).tile({m, k}).tile({1, -1});
  Symbol::Values sizes;
  for (const Tensor &t : {a, c})
    for (const Symbol &size : t.source().shape)
      sizes.insert_or_assign(size.name().text, 128);
  std::vector<Work> seen;
  auto chosen = choose({{c, 4}, {a, 2}}, {m, k}, sizes, [&](const Work &work) {
    seen.push_back(work);
    return std::optional(double(work.programs)); // the fewest
  });
  EXPECT_EQ(chosen.at(m.name().text).constant(), 64);
  EXPECT_EQ(chosen.at(k.name().text).constant(), 16);
  ASSERT_EQ(seen.size(), 2u);
  EXPECT_EQ(seen[0].programs, 4); // 128 / 32
  ASSERT_EQ(seen[0].tiles.size(), 2u);
  const Tiles &first = seen[0].tiles[0], &second = seen[0].tiles[1];
  EXPECT_EQ(std::tuple(first.elements, first.row, first.elementBytes, first.visits, first.many),
            std::tuple(32, 32, 4, 1., false));
  EXPECT_EQ(std::tuple(second.elements, second.row, second.elementBytes, second.visits, second.many),
            std::tuple(32 * 16, 16, 2, 8., true));
}

TEST(Choose, OnlyWhatHasACostAndFits) {
  Symbol block = Symbol::named("B", Role::meta, 32, 128);
  Tensor x = symbolic(1).tile({block});
  Symbol::Values sizes{{x.source().shape[0].name().text, 1024}};
  auto below = [&](int64_t most) {
    return choose({{x, 4}}, {block}, sizes, [&](const Work &work) {
      return work.tiles[0].elements < most ? std::optional(double(work.programs)) : std::nullopt;
    });
  };
  EXPECT_EQ(below(128).at(block.name().text).constant(), 64);
  EXPECT_THROW(below(32), tilery::Error);
}

TEST(Choose, NoCandidateIsAnError) {
  Symbol block = Symbol::named("B", Role::meta, 65536, 65536);
  Tensor x = symbolic(1).tile({block});
  EXPECT_THROW(choose({{x, 4}}, {block}, {{x.source().shape[0].name().text, 8}}, [](const Work &) { return 1.; }), tilery::Error);
}

TEST(Choose, RankedCheapestFirst) {
  Symbol block = Symbol::named("B", Role::meta, 32, 256);
  Tensor x = symbolic(1).tile({block});
  Symbol::Values sizes{{x.source().shape[0].name().text, 1024}};
  auto cost = [](const Work &work) { return std::optional(work.tiles[0].elements == 128 ? 0. : double(work.programs)); };
  std::vector<int64_t> order;
  for (const Symbol::Values &values : ranked({{x, 4}}, {block}, sizes, cost, 3))
    order.push_back(*values.at(block.name().text).constant());
  EXPECT_EQ(order, (std::vector<int64_t>{128, 256, 64}));
  EXPECT_EQ(ranked({{x, 4}}, {block}, sizes, cost, 9).size(), 4u);
}

} // namespace
