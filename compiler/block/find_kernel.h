#pragma once
// Kernels that the block level takes: so far one product of boxes, elementwise work, stores; or a loop with such products among other work.
#include "compiler/block/find_product.h"
#include "compiler/block/map_boxes.h"
#include <variant>

namespace tilery::block {

struct ProductKernel {
  tile::KernelOp kernel;
  BoxProduct product;
  llvm::SmallVector<tile::StoreOp> stores;
};

/// Nothing if the kernel is anything else; `why` then says what stands in the way of its product (empty: it has none).
std::optional<ProductKernel> findKernel(tile::KernelOp kernel, std::string &why);

/// A loop with products among other work, as attention has it. All products have as many rows.
struct LoopKernel {
  tile::KernelOp kernel;
  mlir::scf::ForOp loop;
  std::vector<BoxProduct> dots; // of the loop, and before and behind it
  llvm::SmallVector<tile::StoreOp> stores;

  bool isInLoop(mlir::Operation *op) const { return loop->isProperAncestor(op); }
  /// Shapes of the products' sums.
  llvm::SmallVector<std::pair<unsigned, unsigned>> results() const;
  /// The loads of factors, in order.
  llvm::SmallVector<tile::LoadOp> loads() const;
};
/// Leaves `why` alone where no loop has products.
std::optional<LoopKernel> findLoopKernel(tile::KernelOp kernel, std::string &why);

using FoundKernel = std::variant<ProductKernel, LoopKernel>;
std::optional<FoundKernel> findAnyKernel(tile::KernelOp kernel, std::string &why);

/// The two dimensions of what is stored that are not of one lane, if a product has such a result.
std::optional<std::pair<unsigned, unsigned>> storedSums(tile::StoreOp store,
                                                        llvm::ArrayRef<std::pair<unsigned, unsigned>> results);

/// A stored tile of the product's shape (beside dimensions of one lane) in boxes that the copy engine may write. Nothing if threads have to
/// store it; `why`.
std::optional<MappedTile> mapStored(tile::StoreOp store, const BoxProduct &product, std::string &why);
/// A stored m x n tile (beside dimensions of one lane) in boxes that the copy engine may write. Nothing if threads have to store it; `why`.
std::optional<MappedTile> mapStored(tile::StoreOp store, unsigned m, unsigned n, std::string &why);

} // namespace tilery::block
