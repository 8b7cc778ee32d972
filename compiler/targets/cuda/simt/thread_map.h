#pragma once
// How the elements of a tile are dealt to the threads of a block.
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <optional>

namespace tilery::cuda {

/// Vectors of `width` neighbours of the last dimension, numbered row by row: vector v belongs to thread v % threads. With fewer vectors
/// than threads, threads that are `vectors` apart hold the same one.
/// Or of another dimension (`inner`): numbered in runs of `run` along that, then along the other dimensions, the last one first, then run
/// by run; so neighbouring threads have some lines of memory among them, and rows of the last dimension.
/// Or as a product holds its result (MmaForm): warp w has rows 16 tilesM w and on of all columns, in tiles of 16 x 8; vectors are the two
/// neighbours that a thread has of a row, those of a row first.
struct ThreadMap {
  llvm::SmallVector<int64_t, 2> sizes; // of the tile, dimensions of size 1 left out
  unsigned threads = 1, width = 1;
  int64_t vectors = 1, chunks = 1; // of the tile; a thread's own (the last one may be missing)

  unsigned inner = 0; // the dimension of `sizes` that vectors lie along
  int64_t run = 1;    // where that is not the last one

  /// So many vectors of a thread, one chunk after the other, lie side by side along the other dimension: where each of them takes a byte or
  /// two of the same words. Of tiles of two dimensions.
  unsigned abreast = 1;

  unsigned tilesM = 0, tilesN = 0; // a product's tiles of a warp; 0: vectors are dealt

  bool ofProduct() const { return tilesM; }
  bool ragged() const { return vectors > threads && vectors % threads; } // the last chunk is not every thread's
  bool copies() const { return vectors < threads; }                      // an element is that of several threads
  bool crosses() const { return inner + 1 < sizes.size(); }              // vectors lie along another dimension than the last
  int64_t rowVectors() const { return sizes.empty() ? 1 : sizes.back() / width; }

  /// How threads share rows of the last dimension.
  struct Rows {
    unsigned members = 1;               // neighbouring threads, a power of two, that have one row among them
    int64_t chunksOfRow = 1, count = 1; // a thread's chunks in a row, one after the other; rows that a thread has part of
  };
  /// Nothing where a row's threads are no such group.
  std::optional<Rows> rows() const;

  /// Where the elements of a line along a dimension are: in a vector's lanes (or each lane has a line of its own), then in threads of a warp,
  /// in warps, and in a thread's chunks. All are powers of two; steps say how far neighbours are apart.
  struct Lines {
    unsigned lanes = 1, threads = 1, threadStep = 1, warps = 1, warpStep = 1;
    int64_t chunks = 1, chunkStep = 1;
    unsigned perWarp() const { return 32 / threads; } // lines that a warp's threads have part of, in one chunk
    /// Of a thread's chunks, those of one line are counted apart: which line, and the line's chunk of number `place`.
    int64_t lineOf(int64_t chunk) const { return chunk / (chunks * chunkStep) * chunkStep + chunk % chunkStep; }
    int64_t chunkOf(int64_t line, int64_t place) const {
      return line / chunkStep * chunks * chunkStep + place * chunkStep + line % chunkStep;
    }
  };
  /// Along a dimension of a tile of this shape, extents of 1 counted. Nothing where lines are shared out unevenly.
  std::optional<Lines> lines(llvm::ArrayRef<int64_t> shape, unsigned dim) const;
  /// Bytes through which warps tell each other a value of `bytes` for each of their `count` chunks.
  uint64_t bytesBetweenWarps(const Lines &lines, int64_t count, unsigned bytes) const;
};

/// From so many threads side by side on, whether their elements lie side by side in memory is worth a word.
constexpr int64_t leastNeighbours = 8;

/// Elements a thread may hold of one tile: its code is written out for each vector.
constexpr int64_t mostElements = 128;

/// The map of a product's result of `warps` warps.
ThreadMap mapProduct(unsigned warps, unsigned tilesM, unsigned tilesN);

/// Nothing where threads would hold too many elements or unlike parts. `threads` is a power of two. `inner`: the dimension of more than
/// one element that vectors lie along, such dimensions counted; nothing: the last. `abreast`: vectors that should lie side by side; they do
/// not where that does not come out even.
std::optional<ThreadMap> mapThreads(llvm::ArrayRef<int64_t> shape, unsigned threads, unsigned width,
                                    std::optional<unsigned> inner = std::nullopt, unsigned abreast = 1);

} // namespace tilery::cuda
