#include "compiler/targets/cuda/block_sizes.h"
#include <algorithm>
#include <cmath>

namespace tilery::cuda {
namespace {
using arrange::Tiles, arrange::Work;

// Cycles of a multiprocessor. A program that goes through tiles is a product: it has a multiprocessor for itself, whose share of the L2
// cache's bandwidth bounds it (tiles of one are read by all others, too), and its first tiles arrive before it can begin.
// Other programs run side by side.
std::optional<double> expected(const Work &work, int64_t multiprocessors) {
  constexpr double bytesPerCycle = 32, visitCost = 10, blockCost = 500, rowCost = 0.1;
  constexpr double line = 128;              // bytes that are fetched together
  constexpr double least = 64, fewest = 16; // rows and columns of a product that tensor cores take, in either order
  constexpr double widest = 256;            // that registers hold
  constexpr double kept = 25e6;             // bytes of a tensor that half of the L2 cache keeps
  constexpr double again = 0.1;             // part of the price of what comes from memory more than once
  constexpr int64_t sideBySide = 8;
  bool isProduct = std::any_of(work.tiles.begin(), work.tiles.end(), [](const Tiles &t) { return t.many; });
  double program = blockCost, first = 0, visits = 0, waste = 1;
  for (const Tiles &t : work.tiles) {
    double columns = double(t.row), cycles = t.rows() * std::max(double(t.row * t.elementBytes), line) / bytesPerCycle;
    if (isProduct && !t.many) {
      if (std::max(t.rows(), columns) > widest)
        return std::nullopt;
      double more = std::max(t.rows(), columns), fewer = std::min(t.rows(), columns);
      waste = std::max(waste, std::max(least / more, 1.0) * std::max(fewest / fewer, 1.0));
    }
    // (128x8192x8192: tiles of 64x128 read B twice. They took 1.26 times as long as those of 128x64, which fetch as much.)
    bool isReadAgain = t.many && t.tensorBytes > kept && double(work.programs) * t.visits * t.bytes() > 1.5 * t.tensorBytes;
    program += t.visits * cycles * (isReadAgain ? 1 + again : 1) + rowCost * t.rows();
    if (t.many)
      first += cycles;
    visits = std::max(visits, t.visits);
  }
  program += first + visits * visitCost;
  int64_t atOnce = multiprocessors * (isProduct ? 1 : sideBySide);
  return std::ceil(double(work.programs) / double(atOnce)) * program * waste;
}
} // namespace

arrange::Cost blockCost(int64_t multiprocessors) {
  return [multiprocessors](const Work &work) { return expected(work, std::max<int64_t>(multiprocessors, 1)); };
}

} // namespace tilery::cuda
