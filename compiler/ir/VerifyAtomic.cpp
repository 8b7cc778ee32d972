// Verifiers of the ops in TileAtomic.td.
#include "compiler/ir/Tile.h"

using namespace mlir;
using namespace tilery::tile;

static LogicalResult checkKind(Operation *op, RmwKind kind, Type element) {
  bool needsFloat = llvm::is_contained({RmwKind::fadd, RmwKind::fmax, RmwKind::fmin}, kind);
  if (kind != RmwKind::exchange && (needsFloat ? !isa<FloatType>(element) : !element.isSignlessInteger()))
    return op->emitOpError() << "`" << stringifyRmwKind(kind) << "` does not work on " << element;
  return success();
}

LogicalResult AtomicRmwOp::verify() {
  if (failed(verifyWritable(*this, getPlace(), getValue())) ||
      failed(checkKind(*this, getKind(), getElementTypeOrSelf(getValue().getType()))))
    return failure();
  if (getType() != getValue().getType())
    return emitOpError("gives the type of its value");
  return success();
}

LogicalResult AtomicCasOp::verify() {
  if (failed(verifyWritable(*this, getPlace(), getDesired())))
    return failure();
  if (getType() != getDesired().getType())
    return emitOpError("gives the type of its value");
  return success();
}

LogicalResult ElementUpdateOp::verify() {
  if (getIndices().size() != size_t(getBuffer().getType().getRank()))
    return emitOpError("needs one index a dimension");
  if (getValue().getType() != getBuffer().getType().getElementType())
    return emitOpError() << "works on " << getBuffer().getType().getElementType() << ", not " << getValue().getType();
  return checkKind(*this, getKind(), getValue().getType());
}
