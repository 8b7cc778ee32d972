#pragma once
// How products' sums lie in the registers of a role.
#include "compiler/block/forms/product_form.h"
#include <array>

namespace tilery::block {

/// Sums of m x n in `warpgroups`, of which m / 64 is no multiple: as many as divide both share the rows, the others (each with all rows that
/// fall to these) the columns, in pieces by `unit`, or (`copied`) each has all of them.
layout::Layout sumLayoutAcross(const layout::ProductForm &form, int64_t m, int64_t n, int64_t warpgroups, bool copied,
                               int64_t unit);
/// How many of its columns one of `across` warpgroups has side by side, and then as many behind those of the others, where the second factor's
/// rows lie in pieces of `unit` columns: all, or a part of each such piece. 0: none begins or ends with a part of a piece that the tensor cores take.
int64_t pieceAcross(int64_t columns, int64_t unit, int64_t across);
/// Sums of m x n in a grid of warps (rows, columns): each has as many neighbouring rows and columns as a power of two allows, and the next beyond the last warp's.
layout::Layout sumLayoutOfWarps(int64_t m, int64_t n, std::array<unsigned, 2> grid);
/// Sums of m x n in `warpgroups`: each has 64 rows, then the next 64 beyond the last one's.
layout::Layout sumLayout(const layout::ProductForm &form, int64_t m, int64_t n, int64_t warpgroups, layout::Rows inTile);

} // namespace tilery::block
