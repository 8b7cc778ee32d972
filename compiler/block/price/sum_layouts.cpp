#include "compiler/block/price/sum_layouts.h"
#include <numeric>

namespace tilery::block {
using layout::Layout;

int64_t pieceAcross(int64_t columns, int64_t unit, int64_t across) {
  constexpr int64_t least = 8; // of an instruction
  if (columns % least == 0 && (columns % unit == 0 || unit % columns == 0))
    return columns;
  return unit % (least * across) == 0 && columns % (unit / across) == 0 ? unit / across : 0;
}

Layout sumLayoutAcross(const layout::ProductForm &form, int64_t m, int64_t n, int64_t warpgroups, bool copied, int64_t unit) {
  int64_t rows = m / form.rows, high = std::gcd(rows, warpgroups), across = warpgroups / high;
  int64_t columns = copied ? n : n / across, part = copied ? 0 : pieceAcross(columns, unit, across);
  int64_t piece = part ? part : columns;
  Layout tiles({{layout::dim(0), rows}, {layout::dim(1), n / piece}});
  tiles.add(layout::Register, columns / piece, {0, across}).add(layout::Register, rows / high, {high, 0});
  tiles.add(layout::Warp, across, {0, copied ? 0 : 1}).add(layout::Warp, high, {1, 0});
  return product(form.sums(piece, layout::Rows::InOrder), tiles).canonical();
}

Layout sumLayoutOfWarps(int64_t m, int64_t n, std::array<unsigned, 2> grid) {
  int64_t rows = m / 16 / grid[0], columns = n / 8 / grid[1]; // of a warp, in tiles of an instruction
  // Side by side are a power of two of them: the lines of shared memory have one, too, and no warp's tiles begin within one and end in the next.
  int64_t high = rows & -rows, wide = columns & -columns;
  Layout tiles({{layout::dim(0), m / 16}, {layout::dim(1), n / 8}});
  tiles.add(layout::Register, wide, {0, 1}).add(layout::Register, columns / wide, {0, wide * grid[1]});
  tiles.add(layout::Register, high, {1, 0}).add(layout::Register, rows / high, {high * grid[0], 0});
  tiles.add(layout::Warp, grid[1], {0, wide}).add(layout::Warp, grid[0], {high, 0});
  return product(layout::warpForm().sums(8, layout::Rows::InOrder), tiles).canonical();
}

Layout sumLayout(const layout::ProductForm &form, int64_t m, int64_t n, int64_t warpgroups, layout::Rows inTile) {
  Layout tiles({{layout::dim(0), m / form.rows}, {layout::dim(1), 1}});
  tiles.add(layout::Register, m / form.rows / warpgroups, {warpgroups, 0}).add(layout::Warp, warpgroups, {1, 0});
  return product(form.sums(n, inTile), tiles).canonical();
}

} // namespace tilery::block
