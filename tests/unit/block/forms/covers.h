#pragma once
// What a form's layouts owe the tile.
#include "tests/unit/layout/random_layout.h"
#include <gtest/gtest.h>
#include <map>

namespace tilery::test {

/// Each element of the tile is held so many times.
inline void expectCovers(const layout::Layout &tile, unsigned times) {
  std::map<layout::Layout::Vector, unsigned> held;
  layout::forEachPlace(tile, [&](llvm::ArrayRef<layout::Layout::Place> place) { ++held[tile.at(place)]; });
  int64_t elements = 1;
  for (const layout::Layout::Output &output : tile.outputs())
    elements *= output.extent;
  EXPECT_EQ(int64_t(held.size()), elements) << tile.print();
  for (auto &[at, count] : held)
    EXPECT_EQ(count, times) << tile.print();
}

} // namespace tilery::test
