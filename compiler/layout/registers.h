#pragma once
// What single registers of a thread hold, and in which order they are numbered.
#include "compiler/layout/layout.h"

namespace tilery::layout {

/// The coordinates of what register `number` of one thread holds. Where the layout has fewer lanes or warps, threads repeat each other.
llvm::SmallVector<int64_t, 4> coordinatesOf(const Layout &layout, unsigned number, int64_t lane = 0, int64_t warp = 0);

/// The same registers in another order: those that hold neighbours along the dimension first, if there are any.
Layout neighboursFirst(const Layout &layout, unsigned dimension);

} // namespace tilery::layout
