#include "compiler/block/forms/transfer.h"
#include "compiler/block/forms/fragments.h"
#include "compiler/block/forms/memory.h"
#include <gtest/gtest.h>

using namespace tilery::layout;

namespace {
/// 64 x 160 elements of 16 bits, so many from row to row.
Layout rows(int64_t pitch) { return Layout({{Offset, 64 * pitch}}).add(dim(1), 160, {1}).add(dim(0), 64, {pitch}); }
/// The same tile's columns: its rows are 64 apart.
Layout columns() { return Layout({{Offset, 64 * 160}}).add(dim(0), 64, {1}).add(dim(1), 160, {64}); }
/// As rows are stored: eight elements of each of four lanes.
Layout byRows() {
  return Layout({{dim(0), 64}, {dim(1), 160}})
      .add(Register, 8, {0, 1})
      .add(Lane, 4, {0, 8})
      .add(Lane, 8, {1, 0})
      .add(Warp, 4, {8, 0})
      .add(Register, 2, {32, 0})
      .add(Register, 5, {0, 32});
}
} // namespace

// 80 values a lane: 10 stores of four matrices in 4 passes each; 10 loads of 16 bytes, whose lanes take 64 bytes of a row, in twice as many.
TEST(Transfer, RowsApartMeetInNoBankOfMatrices) {
  std::optional<Transfer> stored = cheapestTransfer(wgmmaAccumulator(160), rows(168), 2);
  ASSERT_TRUE(stored);
  EXPECT_TRUE(stored->matrix);
  EXPECT_EQ(stored->bytes, 16u);
  EXPECT_EQ(stored->passes, 40u);
  std::optional<Transfer> loaded = cheapestTransfer(byRows(), rows(168), 2);
  ASSERT_TRUE(loaded);
  EXPECT_EQ(loaded->bytes, 16u);
  EXPECT_EQ(loaded->passes, 80u);
  EXPECT_EQ(loaded->least, 40u);
}

// Rows of 320 bytes: every second one begins in the same bank.
TEST(Transfer, PlainRowsMeet) {
  std::optional<Transfer> stored = cheapestTransfer(wgmmaAccumulator(160), rows(160), 2);
  ASSERT_TRUE(stored);
  EXPECT_GT(stored->passes, stored->least);
  EXPECT_EQ(stored->least, 40u);
}

TEST(Transfer, WhatLiesAcrossTakesSingleElements) {
  std::optional<Transfer> loaded = cheapestTransfer(byRows(), columns(), 2);
  ASSERT_TRUE(loaded);
  EXPECT_FALSE(loaded->matrix);
  EXPECT_EQ(loaded->bytes, 2u);
}

TEST(Transfer, WordsHaveNoMatrices) {
  std::optional<Transfer> stored = cheapestTransfer(wgmmaAccumulator(160), rows(168), 4);
  ASSERT_TRUE(stored);
  EXPECT_FALSE(stored->matrix);
  EXPECT_EQ(stored->bytes, 8u);
}
