// Verifiers of the ops in TileDot.td.
#include "compiler/ir/Tile.h"

using namespace mlir;
using namespace tilery::tile;

// a: (B x) M x K, b: (B x) K x N, acc: (B x) M x N; all floats or all integers.
static LogicalResult checkProduct(Operation *op, Type a, Type b, Type acc, size_t live) {
  if (live != 0 && live != 2)
    return op->emitOpError("needs two live extents (rows, columns) or none");
  ArrayRef<int64_t> shapeA = shapeOf(a), shapeB = shapeOf(b), shapeC = shapeOf(acc);
  size_t rank = shapeC.size();
  if ((rank != 2 && rank != 3) || shapeA.size() != rank || shapeB.size() != rank)
    return op->emitOpError("needs three tiles of rank 2, or three of rank 3");
  bool fits =
      shapeA[rank - 1] == shapeB[rank - 2] && shapeC[rank - 2] == shapeA[rank - 2] && shapeC[rank - 1] == shapeB[rank - 1];
  if (rank == 3)
    fits &= shapeA[0] == shapeB[0] && shapeA[0] == shapeC[0];
  if (!fits)
    return op->emitOpError() << "shapes do not match: " << a << " times " << b << " into " << acc;
  for (Type type : {a, b, acc}) {
    if (isa<FloatType>(getElementTypeOrSelf(type)) != isa<FloatType>(getElementTypeOrSelf(acc)))
      return op->emitOpError("mixes floats and integers");
    if (isa<PtrType>(getElementTypeOrSelf(type)))
      return op->emitOpError("multiplies numbers, not pointers");
  }
  return success();
}

LogicalResult DotOp::verify() { return checkProduct(*this, getA().getType(), getB().getType(), getType(), getLive().size()); }

LogicalResult ContractOp::verify() {
  Block &body = getBody().front();
  if (body.getNumArguments() != 1 || !body.getArgument(0).getType().isInteger(64))
    return emitOpError("needs a region with one i64 argument");
  Operation *yield = body.getTerminator();
  if (yield->getNumOperands() != 2)
    return emitOpError("needs a region that yields both operands of a step");
  bool writes = false;
  getBody().walk([&](Operation *op) {
    writes |= isa<StoreOp, BufferStoreOp, ElementStoreOp, ElementUpdateOp, AtomicRmwOp, AtomicCasOp>(op);
  });
  if (writes)
    return emitOpError("needs a region that only reads");
  return checkProduct(*this, yield->getOperand(0).getType(), yield->getOperand(1).getType(), getType(), getLive().size());
}
