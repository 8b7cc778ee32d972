#pragma once
// Kernels that are one matrix product, as the Hopper path runs them.
#include "compiler/cuda/boxes.h"

namespace tilery::cuda {

struct GemmKernel {
  tile::KernelOp kernel;
  mlir::Operation *product = nullptr; // a tile.contract, or a tile.dot: one step
  tile::StoreOp store;
  mlir::Type operand, output;   // element types
  unsigned m = 0, n = 0, k = 0; // of the program's tile
  Box a, b;                     // a: m x k, b: k x n, at the contraction's step 0
  std::optional<Box> c;         // the stored tile, if the copy engine can write it
  /// The grid's axes that choose tile rows and tile columns, if each axis does one of the two: programs may run in any order.
  bool twoDimensional = false;

  /// Steps of k; null: one.
  mlir::Value steps() const {
    auto contract = llvm::dyn_cast<tile::ContractOp>(product);
    return contract ? contract.getSteps() : mlir::Value();
  }
};

/// The kernel as a matrix product: one dot or contraction of 16-bit floats into f32 that starts from zero and whose operands are boxes, elementwise work on its result,
/// and one store of it. Nothing if it is anything else.
std::optional<GemmKernel> matchGemm(tile::KernelOp kernel);

} // namespace tilery::cuda
