// Windows of buffers at constant offsets, for passes that take buffers apart.
#pragma once
#include "compiler/ir/Tile.h"
#include <optional>

namespace tilery::tile {

/// A box of a buffer's elements: one offset and one length for each of its dimensions.
struct Window {
  llvm::SmallVector<int64_t> offsets, lengths;

  bool operator==(const Window &other) const { return offsets == other.offsets && lengths == other.lengths; }
  bool operator!=(const Window &other) const { return !(*this == other); }
  bool meets(const Window &other) const;
  /// The other one is a part of this one, or this one.
  bool covers(const Window &other) const;
};

/// What the subview covers; nothing if its offsets are no constants, or it reaches out of its buffer.
std::optional<Window> constantWindow(SubviewOp view);

/// The same number in every lane of a tile of another shape, made where `b` stands. Null: the tile's lanes are no one number.
mlir::Value resplat(mlir::OpBuilder &b, mlir::Value tile, mlir::RankedTensorType type);

/// Tiles of which only a window is made, where the whole tile is made.
class Slicing {
public:
  explicit Slicing(Window window) : window(std::move(window)) {}

  /// Null: lanes would have to be taken apart.
  mlir::Value of(mlir::Value tile);

private:
  mlir::Value make(mlir::Operation *op, mlir::Type element);
  mlir::Value shaped(mlir::OpBuilder &b, mlir::Operation *op, mlir::RankedTensorType type);
  mlir::Value loaded(mlir::OpBuilder &b, LoadOp load, mlir::RankedTensorType type);
  mlir::Value gathered(mlir::OpBuilder &b, LoadOp load, mlir::RankedTensorType type);

  Window window;
  llvm::DenseMap<mlir::Value, mlir::Value> parts;
};

} // namespace tilery::tile
