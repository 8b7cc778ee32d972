#include "compiler/layout/registers.h"
#include "compiler/block/forms/fragments.h"
#include "random_layout.h"
#include <gtest/gtest.h>
#include <set>

using namespace tilery::layout;

TEST(Registers, OfThreadsThatRepeatOthers) {
  Layout tile = mmaAccumulator(); // of one warp
  for (unsigned number = 0; number < 4; ++number) {
    auto at = coordinatesOf(tile, number, 5, 0);
    EXPECT_EQ(Layout::Vector(at.begin(), at.end()), tile.at({{Register, number}, {Lane, 5}}));
    EXPECT_EQ(coordinatesOf(tile, number, 5 + 32, 3), at);
  }
  EXPECT_EQ(coordinatesOf(tile, 2), coordinatesOf(tile, 2, 0, 0));
}

// Each thread holds the same elements in another order, in which neighbours along the dimension come first.
TEST(Registers, NeighboursComeFirst) {
  Layout sums = wgmmaAccumulator(64), across = neighboursFirst(sums, 0);
  EXPECT_EQ(neighboursFirst(sums, 1), sums) << "they are the first already";
  EXPECT_EQ(across, sums) << "a register's neighbour along rows is held by another lane";
  RandomLayouts random(3);
  unsigned moved = 0;
  for (int round = 0; round < 200; ++round) {
    Layout layout = random.bijection(random.tile(), {Register, Lane}, round % 2);
    for (unsigned dimension = 0; dimension < layout.outputs().size(); ++dimension) {
      Layout other = neighboursFirst(layout, dimension);
      ASSERT_EQ(other.extent(Register), layout.extent(Register));
      for (int64_t lane = 0; lane < layout.extent(Lane); ++lane) {
        std::set<llvm::SmallVector<int64_t, 4>> before, after;
        for (unsigned number = 0; number < layout.extent(Register); ++number) {
          before.insert(coordinatesOf(layout, number, lane));
          after.insert(coordinatesOf(other, number, lane));
        }
        ASSERT_EQ(before, after);
      }
      if (other == layout)
        continue;
      ++moved;
      auto first = coordinatesOf(other, 0), second = coordinatesOf(other, 1);
      ++first[dimension];
      EXPECT_EQ(first, second);
    }
  }
  EXPECT_GT(moved, 10u);
}
