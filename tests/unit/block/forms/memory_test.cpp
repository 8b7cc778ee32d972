#include "compiler/block/forms/memory.h"
#include "compiler/block/forms/fragments.h"
#include "tests/unit/layout/random_layout.h"
#include <gtest/gtest.h>

using namespace tilery::layout;

namespace {
const Swizzle swizzles[] = {Swizzle::B32, Swizzle::B64, Swizzle::B128};
}

// CUDA's driver API: bits 4.. of the address are flipped by bits 7.. of it: one, two or three of them.
TEST(SharedMemory, SwizzlesAreThoseOfTheCopyEngine) {
  for (Swizzle swizzle : swizzles)
    for (unsigned bytes : {1, 2, 4}) {
      int64_t row = int64_t(swizzle) / bytes, rows = 48;
      Layout box = copyBox(rows, row, bytes, swizzle);
      int64_t mask = int64_t(swizzle) / 16 - 1;
      for (int64_t r = 0; r < rows; ++r)
        for (int64_t c = 0; c < row; ++c) {
          int64_t address = (r * row + c) * bytes;
          address ^= (address >> 7 & mask) << 4;
          ASSERT_EQ(box.at({{Offset, address / bytes}}), (Layout::Vector{r, c}));
        }
      ASSERT_TRUE(invert(box));
    }
}

TEST(SharedMemory, SwizzlesAreRecognised) {
  for (int64_t rows : {8, 64, 160, 320})
    for (int64_t columns : {64, 128, 192, 320}) {
      for (Swizzle swizzle : swizzles)
        EXPECT_EQ(swizzleOf(copyBoxes(rows, columns, 2, swizzle), 2), swizzle);
      Layout plain = Layout({{dim(0), rows}, {dim(1), columns}}).add(Offset, columns, {0, 1}).add(Offset, rows, {1, 0});
      EXPECT_EQ(swizzleOf(plain, 2), Swizzle::None);
      EXPECT_EQ(swizzleOf(*invert(*invert(plain)), 2), Swizzle::None);
    }
  Layout wrong({{dim(0), 8}, {dim(1), 64}}); // the row's bits in another order
  wrong.add(Offset, 8, {0, 1}).flip(Offset, {0, 8}).flip(Offset, {0, 16}).flip(Offset, {0, 32});
  wrong.flip(Offset, {1, 16}).flip(Offset, {2, 8}).flip(Offset, {4, 32});
  EXPECT_FALSE(swizzleOf(wrong, 2));
}

TEST(SharedMemory, DescriptorsOfOperands) {
  // k contiguous: 64 of 16-bit elements are a row of 128 bytes.
  auto k128 = matrixDescriptor(copyBoxes(128, 64, 2, Swizzle::B128), 2);
  ASSERT_TRUE(k128);
  EXPECT_TRUE(k128->kMajor);
  EXPECT_EQ(k128->bits(), uint64_t(1) << 62 | uint64_t(64) << 32 | uint64_t(1) << 16);
  EXPECT_EQ(k128->kStep, 32u);
  EXPECT_EQ(matrixDescriptor(copyBoxes(64, 16, 2, Swizzle::B32), 2)->bits(), uint64_t(3) << 62 | uint64_t(16) << 32 | 1 << 16);
  EXPECT_EQ(matrixDescriptor(copyBoxes(160, 32, 2, Swizzle::B64), 2)->bits(), uint64_t(2) << 62 | uint64_t(32) << 32 | 1 << 16);
  EXPECT_EQ(matrixDescriptor(copyBoxes(320, 128, 1, Swizzle::B128), 1)->bits(), uint64_t(1) << 62 | uint64_t(64) << 32 | 1 << 16);
  // m or n contiguous: k rows of 64 of them, blocks k * 128 bytes apart.
  Layout turned = copyBoxes(64, 192, 2, Swizzle::B128).transposed();
  auto n128 = matrixDescriptor(turned, 2);
  ASSERT_TRUE(n128);
  EXPECT_FALSE(n128->kMajor);
  EXPECT_EQ(n128->bits(), uint64_t(1) << 62 | uint64_t(64) << 32 | uint64_t(64 * 128 / 16) << 16);
  EXPECT_EQ(n128->kStep, 16u * 128);
  EXPECT_FALSE(matrixDescriptor(turned, 1)) << "8-bit operands are read along k only";
  EXPECT_FALSE(matrixDescriptor(copyBoxes(64, 128, 2, Swizzle::B128), 2)) << "two blocks of k";
  EXPECT_FALSE(matrixDescriptor(copyBox(64, 64, 2, Swizzle::None), 2));
}

TEST(SharedMemory, WidestVectorAgainstEnumeration) {
  RandomLayouts random(7);
  int64_t wide = 0;
  for (int i = 0; i < 1500; ++i) {
    Layout access({{Offset, 256}});
    for (int64_t n = random.upTo(3), step = 1; n >= 0; --n) {
      static const int64_t extents[] = {2, 4, 3, 8};
      int64_t extent = extents[random.upTo(3)];
      access.add(random.upTo(1) ? Register : Lane, extent, {random.upTo(5) ? step : random.upTo(8)});
      step *= extent;
    }
    int64_t best = 1;
    for (int64_t width : {2, 4, 8}) {
      bool works = access.extent(Register) % width == 0;
      if (works)
        forEachPlace(access, [&](llvm::ArrayRef<Layout::Place> place) {
          std::vector<Layout::Place> first(place.begin(), place.end());
          int64_t lane = 0;
          for (auto &[axis, number] : first)
            if (axis == Register) {
              lane = number % width;
              number -= lane;
            }
          int64_t start = access.at(first)[0];
          works &= start % width == 0 && access.at(place)[0] == start + lane;
        });
      best = works ? width : best;
    }
    EXPECT_EQ(widestVector(access, 2), best) << access.print();
    wide += best > 1;
  }
  EXPECT_GT(wide, 100);
}

TEST(SharedMemory, BankConflicts) {
  auto lanes = [](int64_t bytes) { return Layout({{Offset, 1 << 20}}).add(Lane, 32, {bytes}); };
  auto passes = [&](const Layout &access, unsigned bytes) { return bankUse(access, bytes).passes; };
  EXPECT_EQ(passes(lanes(4), 4), 1u);
  EXPECT_EQ(passes(lanes(8), 4), 2u);
  EXPECT_EQ(passes(lanes(128), 4), 32u);
  EXPECT_EQ(passes(lanes(132), 4), 1u) << "a pitch of 33 words";
  EXPECT_EQ(passes(lanes(0), 4), 1u) << "one word for all";
  EXPECT_EQ(passes(lanes(2), 2), 1u) << "two lanes share a word";
  EXPECT_EQ(passes(lanes(16), 16), 4u);
  EXPECT_EQ(bankUse(lanes(16), 16).least, 4u);
  EXPECT_EQ(passes(lanes(128), 16), 32u);
  EXPECT_EQ(passes(lanes(8), 8), 2u);
  // stmatrix of an accumulator: rows of 128 bytes collide, swizzled ones do not.
  for (Swizzle swizzle : {Swizzle::None, Swizzle::B128}) {
    Layout memory = *invert(copyBoxes(64, 64, 2, swizzle));
    MatrixMove move = *matrixMove(wgmmaAccumulator(64), memory);
    Layout rows = *compose(memory, move.addresses), bytes({{Offset, 8192}});
    for (Layout::Digit digit : rows.digits(Lane)) {
      digit.step[0] *= 2, digit.flips[0] *= 2;
      bytes.add(Lane, digit);
    }
    EXPECT_EQ(passes(bytes, 16), swizzle == Swizzle::None ? 32u : 4u);
  }
}
