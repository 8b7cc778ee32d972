// Verifiers of the ops in TileReduce.td.
#include "compiler/ir/Tile.h"

using namespace mlir;
using namespace tilery::tile;

// Tiles of one shape with `axis`, and a region of 2n scalars of their element types that yields n.
static LogicalResult checkCombine(Operation *op, OperandRange operands, int64_t axis, Block &block) {
  size_t n = operands.size();
  if (n == 0)
    return op->emitOpError("needs an operand");
  ArrayRef<int64_t> shape = shapeOf(operands[0].getType());
  if (axis < 0 || axis >= int64_t(shape.size()))
    return op->emitOpError() << "axis " << axis << " is outside [0, " << shape.size() << ")";
  Operation *yield = block.getTerminator();
  if (block.getNumArguments() != 2 * n || yield->getNumOperands() != n)
    return op->emitOpError() << "needs a region of " << 2 * n << " scalars that yields " << n;
  for (size_t i = 0; i < n; ++i) {
    if (shapeOf(operands[i].getType()) != shape)
      return op->emitOpError("needs operands of one shape");
    Type element = getElementTypeOrSelf(operands[i].getType());
    if (block.getArgument(i).getType() != element || block.getArgument(n + i).getType() != element ||
        yield->getOperand(i).getType() != element)
      return op->emitOpError() << "needs a region that combines two " << element << " for operand " << i;
  }
  return success();
}

LogicalResult ReduceOp::verify() {
  if (failed(checkCombine(*this, getOperands(), getAxis(), getCombine().front())))
    return failure();
  if (getNumResults() != getNumOperands())
    return emitOpError("needs one result an operand");
  for (auto [operand, result] : llvm::zip(getOperands(), getResults())) {
    SmallVector<int64_t> shape(shapeOf(operand.getType()));
    shape.erase(shape.begin() + getAxis());
    Type wanted = tileOf(shape, getElementTypeOrSelf(operand.getType()));
    if (!sameTile(result.getType(), wanted))
      return emitOpError() << "gives " << wanted << ", not " << result.getType();
  }
  return success();
}
LogicalResult ScanOp::verify() {
  if (failed(checkCombine(*this, getOperands(), getAxis(), getCombine().front())))
    return failure();
  if (getOperandTypes() != getResultTypes())
    return emitOpError("gives the types of its operands");
  return success();
}
LogicalResult HistogramOp::verify() {
  if (!getElementTypeOrSelf(getValue().getType()).isSignlessInteger() || !getElementTypeOrSelf(getType()).isSignlessInteger())
    return emitOpError("counts integers in integers");
  if (shapeOf(getType()).size() != 1)
    return emitOpError("gives a tile of rank 1");
  if (getMask() && !sameTile(getMask().getType(), tileOf(shapeOf(getValue().getType()), IntegerType::get(getContext(), 1))))
    return emitOpError("needs one mask bit a lane");
  return success();
}
