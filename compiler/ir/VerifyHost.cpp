// Verifiers of the ops in TileHost.td, TileKernel.td and TileDebug.td.
#include "compiler/ir/Tile.h"

using namespace mlir;
using namespace tilery::tile;

static bool isScalar(Type type) { return isa<IntegerType, FloatType, PtrType>(type); }

/// Verified before what is inside: the block may be empty.
static bool endsWithReturn(Region &body) {
  return body.hasOneBlock() && !body.front().empty() && isa<ReturnOp>(body.front().back());
}

LogicalResult KernelOp::verify() {
  if (!getResultTypes().empty())
    return emitOpError("gives nothing: it writes through its pointers");
  if (!endsWithReturn(getBody()))
    return emitOpError("is one block that ends with tile.return");
  if (getBody().front().back().getNumOperands() != 0)
    return emitOpError("returns nothing");
  return success();
}

LogicalResult HostOp::verify() {
  for (Type type : getArgumentTypes())
    if (!isScalar(type) && !isa<TensorArgType>(type))
      return emitOpError() << "takes tensors and scalars, not " << type;
  if (!endsWithReturn(getBody()))
    return emitOpError("is one block that ends with tile.return");
  if (getBody().front().back().getOperandTypes() != TypeRange(getResultTypes()))
    return emitOpError("returns what its type says");
  return success();
}

static LogicalResult checkDim(Operation *op, TensorArgType tensor, int64_t dim) {
  if (dim >= 0 && dim < tensor.getRank())
    return success();
  return op->emitOpError() << "asks for dimension " << dim << " of a tensor of rank " << tensor.getRank();
}
LogicalResult HostExtentOp::verify() { return checkDim(*this, getTensor().getType(), getDim()); }
LogicalResult HostStrideOp::verify() { return checkDim(*this, getTensor().getType(), getDim()); }
LogicalResult HostEmptyOp::verify() {
  if (int64_t(getExtents().size()) != getType().getRank())
    return emitOpError("needs one extent a dimension");
  return success();
}

LogicalResult LaunchOp::verify() {
  if (getGrid().empty() || getGrid().size() > 3)
    return emitOpError("needs a grid of one to three extents");
  auto kernel = SymbolTable::lookupNearestSymbolFrom<KernelOp>(*this, getKernelAttr());
  if (!kernel)
    return emitOpError() << "there is no kernel " << getKernelAttr();
  for (Type type :
       kernel.getArgumentTypes()) // pieces of kernels, as in tests of passes, may take other values: they are never launched
    if (!isScalar(type))
      return emitOpError() << "runs a kernel that takes scalars and pointers, not " << type;
  // A kernel that only reads through a pointer takes it as const.
  auto plain = [](Type type) {
    auto pointer = dyn_cast<PtrType>(type);
    return pointer ? Type(PtrType::get(pointer.getPointee())) : type;
  };
  if (!llvm::equal(llvm::map_range(getArgs().getTypes(), plain), llvm::map_range(kernel.getArgumentTypes(), plain)))
    return emitOpError() << "gives arguments that are not those of " << getKernelAttr();
  return success();
}

LogicalResult PrintOp::verify() {
  if (getIsSigned().size() != getValues().size())
    return emitOpError("needs one entry of is_signed a value");
  return success();
}
LogicalResult AssertOp::verify() {
  if (getMask() && getMask().getType() != getCondition().getType())
    return emitOpError("needs a mask of the condition's shape");
  return success();
}
