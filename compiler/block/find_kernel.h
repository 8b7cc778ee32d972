#pragma once
// Kernels that the block level takes: so far one product of boxes, elementwise work, stores.
#include "compiler/block/find_product.h"
#include "compiler/block/map_boxes.h"

namespace tilery::block {

struct ProductKernel {
  tile::KernelOp kernel;
  BoxProduct product;
  llvm::SmallVector<tile::StoreOp> stores;
};

/// Nothing if the kernel is anything else; `why` then says what stands in the way of its product (empty: it has none).
std::optional<ProductKernel> findKernel(tile::KernelOp kernel, std::string &why);

/// A stored tile of the product's shape (beside dimensions of one lane) in boxes that the copy engine may write. Nothing if threads have to
/// store it; `why`.
std::optional<MappedTile> mapStored(tile::StoreOp store, const BoxProduct &product, std::string &why);
/// A stored m x n tile (beside dimensions of one lane) in boxes that the copy engine may write. Nothing if threads have to store it; `why`.
std::optional<MappedTile> mapStored(tile::StoreOp store, unsigned m, unsigned n, std::string &why);

} // namespace tilery::block
