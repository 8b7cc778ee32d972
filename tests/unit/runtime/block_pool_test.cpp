#include "runtime/block_pool.h"
#include <cstring>
#include <gtest/gtest.h>
#include <random>

using tilery::BlockPool;

TEST(BlockPool, BlocksDoNotOverlap) {
  BlockPool pool(64 << 20);
  struct Block {
    unsigned char *memory;
    size_t bytes;
    unsigned char mark;
  };
  std::vector<Block> blocks;
  std::mt19937 random(3);
  auto check = [](const Block &b) {
    ASSERT_EQ(b.memory[0], b.mark);
    ASSERT_EQ(b.memory[b.bytes - 1], b.mark);
    ASSERT_EQ(b.memory[b.bytes / 2], b.mark);
  };
  for (int round = 0; round < 3000; ++round) {
    if (blocks.size() < 40 && random() % 2) {
      size_t bytes = 1 + (size_t(random()) % 1024 << (random() % 13));
      auto *memory = static_cast<unsigned char *>(pool.take(bytes));
      EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % (64 << 10), 0u);
      blocks.push_back({memory, bytes, static_cast<unsigned char>(round)});
      std::memset(memory, round, bytes);
    } else if (!blocks.empty()) {
      std::swap(blocks[random() % blocks.size()], blocks.back());
      check(blocks.back());
      pool.give(blocks.back().memory);
      blocks.pop_back();
    }
  }
  for (const Block &b : blocks) {
    check(b);
    pool.give(b.memory);
  }
  EXPECT_LE(pool.keptBytes(), size_t(64) << 20);
}

TEST(BlockPool, ReusesWhatWasGivenBack) {
  BlockPool pool(64 << 20);
  void *large = pool.take(5 << 20);
  pool.give(large);
  EXPECT_EQ(pool.keptBytes(), size_t(6) << 20);
  EXPECT_EQ(pool.take(6 << 20), large);
  EXPECT_EQ(pool.keptBytes(), 0u);
  pool.give(large);
  // Small blocks are cut from one region, which is whole again once all are back.
  std::vector<void *> small;
  for (int i = 0; i < 4; ++i)
    small.push_back(pool.take(500 << 10));
  for (void *block : small)
    EXPECT_EQ(reinterpret_cast<uintptr_t>(block) >> 21, reinterpret_cast<uintptr_t>(small[0]) >> 21);
  for (void *block : small)
    pool.give(block);
  EXPECT_EQ(pool.keptBytes(), size_t(8) << 20);
}

TEST(BlockPool, KeepsNoMoreThanItsLimit) {
  BlockPool pool(4 << 20);
  void *first = pool.take(4 << 20), *second = pool.take(4 << 20);
  pool.give(first);
  pool.give(second);
  EXPECT_EQ(pool.keptBytes(), size_t(4) << 20);
}
