#pragma once
// What a kernel does around its products: which of it can be done where their sums lie, and which loads and stores may meet.
#include "compiler/ir/Tile.h"

namespace tilery::block {

/// True if the op can be done on tiles that lie as a product's sums do; `mixes`: or combines their lanes.
bool followsSums(mlir::Operation *op, bool mixes);
/// Control flow of numbers alone, that reads memory at most: each role may run it for itself. `loads` gets what it reads.
bool isOfNumbers(mlir::Operation *op, llvm::SmallVectorImpl<tile::LoadOp> &loads);
/// The number is computed from tiles (a row's sum, a lane), so that who brings tiles cannot know it; else from arguments, numbers in memory
/// and loops' counters alone.
bool comesOfTiles(mlir::Value number);
/// Where something is loaded hangs on what tiles are combined to: only the threads that hold these know it.
bool liesByTiles(mlir::Value place);
/// A branch that a number decides, around work that can be done where sums lie. `loads` gets the numbers that it reads.
bool isBranchOnSums(mlir::Operation *op, llvm::SmallVectorImpl<tile::LoadOp> &loads);
/// True if whole rows of the product's sums are combined or cut in pieces, or go into another product: each thread's rows then lie in few lanes.
bool isNeededWhole(mlir::Value product);
/// The tile is computed of a product's sums.
bool comesOfProduct(mlir::Value tile);
/// True if only products, dots, read what is loaded, as factors.
bool isFactor(tile::LoadOp load);

/// The argument, or the address that the kernel has loaded, which a place is of: of one base, or of addresses lane by lane of one. Null: of
/// several.
mlir::Value rootOf(mlir::Value place);
/// Where each op writes.
template <typename Ops> llvm::SmallVector<mlir::Value> placesOf(const Ops &ops) {
  return llvm::map_to_vector(ops, [](auto op) -> mlir::Value { return op.getPlace(); });
}
/// Where the kernel changes memory.
llvm::SmallVector<mlir::Value> storedPlaces(tile::KernelOp kernel);
/// What is wrong where a load may read other elements of what is written at one of `places`; null: nothing.
const char *anyClash(llvm::ArrayRef<tile::LoadOp> loads, llvm::ArrayRef<mlir::Value> places);
/// True if the load is of an argument that none of the places is of.
bool isApart(tile::LoadOp load, llvm::ArrayRef<mlir::Value> places);
/// True if a load of the op may be of what is written at one of `places`: if both are of one argument.
bool mayReread(mlir::Operation *op, llvm::ArrayRef<mlir::Value> places);

} // namespace tilery::block
