#include "compiler/targets/cuda/thread_map.h"
#include <gtest/gtest.h>

using tilery::cuda::mapThreads;
using tilery::cuda::ThreadMap;

TEST(ThreadMap, DealsVectorsRowByRow) {
  auto map = mapThreads({1, 4096}, 256, 4);
  ASSERT_TRUE(map);
  EXPECT_EQ(map->vectors, 1024);
  EXPECT_EQ(map->chunks, 4);
  EXPECT_FALSE(map->ragged());
  EXPECT_FALSE(map->copies());
}

TEST(ThreadMap, OneRowIsEveryThreads) {
  auto rows = mapThreads({4096}, 256, 4)->rows();
  ASSERT_TRUE(rows);
  EXPECT_EQ(rows->members, 256u);
  EXPECT_EQ(rows->chunksOfRow, 4);
  EXPECT_EQ(rows->count, 1);
}

TEST(ThreadMap, RowsAbreast) { // 16 threads a row, 8 rows at a time
  auto rows = mapThreads({32, 64}, 128, 4)->rows();
  ASSERT_TRUE(rows);
  EXPECT_EQ(rows->members, 16u);
  EXPECT_EQ(rows->chunksOfRow, 1);
  EXPECT_EQ(rows->count, 4);
}

TEST(ThreadMap, RowsOneAfterTheOther) {
  auto rows = mapThreads({4, 1024}, 128, 4)->rows();
  ASSERT_TRUE(rows);
  EXPECT_EQ(rows->members, 128u);
  EXPECT_EQ(rows->chunksOfRow, 2);
  EXPECT_EQ(rows->count, 4);
}

TEST(ThreadMap, LastChunkMayBeMissing) {
  auto map = mapThreads({1000}, 128, 4);
  ASSERT_TRUE(map);
  EXPECT_TRUE(map->ragged());
  EXPECT_EQ(map->chunks, 2);
  EXPECT_TRUE(map->rows()); // one row: the missing elements are left out
  EXPECT_FALSE(mapThreads({8, 100}, 128, 4)->rows());
}

TEST(ThreadMap, FewElementsAreSeveralThreads) {
  auto map = mapThreads({16}, 128, 1);
  ASSERT_TRUE(map);
  EXPECT_TRUE(map->copies());
  EXPECT_EQ(map->rows()->members, 16u);
  auto one = mapThreads({1, 1}, 128, 4);
  ASSERT_TRUE(one);
  EXPECT_EQ(one->width, 1u);
  EXPECT_EQ(one->rows()->members, 1u);
}

TEST(ThreadMap, Refuses) {
  EXPECT_FALSE(mapThreads({1 << 16}, 128, 4)); // 512 elements a thread
  EXPECT_FALSE(mapThreads({10}, 128, 4));      // width
  EXPECT_FALSE(mapThreads({24}, 128, 1));      // threads would hold unlike numbers of copies
}

TEST(ThreadMap, VectorsAlongAnotherDimension) {
  auto map = mapThreads({128, 1, 64}, 128, 4, 0);
  ASSERT_TRUE(map);
  EXPECT_TRUE(map->crosses());
  EXPECT_EQ(map->run, 8); // of 4 elements: a line of 128 bytes
  EXPECT_EQ(map->chunks, 16);
  EXPECT_FALSE(map->rows());
  EXPECT_EQ(mapThreads({24, 64}, 128, 4, 0)->run, 2);
  EXPECT_FALSE(mapThreads({10, 64}, 128, 4, 0)); // width
  EXPECT_FALSE(mapThreads({128, 64}, 128, 4, 1)->crosses());
}

TEST(ThreadMap, VectorsSideBySide) {
  EXPECT_EQ(mapThreads({128, 128}, 256, 16, std::nullopt, 4)->abreast, 4u);
  EXPECT_EQ(mapThreads({128, 128}, 256, 16, 0, 4)->abreast, 4u);
  EXPECT_EQ(mapThreads({128, 128}, 512, 16, std::nullopt, 4)->abreast, 1u); // two vectors a thread
  EXPECT_EQ(mapThreads({128, 48}, 128, 4, std::nullopt, 2)->abreast, 1u);   // rows that end within the block's threads
  EXPECT_EQ(mapThreads({4, 64, 64}, 128, 4, std::nullopt, 2)->abreast, 1u);
}
