#pragma once
// Layouts in registers of tiles that have nothing to do with a product: elements are dealt to threads.
#include "compiler/block/recognise/find_fetch.h"
#include "compiler/block/ir/Block.h"

namespace tilery::block {

/// Vectors of neighbours, dealt to lanes and warps; what is more than the threads lies in further registers. `width`: of a vector.
layout::Layout dealt(llvm::ArrayRef<int64_t> shape, int64_t width, unsigned warps);
/// Elements of the widest vector.
int64_t widestOf(unsigned elementBytes);
/// The same for the warps of `blocks` blocks: each has a part of the tile.
layout::Layout dealtToBlocks(llvm::ArrayRef<int64_t> shape, unsigned elementBytes, unsigned warps, unsigned blocks);
/// Of what is fetched into a slot: lines so far apart that they go through the banks of shared memory in the fewest passes.
layout::Layout fetchLayout(SharedType shared, const FetchShape &fetch, int64_t warps);
/// 16 bytes at a time, as many lanes in a row as it has of them.
FetchShape shapeOfCopies(SharedType shared);

} // namespace tilery::block
