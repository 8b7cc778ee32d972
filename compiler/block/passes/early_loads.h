#pragma once
// Tiles that the work on a product's result loads, before the result is there.
#include "compiler/ir/Tile.h"
#include "compiler/block/price/schedule.h"

namespace tilery::block {

struct LoadBehind {
  tile::LoadOp load;
  LoadedTile registers;
};
/// Loads behind `product`, in its block, that may as well stand in front of it (or of the loop that starts it): nothing between has effects
/// on memory, nor do their places come of it. Of products of rows x columns; those with most registers first.
llvm::SmallVector<LoadBehind> loadsBehind(mlir::Operation *product, int64_t rows, int64_t columns);
/// What `load`'s place and mask are computed from behind `first`, in its block, operands before users.
llvm::SmallVector<mlir::Operation *> placeBehind(tile::LoadOp load, mlir::Operation *first);

} // namespace tilery::block
