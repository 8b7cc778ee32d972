#include "compiler/block/forms/fragments.h"
#include "compiler/block/forms/memory.h"
#include "tests/unit/layout/random_layout.h"
#include <gtest/gtest.h>

using namespace tilery::layout;

// The formulas of the PTX ISA's figures, written out.
TEST(Fragments, AreThoseOfTheInstructions) {
  for (int64_t lane = 0; lane < 32; ++lane) {
    int64_t group = lane / 4, inGroup = lane % 4;
    for (int64_t i = 0; i < 8; ++i) { // m16n8k16, .f16
      int64_t row = i < 2 || (i >= 4 && i < 6) ? group : group + 8;
      int64_t column = inGroup * 2 + (i & 1) + (i >= 4 ? 8 : 0);
      EXPECT_EQ(mmaOperandA(16).at({{Register, i}, {Lane, lane}}), (Layout::Vector{row, column}));
    }
    for (int64_t i = 0; i < 4; ++i) {
      EXPECT_EQ(mmaAccumulator().at({{Register, i}, {Lane, lane}}), (Layout::Vector{group + 8 * (i / 2), inGroup * 2 + (i & 1)}));
      // m16n8k8, .tf32
      EXPECT_EQ(mmaOperandA(32).at({{Register, i}, {Lane, lane}}), (Layout::Vector{group + 8 * (i % 2), inGroup + 4 * (i / 2)}));
    }
    for (int64_t i = 0; i < 16; ++i) // m16n8k32, .s8
      EXPECT_EQ(mmaOperandA(8).at({{Register, i}, {Lane, lane}}),
                (Layout::Vector{i < 4 || (i >= 8 && i < 12) ? group : group + 8, inGroup * 4 + (i & 3) + (i >= 8 ? 16 : 0)}));
    for (int64_t n : {8, 160, 192, 256})
      for (int64_t warp = 0; warp < 4; ++warp)
        for (int64_t i = 0; i < n / 2; ++i)
          EXPECT_EQ(wgmmaAccumulator(n).at({{Register, i}, {Lane, lane}, {Warp, warp}}),
                    (Layout::Vector{16 * warp + group + 8 * (i / 2 % 2), 8 * (i / 4) + inGroup * 2 + i % 2}));
  }
}

namespace {
/// Runs `move` as the PTX ISA describes ldmatrix over a memory whose element at offset o is o, and compares with what `registers` want.
void expectMoves(const MatrixMove &move, const Layout &registers, const Layout &memory) {
  auto offsetOf = [&](const Layout::Vector &at) { return memory.at({{dim(0), at[0]}, {dim(1), at[1]}})[0]; };
  for (int64_t warp = 0; warp < registers.extent(Warp); ++warp)
    for (int64_t number = 0; number < move.addresses.extent(Register); ++number) {
      std::vector<int64_t> address;
      for (int64_t lane = 0; lane < 8 * move.matrices; ++lane) {
        address.push_back(offsetOf(move.addresses.at({{Lane, lane}, {Register, number}, {Warp, warp}})));
        ASSERT_EQ(address.back() % 8, 0) << "an address is a multiple of 16 bytes";
      }
      for (int64_t lane = 0; lane < 32; ++lane)
        for (unsigned m = 0; m < move.matrices; ++m)
          for (int64_t i = 0; i < 2; ++i) {
            int64_t row = move.transposed ? lane % 4 * 2 + i : lane / 4, column = move.transposed ? lane / 4 : lane % 4 * 2 + i;
            int64_t got = address[8 * m + row] + column;
            int64_t number2 = (number * move.matrices + m) * 2 + i;
            ASSERT_EQ(got, offsetOf(registers.at({{Register, number2}, {Lane, lane}, {Warp, warp}})));
          }
    }
}
Layout rowMajor(int64_t rows, int64_t columns, int64_t pitch) {
  return Layout({{Offset, rows * pitch}}).add(dim(0), rows, {pitch}).add(dim(1), columns, {1});
}
Layout columnMajor(int64_t rows, int64_t columns) {
  return Layout({{Offset, rows * columns}}).add(dim(1), columns, {rows}).add(dim(0), rows, {1});
}
} // namespace

TEST(Fragments, MatrixMoves) {
  for (int64_t n : {8, 64, 160, 192, 256}) {
    Layout accumulator = wgmmaAccumulator(n);
    std::vector<std::pair<Layout, bool>> memories{
        {rowMajor(64, n, n), false}, {rowMajor(64, n, n + 8), false}, {columnMajor(64, n), true}};
    if (n % 64 == 0)
      memories.push_back({*invert(copyBoxes(64, n, 2, Swizzle::B128)), false});
    if (n % 32 == 0)
      memories.push_back({*invert(copyBoxes(64, n, 2, Swizzle::B64)), false});
    for (auto &[memory, transposed] : memories) {
      std::optional<MatrixMove> move = matrixMove(accumulator, memory);
      ASSERT_TRUE(move) << memory.print();
      EXPECT_EQ(move->matrices, n % 16 ? 2u : 4u);
      EXPECT_EQ(move->transposed, transposed);
      expectMoves(*move, accumulator, memory);
    }
  }
  // The operands of mma.sync, from either order of memory.
  Layout second = Layout({{dim(0), 16}, {dim(1), 8}})
                      .add(Register, 2, {1, 0})
                      .add(Register, 2, {8, 0})
                      .add(Lane, 4, {2, 0})
                      .add(Lane, 8, {0, 1});
  for (const Layout &fragment : {mmaOperandA(16), second})
    for (bool transposed : {false, true}) {
      int64_t rows = fragment.outputs()[0].extent, columns = fragment.outputs()[1].extent;
      Layout memory = transposed ? columnMajor(rows, columns) : rowMajor(rows, columns, columns);
      std::optional<MatrixMove> move = matrixMove(fragment, memory);
      ASSERT_TRUE(move);
      expectMoves(*move, fragment, memory);
      EXPECT_EQ(move->transposed, transposed != (rows == 16 && columns == 8));
    }
}

// ldmatrix.trans over a memory whose byte at offset o is o, then the permutations that the first product's lanes do.
TEST(Fragments, BytesThatLieAcrossK) {
  for (int64_t k : {32, 64, 128})
    for (auto [rows, swizzle] : {std::pair(64, Swizzle::B64), std::pair(128, Swizzle::B128), std::pair(256, Swizzle::B128)}) {
      Layout tiles({{dim(0), rows / 64}, {dim(1), k / 32}});
      tiles.add(Register, k / 32, {0, 1}).add(Register, rows / 64, {1, 0});
      Layout registers = product(wgmmaOperandA(8, Rows::Paired), tiles);
      Layout memory = *invert(copyBoxes(k, rows, 1, swizzle).transposed());
      std::optional<Layout> addresses = turnedBytes(registers, memory);
      ASSERT_TRUE(addresses);
      std::optional<Layout> access = compose(memory, *addresses);
      ASSERT_TRUE(access);
      EXPECT_EQ(addresses->extent(Lane), 32);
      EXPECT_EQ(addresses->extent(Register) * 16, registers.extent(Register));
      for (int64_t warp = 0; warp < 4; ++warp)
        for (int64_t number = 0; number < addresses->extent(Register); ++number)
          for (int64_t lane = 0; lane < 32; ++lane) {
            int64_t words[4][4]; // the bytes of each
            for (int64_t m = 0; m < 4; ++m)
              for (int64_t i = 0; i < 4; ++i) {
                int64_t row = access->at({{Register, number}, {Lane, 8 * m + lane % 4 * 2 + i / 2}, {Warp, warp}})[0];
                ASSERT_EQ(row % 16, 0);
                words[m][i] = row + lane / 4 * 2 + i % 2;
              }
            for (int64_t r = 0; r < 16; ++r) {
              int64_t half = r / 8 * 2, other = r / 4 % 2, early = (r % 4 < 2) != (lane % 4 >= 2);
              int64_t got = words[half + !early][r % 2 * 2 + other];
              Layout::Vector at = registers.at({{Register, 16 * number + r}, {Lane, lane}, {Warp, warp}});
              ASSERT_EQ(got, memory.at({{dim(0), at[0]}, {dim(1), at[1]}})[0]) << number << " " << lane << " " << r;
            }
          }
      if (swizzle == Swizzle::B128) {
        BankUse use = bankUse(access->canonical(), 16);
        EXPECT_EQ(use.passes, use.least);
      }
    }
  EXPECT_FALSE(turnedBytes(wgmmaOperandA(8), columnMajor(64, 32))) << "rows in order";
  EXPECT_FALSE(turnedBytes(wgmmaOperandA(8, Rows::Paired), rowMajor(64, 32, 32))) << "k in one piece";
}

TEST(Fragments, WhatNoMatrixMoveCanDo) {
  EXPECT_FALSE(matrixMove(wgmmaAccumulator(64), rowMajor(64, 64, 68))) << "rows that are not aligned";
  Layout rowsOfLanes = Layout({{dim(0), 32}, {dim(1), 8}}).add(Register, 8, {0, 1}).add(Lane, 32, {1, 0});
  EXPECT_FALSE(matrixMove(rowsOfLanes, rowMajor(32, 8, 8))) << "a lane holds a whole row";
  EXPECT_FALSE(matrixMove(mmaAccumulator(), Layout({{Offset, 512}}).add(dim(0), 16, {16}).add(dim(1), 8, {2})))
      << "every other element";
}

// A warpgroup's accumulator into rows of 128 swizzled bytes, by the arithmetic that kernels are written with.
TEST(Fragments, AddressesOfStoredResults) {
  Layout memory16 = *invert(copyBox(64, 64, 2, Swizzle::B128)), memory32 = *invert(copyBox(64, 32, 4, Swizzle::B128));
  MatrixMove move = *matrixMove(wgmmaAccumulator(64), memory16);
  Layout matrices = *compose(memory16, move.addresses), pairs = *compose(memory32, wgmmaAccumulator(32));
  EXPECT_EQ(move.matrices, 4u);
  EXPECT_FALSE(move.transposed);
  for (int64_t warp = 0; warp < 4; ++warp)
    for (int64_t lane = 0; lane < 32; ++lane) {
      for (int64_t j = 0; j < 8; j += 2) {
        int64_t low = lane & 7, row = warp * 16 + (lane & 8) + low, chunk = ((lane >> 4) + j) ^ low;
        EXPECT_EQ(2 * matrices.at({{Register, j / 2}, {Lane, lane}, {Warp, warp}})[0], row * 128 + chunk * 16);
      }
      for (int64_t j = 0; j < 4; ++j)
        for (int64_t half = 0; half < 2; ++half) {
          int64_t row = lane >> 2, pair = lane & 3, chunk = ((pair >> 1) + 2 * j) ^ row;
          int64_t address = (warp * 16 + row + 8 * half) * 128 + (pair & 1) * 8 + chunk * 16;
          EXPECT_EQ(4 * pairs.at({{Register, 4 * j + 2 * half}, {Lane, lane}, {Warp, warp}})[0], address);
        }
    }
}
