// Verifiers of the ops in TileBuffer.td.
#include "compiler/ir/Tile.h"

using namespace mlir;
using namespace tilery::tile;

LogicalResult SubviewOp::verify() {
  BufferType whole = getBuffer().getType(), part = getType();
  if (getOffsets().size() != size_t(whole.getRank()))
    return emitOpError("needs one offset for each dimension of the buffer");
  if (getDims().size() != size_t(part.getRank()))
    return emitOpError("needs one entry of dims for each dimension of the result");
  if (whole.getElementType() != part.getElementType() || whole.getSpace() != part.getSpace())
    return emitOpError("keeps element type and space");
  for (auto [d, dim] : llvm::enumerate(getDims())) {
    if (dim < 0 || dim >= whole.getRank() || (d > 0 && dim <= getDims()[d - 1]))
      return emitOpError("needs dims that increase and lie in the buffer");
    if (part.getShape()[d] > whole.getShape()[dim])
      return emitOpError() << "is larger than its buffer along dimension " << dim;
  }
  return success();
}

static int64_t bitsOf(BufferType type) {
  Type element = type.getElementType();
  unsigned width = isa<PtrType>(element) ? 64 : element.getIntOrFloatBitWidth();
  return ShapedType::getNumElements(type.getShape()) * std::max(width, 8u); // a boolean takes a byte
}
LogicalResult ReinterpretOp::verify() {
  if (bitsOf(getBuffer().getType()) != bitsOf(getType()))
    return emitOpError("needs the same number of bits on both sides");
  return success();
}

LogicalResult BufferLoadOp::verify() {
  if (getType() != getBuffer().getType().getTileType())
    return emitOpError() << "reads " << getBuffer().getType().getTileType() << ", not " << getType();
  return success();
}
LogicalResult BufferStoreOp::verify() {
  Type tile = getBuffer().getType().getTileType();
  if (getValue().getType() != tile)
    return emitOpError() << "writes " << getValue().getType() << " to a buffer for " << tile;
  if (getMask() && shapeOf(getMask().getType()) != shapeOf(tile))
    return emitOpError("needs one mask bit an element");
  return success();
}

static LogicalResult checkElement(Operation *op, BufferType buffer, size_t indices, Type element) {
  if (indices != size_t(buffer.getRank()))
    return op->emitOpError("needs one index a dimension");
  if (element != buffer.getElementType())
    return op->emitOpError() << "works on " << buffer.getElementType() << ", not " << element;
  return success();
}
LogicalResult ElementLoadOp::verify() { return checkElement(*this, getBuffer().getType(), getIndices().size(), getType()); }
LogicalResult ElementStoreOp::verify() {
  return checkElement(*this, getBuffer().getType(), getIndices().size(), getValue().getType());
}
