#pragma once
#include "compiler/ir/Tile.h"

namespace tilery {

/// Of a tile.parallel over static extents: elements of buffers that it computes from themselves, `r[j % 8] = max(r[j % 8], x)`, and that
/// several of its points may share, become `tile.element_update`s. Points do not see each other's stores otherwise: some would be lost.
void shareUpdates(tile::ParallelOp op, llvm::ArrayRef<int64_t> extents);

} // namespace tilery
