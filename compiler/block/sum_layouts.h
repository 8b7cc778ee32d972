#pragma once
// How products' sums lie in the registers of a role.
#include "compiler/layout/fragments.h"
#include <array>

namespace tilery::block {

/// Sums of 64 x n in `warpgroups`: each has a part of the columns, or (`copied`) all of them.
layout::Layout sumLayoutAcross(int64_t n, int64_t warpgroups, bool copied);
/// Sums of m x n in a grid of warps (rows, columns): each has as many neighbouring rows and columns as a power of two allows, and the next beyond the last warp's.
layout::Layout sumLayoutOfWarps(int64_t m, int64_t n, std::array<unsigned, 2> grid);
/// Sums of m x n in `warpgroups`: each has 64 rows, then the next 64 beyond the last one's.
layout::Layout sumLayout(int64_t m, int64_t n, int64_t warpgroups, layout::Rows inTile);

} // namespace tilery::block
