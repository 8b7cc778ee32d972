#include "compiler/targets/cuda/thread_map.h"
#include "llvm/Support/MathExtras.h"

namespace tilery::cuda {

std::optional<ThreadMap::Rows> ThreadMap::rows() const {
  Rows rows;
  if (ofProduct()) {
    rows.members = 4;
    rows.chunksOfRow = tilesN;
    rows.count = 2 * tilesM;
    return rows;
  }
  if (sizes.size() <= 1) {
    rows.members = std::min<int64_t>(threads, vectors);
    rows.chunksOfRow = chunks;
    return rows;
  }
  int64_t inRow = rowVectors();
  if (crosses() || ragged() || !llvm::isPowerOf2_64(inRow))
    return std::nullopt;
  rows.members = std::min<int64_t>(threads, inRow);
  rows.chunksOfRow = inRow / rows.members;
  rows.count = chunks / rows.chunksOfRow;
  return rows;
}

ThreadMap mapProduct(unsigned warps, unsigned tilesM, unsigned tilesN) {
  ThreadMap map;
  map.sizes = {int64_t(warps) * 16 * tilesM, int64_t(tilesN) * 8};
  map.inner = 1;
  map.threads = 32 * warps;
  map.width = 2;
  map.chunks = 2 * int64_t(tilesM) * tilesN;
  map.vectors = map.chunks * map.threads;
  map.tilesM = tilesM, map.tilesN = tilesN;
  return map;
}

std::optional<ThreadMap> mapThreads(llvm::ArrayRef<int64_t> shape, unsigned threads, unsigned width,
                                    std::optional<unsigned> inner, unsigned abreast) {
  constexpr int64_t mostRun = 8; // vectors of 16 bytes: a line
  ThreadMap map;
  map.threads = threads;
  map.width = width;
  int64_t elements = 1;
  for (int64_t size : shape) {
    elements *= size;
    if (size != 1)
      map.sizes.push_back(size);
  }
  if (map.sizes.empty())
    map.width = 1;
  else
    map.inner = inner.value_or(map.sizes.size() - 1);
  int64_t along = map.sizes.empty() ? 1 : map.sizes[map.inner];
  if (along % map.width)
    return std::nullopt;
  if (map.crosses())
    map.run = std::min(mostRun, (along / map.width) & -(along / map.width));
  map.vectors = elements / map.width;
  map.chunks = llvm::divideCeil(map.vectors, threads);
  if ((map.copies() && threads % map.vectors) || map.chunks * map.width > mostElements)
    return std::nullopt;
  if (map.sizes.size() == 2 && !map.copies() && !map.ragged() && map.chunks % abreast == 0) {
    int64_t others = map.sizes[1 - map.inner];
    bool even = map.crosses() ? others % (threads / map.run * abreast) == 0 : threads % map.rowVectors() == 0;
    map.abreast = even ? abreast : 1;
  }
  return map;
}

} // namespace tilery::cuda
