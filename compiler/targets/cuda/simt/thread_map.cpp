#include "compiler/targets/cuda/simt/thread_map.h"
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

std::optional<ThreadMap::Lines> ThreadMap::lines(llvm::ArrayRef<int64_t> shape, unsigned dim) const {
  constexpr int64_t warp = 32;
  if (ofProduct() || crosses() || ragged() || abreast > 1 || shape[dim] == 1)
    return std::nullopt;
  bool isLast = llvm::all_of(shape.drop_front(dim + 1), [](int64_t size) { return size == 1; });
  int64_t below = 1, own = isLast ? rowVectors() : shape[dim]; // vectors between neighbours of a line, and of a line
  if (!isLast)
    for (int64_t size : shape.drop_front(dim + 1))
      below *= size;
  if (!isLast && (below % width || !llvm::isPowerOf2_64(below)))
    return std::nullopt;
  below /= isLast ? 1 : width;
  if (!llvm::isPowerOf2_64(own))
    return std::nullopt;
  Lines result;
  result.lanes = isLast ? width : 1;
  // Vectors are numbered: so many of a line lie between two powers of two of the numbers.
  auto part = [&](int64_t from, int64_t to) {
    int64_t low = std::max(below, from), high = std::min(below * own, to);
    return low < high ? std::pair(high / low, low / from) : std::pair<int64_t, int64_t>(1, 1);
  };
  std::tie(result.threads, result.threadStep) = part(1, std::min<int64_t>(warp, threads));
  std::tie(result.warps, result.warpStep) = part(warp, threads);
  std::tie(result.chunks, result.chunkStep) = part(threads, std::max<int64_t>(below * own, threads));
  return result;
}

uint64_t ThreadMap::bytesBetweenWarps(const Lines &lines, int64_t count, unsigned bytes) const {
  constexpr uint64_t warp = 32, vector = 16;
  uint64_t value = lines.lanes > 1 ? bytes : uint64_t(bytes) * width;
  return lines.warps == 1 ? 0 : count * llvm::alignTo(llvm::divideCeil(threads, warp) * lines.perWarp() * value, vector);
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
