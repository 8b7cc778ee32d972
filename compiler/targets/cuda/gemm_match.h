#pragma once
// Kernels that are one matrix product, as the Hopper path runs them.
#include "compiler/targets/cuda/box_maps.h"

namespace tilery::cuda {

struct GemmKernel {
  tile::KernelOp kernel;
  mlir::Operation *product = nullptr; // a tile.contract, or a tile.dot: one step
  tile::StoreOp store;
  mlir::Type operand, output;   // element types
  unsigned m = 0, n = 0, k = 0; // of the program's tile
  Box a, b;                     // a: m x k, b: k x n, at the contraction's step 0
  std::optional<Box> c;         // the stored tile, if the copy engine can write it
  std::string whyNotCopied;     // ... and why not
  /// How the grid runs over tiles, where another order may be chosen: axis 0 along columns and axis 1 along rows of tiles, the other way
  /// round, or along one axis in an order that the kernel finds out. Own: nothing is known.
  enum class Order { Own, RowsByColumns, ColumnsByRows, Probed } order = Order::Own;
  bool equalSteps = false; // all programs take the same number of steps
  /// Of the stored tile's dimensions: 0 the product's rows, 1 its columns, -1 of one lane.
  llvm::SmallVector<int, 4> stored;

  static bool kMajor(const Box &box, unsigned kDim) { return box.dimensions[0].tile == int(kDim); }

  /// Steps of k; null: one.
  mlir::Value steps() const {
    auto contract = llvm::dyn_cast<tile::ContractOp>(product);
    return contract ? contract.getSteps() : mlir::Value();
  }
};

/// The kernel as a matrix product: one dot or contraction that starts from zero and whose operands are boxes, elementwise work on its
/// result, and one store of it. Operands of 16 bits, or 8-bit floats and integers and (with precision tf32) f32 with k contiguous.
/// Nothing if it is anything else; `why` then says what stands in the way of its product (empty: it has none).
std::optional<GemmKernel> matchGemm(tile::KernelOp kernel, std::string &why);

} // namespace tilery::cuda
