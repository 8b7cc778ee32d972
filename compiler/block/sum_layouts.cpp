#include "compiler/block/sum_layouts.h"
#include "compiler/layout/fragments.h"

namespace tilery::block {
using layout::Layout;

Layout sumLayoutAcross(int64_t n, int64_t warpgroups, bool copied) {
  Layout tiles({{layout::dim(0), 1}, {layout::dim(1), copied ? 1 : warpgroups}});
  tiles.add(layout::Warp, warpgroups, {0, copied ? 0 : 1});
  return product(layout::wgmmaAccumulator(copied ? n : n / warpgroups), tiles).canonical();
}

Layout sumLayoutOfWarps(int64_t m, int64_t n, std::array<unsigned, 2> grid) {
  int64_t rows = m / 16 / grid[0], columns = n / 8 / grid[1]; // of a warp, in tiles of an instruction
  // Side by side are a power of two of them: the lines of shared memory have one, too, and no warp's tiles begin within one and end in the next.
  int64_t high = rows & -rows, wide = columns & -columns;
  Layout tiles({{layout::dim(0), m / 16}, {layout::dim(1), n / 8}});
  tiles.add(layout::Register, wide, {0, 1}).add(layout::Register, columns / wide, {0, wide * grid[1]});
  tiles.add(layout::Register, high, {1, 0}).add(layout::Register, rows / high, {high * grid[0], 0});
  tiles.add(layout::Warp, grid[1], {0, wide}).add(layout::Warp, grid[0], {high, 0});
  return product(layout::mmaAccumulator(), tiles).canonical();
}

Layout sumLayout(int64_t m, int64_t n, int64_t warpgroups, layout::Rows inTile) {
  Layout tiles({{layout::dim(0), m / 64}, {layout::dim(1), 1}});
  tiles.add(layout::Register, m / 64 / warpgroups, {warpgroups, 0}).add(layout::Warp, warpgroups, {1, 0});
  return product(layout::wgmmaAccumulator(n, inTile), tiles).canonical();
}

} // namespace tilery::block
