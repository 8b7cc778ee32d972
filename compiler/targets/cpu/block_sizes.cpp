// What a program costs: itself, every tile it visits, every row of a tile (a row is one run of addresses), every byte. Programs are dealt
// out evenly, so the busiest core decides.
#include "compiler/targets/cpu/block_sizes.h"
#include <algorithm>
#include <cmath>

namespace tilery::cpu {
namespace {
using arrange::Tiles, arrange::Work;

// Nanoseconds, measured within a factor of two on desktop and server cores; only their ratios matter.
constexpr double programCost = 200, tileCost = 25, rowCost = 2, byteCost = 0.1;
constexpr double cacheBytes = 256 * 1024; // of a core, that tiles may fill

double expected(const Work &work, int64_t cores) {
  double program = programCost, resident = 0;
  for (const Tiles &t : work.tiles) {
    program += t.visits * (tileCost + rowCost * t.rows() + byteCost * t.bytes());
    resident += double(t.elements) * double(std::max<int64_t>(t.elementBytes, 4));
  }
  double spill = std::max(1.0, resident / cacheBytes);
  return std::ceil(double(work.programs) / double(cores)) * program * spill;
}
} // namespace

arrange::Cost blockCost(int64_t cores) {
  return [cores](const Work &work) { return expected(work, std::max<int64_t>(cores, 1)); };
}

} // namespace tilery::cpu
