#pragma once
// Dimensions of tiles get more lanes than the program gives them.
#include "compiler/ir/Tile.h"

namespace tilery::block {

/// Lanes of a dimension that run along one that is to be longer, through all ops that take them: lanes that are added are loaded as 0, stored
/// nowhere, and neutral where lanes along the dimension are combined (in products and reductions).
class DimensionPadding {
public:
  explicit DimensionPadding(tile::KernelOp kernel) : kernel(kernel), builder(kernel.getContext()) {}

  /// Finds what runs along a dimension of a value with that of the others so far; false where something cannot have more lanes.
  bool find(mlir::Value value, unsigned dim);
  /// Whether it was found to run along.
  bool contains(mlir::Value value, unsigned dim) const { return dims.contains({value, dim}); }
  /// Lanes, as the program has them.
  int64_t length() const { return lanes; }
  /// What takes or gives tiles that have them.
  llvm::ArrayRef<mlir::Operation *> ops() const { return touched.getArrayRef(); }
  /// Lanes along the dimension meet somewhere, in sums.
  bool combinesLanes() const { return !combined.empty(); }
  llvm::SmallVector<unsigned, 2> dimsOf(mlir::Value value) const;
  /// The dimensions that the op wants longer of a free operand.
  llvm::SmallVector<unsigned, 2> dimsAsked(mlir::OpOperand &operand) const;

  /// Makes all of them as long as `to`.
  void pad(int64_t to);
  /// The same of lanes that exist where they are below a number.
  void lengthen(int64_t to, mlir::Value existing);

private:
  struct Combined {
    mlir::OpOperand *operand;
    unsigned dim;
    mlir::TypedAttr neutral;
  };

  void mark(mlir::Value value, unsigned dim);
  void markCarried(mlir::scf::ForOp loop, unsigned number, unsigned dim);
  void markGiven(mlir::scf::IfOp branch, unsigned number, unsigned dim);
  void markPlace(mlir::Value place, unsigned dim);
  void visit(mlir::Operation *op, mlir::Value value, unsigned dim);
  void visitProduct(tile::DotOp dot, mlir::Value value, unsigned dim);
  void visitReduction(tile::ReduceOp reduce, mlir::Value value, unsigned dim);
  void visitAccess(tile::AccessOp access, mlir::Value term, unsigned dim);
  void visitShape(mlir::Operation *op, mlir::Value value, unsigned dim);
  void combine(mlir::OpOperand &operand, unsigned dim, mlir::TypedAttr neutral);
  bool isZeroBehind(mlir::Value value, unsigned dim) const;

  void padPlaces(mlir::Operation *op);
  mlir::Value padPlace(mlir::Value place, unsigned dim, mlir::Operation *user);
  void padFreeOperands(mlir::Operation *op);
  mlir::Value padFree(mlir::Value value, unsigned dim, mlir::Operation *user);
  mlir::Value isInside(mlir::Location location);
  mlir::RankedTensorType padded(mlir::Type type, unsigned dim) const;
  void makeNeutral(const Combined &each);

  tile::KernelOp kernel;
  mlir::OpBuilder builder;
  int64_t lanes = 0, to = 0;                                      // as the program has them, and padded
  mlir::Value existing;                                           // of these, in i64; null: as many as the program has
  llvm::SetVector<std::pair<mlir::Value, unsigned>> dims, places; // places: accesses, with the dimension
  llvm::SmallVector<std::pair<mlir::Value, unsigned>> fresh;
  llvm::SetVector<mlir::Operation *> touched;
  llvm::MapVector<mlir::OpOperand *, Combined> combined;
  bool possible = true;
};

} // namespace tilery::block
