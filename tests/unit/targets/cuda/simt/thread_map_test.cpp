#include "compiler/targets/cuda/simt/thread_map.h"
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

namespace {
/// The element along `dim` that lane `lane` of a thread's chunk is, by the numbering of vectors.
int64_t elementAlong(const ThreadMap &map, llvm::ArrayRef<int64_t> shape, unsigned dim, int64_t thread, int64_t chunk,
                     int64_t lane) {
  int64_t element = ((chunk * map.threads + thread) % map.vectors) * map.width + lane;
  for (unsigned d = shape.size(); --d > dim;)
    element /= shape[d];
  return element % shape[dim];
}
} // namespace

TEST(ThreadMap, LinesSayWhereTheElementsOfADimensionAre) {
  struct {
    llvm::SmallVector<int64_t> shape;
    unsigned threads, width;
  } cases[] = {{{4096}, 128, 4},    {{16, 32}, 64, 4},   {{128, 32}, 256, 4}, {{64, 128}, 256, 8}, {{1, 1024}, 128, 4},
               {{8, 4, 16}, 64, 4}, {{2, 256}, 1024, 1}, {{256, 2}, 32, 2},   {{64, 1}, 256, 1},   {{4, 512, 8}, 128, 8}};
  for (auto &[shape, threads, width] : cases)
    for (unsigned dim = 0; dim < shape.size(); ++dim) {
      auto map = *mapThreads(shape, threads, width);
      auto lines = map.lines(shape, dim);
      if (shape[dim] == 1) {
        EXPECT_FALSE(lines);
        continue;
      }
      ASSERT_TRUE(lines);
      EXPECT_EQ(int64_t(lines->lanes) * lines->threads * lines->warps * lines->chunks, shape[dim]);
      for (int64_t thread = 0; thread < map.threads; ++thread)
        for (int64_t chunk = 0; chunk < map.chunks; ++chunk)
          for (unsigned lane = 0; lane < map.width; ++lane) {
            int64_t place = chunk / lines->chunkStep % lines->chunks;
            place = place * lines->warps + thread / 32 / lines->warpStep % lines->warps;
            place = place * lines->threads + thread % 32 / lines->threadStep % lines->threads;
            place = place * lines->lanes + (lines->lanes > 1 ? lane : 0);
            ASSERT_EQ(place, elementAlong(map, shape, dim, thread, chunk, lane)) << "thread " << thread << " chunk " << chunk;
            ASSERT_EQ(lines->chunkOf(lines->lineOf(chunk), chunk / lines->chunkStep % lines->chunks), chunk);
          }
    }
}

TEST(ThreadMap, LinesThatAreSharedOutUnevenlyAreNone) {
  auto hasLines = [](std::optional<ThreadMap> map, llvm::ArrayRef<int64_t> shape, unsigned dim) {
    return map && map->lines(shape, dim).has_value();
  };
  EXPECT_FALSE(hasLines(mapThreads({3, 1024}, 1024, 4), {3, 1024}, 1)); // the last chunk is not every thread's
  EXPECT_FALSE(hasLines(mapThreads({8, 96}, 32, 4), {8, 96}, 0));       // rows of 24 vectors
  EXPECT_FALSE(hasLines(mapThreads({64, 64}, 64, 4, 0), {64, 64}, 0));  // vectors lie along the first dimension
}
