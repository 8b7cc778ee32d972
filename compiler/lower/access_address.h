#pragma once
// The address of a place's lanes while it is put together: the common part of all lanes, what each dimension adds, what says which exist.
#include "compiler/lower/evaluator.h"

namespace tilery::lower {

class AccessAddress {
public:
  /// `zeros`: these lanes alone are read, and 0 where they do not exist.
  AccessAddress(Evaluator &ev, tile::AccessType type, llvm::ArrayRef<Index> point, bool zeros);
  Address of(mlir::Value place);

private:
  /// A tile of pointers: a common base and integer offsets where that form exists, else one pointer a lane.
  void addPointers(mlir::Value pointers, llvm::ArrayRef<Index> point);
  void addDimensions(tile::AccessOp access);
  void addOffset(tile::AccessOp access);
  /// The access's first place, with what rows side by side lie behind the first of them: equal sums are one value.
  llvm::Value *offset(tile::AccessOp access);
  /// What the dimension leaves of the power of two that divides the address.
  void divide(tile::AccessOp access, unsigned d);
  void addStep(mlir::Value number, unsigned d);
  /// Along a dimension whose places are a tile.
  void addPlaces(mlir::Value steps, unsigned d);
  std::pair<Linear, Linear> fromStart(mlir::Value integers, const Index &index);
  // -- which lanes exist (access_mask.cpp)
  void restrict(mlir::Value mask, llvm::ArrayRef<Index> point);
  void addBounds(tile::AccessOp access);
  /// low <= index < high and `exists` (null: yes) as a mask.
  Lanes within(const Index &index, mlir::Value low, mlir::Value high, Lanes exists);
  /// An element with so many zeros around it: `before` it, and `behind`.
  llvm::Value *zerosAround(int64_t before, int64_t behind);

  Evaluator &ev;
  Addresses &addresses;
  Emitter &e;
  llvm::IRBuilder<> &b;
  llvm::ArrayRef<int64_t> shape;
  llvm::ArrayRef<Index> point;
  bool zeros;
  Address where;
  int64_t divisor;                // the power of two that divides the address
  llvm::Value *running = nullptr; // the offsets that where.runs are made of
  int tabled = -1;                // the dimension whose runs lie in a table
  Linear along;                   // how far lanes have gone on along the row,
  int64_t longest = 0;            // at most
  int64_t further = 0;            // of the offset: neighbours in a row that does not exist are chosen as one
  RowCondition row;
  bool mayBeZeros = false; // a condition of the row is not among those of its lanes
};

} // namespace tilery::lower
