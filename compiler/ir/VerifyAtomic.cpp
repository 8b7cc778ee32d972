// Verifiers of the ops in TileAtomic.td.
#include "compiler/ir/Tile.h"

using namespace mlir;
using namespace tilery::tile;

LogicalResult AtomicRmwOp::verify() {
  if (failed(verifyWritable(*this, getPlace(), getValue())))
    return failure();
  Type element = getElementTypeOrSelf(getValue().getType());
  bool needsFloat = llvm::is_contained({RmwKind::fadd, RmwKind::fmax, RmwKind::fmin}, getKind());
  if (getKind() != RmwKind::exchange && (needsFloat ? !isa<FloatType>(element) : !element.isSignlessInteger()))
    return emitOpError() << "`" << stringifyRmwKind(getKind()) << "` does not work on " << element;
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
