#pragma once
// First factors that the threads which multiply compute, in registers, of what the copy engine brings: packed weights, values times scales.
#include "compiler/block/recognise/map_boxes.h"

namespace tilery::block {

/// A load that comes through the ring, as a box.
struct UnpackedSource {
  mutable tile::LoadOp load;
  MappedTile tile;
};

/// Loads of a factor that is computed element by element.
struct UnpackedFactor {
  llvm::SmallVector<UnpackedSource, 2> sources;
  llvm::SmallVector<tile::LoadOp, 2> byThreads; // no boxes: scales of groups

  int64_t bytes() const; // of a slot
};

/// Nothing (`why`) if the largest load of the factor, in the body of a contraction, is no box, or if it is nothing but loaded.
std::optional<UnpackedFactor> findUnpacked(tile::ContractOp contract, mlir::Value factor, std::string &why);

/// The parts of a ring's slots in which sources come, and the factor that is computed of them.
class UnpackedParts {
public:
  UnpackedParts(tile::ContractOp contract, const UnpackedFactor &factor) : contract(contract), factor(factor) {}

  /// Makes the maps, at `outside`.
  void placeMaps(mlir::OpBuilder &outside, mlir::Location location);
  SharedType tileOf(size_t source) const { return factor.sources[source].tile.sharedType(); }
  /// Starts the copy of a step, whose number `step` knows, to the part of a slot.
  void copy(mlir::OpBuilder &builder, mlir::Location location, size_t source, mlir::Value part, mlir::IRMapping &step);
  /// The source of the step from its part of the slot.
  void read(mlir::OpBuilder &builder, mlir::Location location, size_t source, mlir::Value part, mlir::IRMapping &step);

private:
  tile::ContractOp contract;
  const UnpackedFactor &factor;
  llvm::SmallVector<mlir::Value, 2> maps;
};

/// What `value` is computed from in `body`, again at the builder's place; `copies` knows what is there already.
void copyInto(mlir::OpBuilder &builder, mlir::Value value, mlir::Block &body, mlir::IRMapping &copies);

} // namespace tilery::block
