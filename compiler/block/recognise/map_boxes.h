#pragma once
// Boxes as the copy engine gets them: maps, coordinates, and how the tile lies in a slot.
#include "compiler/block/recognise/find_boxes.h"
#include "compiler/block/ir/Block.h"

namespace tilery::block {

/// A tile that the copy engine moves, in one box or several.
struct MappedTile {
  Box box;
  mlir::Type element;
  llvm::SmallVector<int64_t, 5> extents; // of a box, outermost dimension first
  unsigned swizzle = 16;                 // bytes; 16: none
  /// The tile's dimensions as they lie in shared memory, outermost first, and their extents. Those of extent 1 are left out.
  llvm::SmallVector<int64_t, 2> order, shape;

  MapType mapType() const;
  SharedType sharedType() const;
};

/// A box that a tile of this shape walks, its elements read as `element`, which has the size of those in memory. Nothing if boxes of the
/// copy engine do not cover it.
std::optional<MappedTile> coverBox(const Box &box, llvm::ArrayRef<int64_t> shape, mlir::Type element);
/// The tile of this access as boxes; nothing if it is no box (`why`, as findBox says), or if boxes do not cover it.
std::optional<MappedTile> mapTile(tile::AccessOp access, std::string &why, llvm::ArrayRef<mlir::Value> live = {});

/// Gives an atom of the box's polynomials at the builder's place.
using AtomValue = llvm::function_ref<mlir::Value(mlir::Value)>;
mlir::Value placeMap(mlir::OpBuilder &builder, mlir::Location location, const MappedTile &tile, AtomValue valueOf);
/// Of a box whose map the device makes: at `builder`, over one of the host's, which is made at `outside`.
mlir::Value placeMap(mlir::OpBuilder &outside, mlir::OpBuilder &builder, mlir::Location location, const MappedTile &tile,
                     AtomValue valueOf);
/// Whether the device finds kept what the box needs, an i1; null: nothing is asked.
mlir::Value placeGuards(mlir::OpBuilder &builder, mlir::Location location, const Box &box, AtomValue valueOf);
/// What a launch must keep for the box, in front of its map.
void placeConditions(mlir::OpBuilder &builder, mlir::Location location, const Box &box);
/// The coordinates of the tile's first lane, i32.
llvm::SmallVector<mlir::Value> placeCoords(mlir::OpBuilder &builder, mlir::Location location, const MappedTile &tile,
                                           AtomValue valueOf);

/// The coordinates of the lane `row` rows and `column` columns from the first, whose are `corner`.
llvm::SmallVector<mlir::Value> movedCoords(mlir::OpBuilder &builder, mlir::Location location, const Box &box,
                                           llvm::ArrayRef<mlir::Value> corner, int64_t row, int64_t column);

} // namespace tilery::block
