// Verifiers of the ops in TileAccess.td.
#include "compiler/ir/Tile.h"

using namespace mlir;
using namespace tilery::tile;

static LogicalResult checkPointee(Operation *op, Type pointer, Type element) {
  auto type = cast<PtrType>(getElementTypeOrSelf(pointer));
  if (type.getPointee() == element)
    return success();
  return op->emitOpError() << "places " << element << " at a pointer to " << type.getPointee();
}
// A scalar i1, or a tile of i1 of the whole shape.
static LogicalResult checkResidual(Operation *op, Value residual, ArrayRef<int64_t> shape) {
  if (!residual || !isa<RankedTensorType>(residual.getType()) || shapeOf(residual.getType()) == shape)
    return success();
  return op->emitOpError("needs a residual mask that is scalar or has the shape of the place");
}

LogicalResult AddPtrOp::verify() {
  if (shapeOf(getPtr().getType()) != shapeOf(getOffset().getType()))
    return emitOpError("needs pointer and offset of one shape");
  return success();
}

LogicalResult PtrCastOp::verify() {
  auto pointee = [](Value pointer) { return cast<PtrType>(getElementTypeOrSelf(pointer.getType())); };
  if (pointee(getPtr()).getIsConst() && !pointee(getResult()).getIsConst())
    return emitOpError("makes a const pointer one that can be written");
  return success();
}

LogicalResult PointerAccessOp::verify() {
  ArrayRef<int64_t> shape = getType().getShape();
  if (shapeOf(getPtrs().getType()) != shape)
    return emitOpError("needs one pointer a lane");
  if (getMask() && shapeOf(getMask().getType()) != shape)
    return emitOpError("needs one mask bit a lane");
  return checkPointee(*this, getPtrs().getType(), getType().getElementType());
}

LogicalResult AccessOp::verify() {
  ArrayRef<int64_t> shape = getType().getShape();
  auto i64 = IntegerType::get(getContext(), 64), i1 = IntegerType::get(getContext(), 1);
  if (getSteps().size() != shape.size() || getBoundKinds().size() != shape.size())
    return emitOpError("needs one step and one bound kind a dimension");
  size_t bounds = 0;
  for (int32_t kind : getBoundKinds()) {
    if (kind < 0 || kind > 2)
      return emitOpError() << "has no bound kind " << kind;
    bounds += kind == 1 ? 2 : kind == 2 ? 1 : 0;
  }
  if (bounds != getBounds().size())
    return emitOpError() << "needs " << bounds << " bounds, has " << getBounds().size();
  for (auto [dim, size] : llvm::enumerate(shape)) {
    Type step = getSteps()[dim].getType();
    if (step != i64 && !sameTile(step, RankedTensorType::get({size}, i64)))
      return emitOpError() << "needs i64 or tensor<" << size << "xi64> as the step of dimension " << dim << ", not " << step;
    OperandRange bound = getBound(dim);
    Type wanted = getBoundKinds()[dim] == 1 ? Type(i64) : Type(RankedTensorType::get({size}, i1));
    for (Value value : bound)
      if (!sameTile(value.getType(), wanted))
        return emitOpError() << "needs " << wanted << " as a bound of dimension " << dim << ", not " << value.getType();
  }
  if (failed(checkResidual(*this, getResidual(), shape)))
    return failure();
  return checkPointee(*this, getBase().getType(), getType().getElementType());
}

LogicalResult RootOp::verify() {
  size_t rank = getType().getRank();
  if (getExtents().size() != rank || getStrides().size() != rank)
    return emitOpError() << "needs " << rank << " extents and strides";
  return checkPointee(*this, getBase().getType(), getType().getElementType());
}

LogicalResult ViewOp::verify() {
  int64_t rootRank = getRoot().getType().getRank();
  size_t rank = getType().getRank();
  if (getStarts().size() != size_t(rootRank))
    return emitOpError() << "needs one start for each of the root's " << rootRank << " dimensions";
  if (getDims().size() != rank || getDilations().size() != rank)
    return emitOpError("needs one entry of dims and dilations a dimension");
  if (!getLimits().empty() && getLimits().size() != rank)
    return emitOpError("needs no limits, or one a dimension");
  for (int64_t dim : getDims())
    if (dim < -1 || dim >= rootRank)
      return emitOpError() << "walks dimension " << dim << " of a root of rank " << rootRank;
  if (getRoot().getType().getElementType() != getType().getElementType())
    return emitOpError("needs the element type of its root");
  return checkResidual(*this, getResidual(), getType().getShape());
}

static Type tileOfPlace(Value place) {
  if (auto access = dyn_cast<AccessType>(place.getType()))
    return access.getTileType();
  return cast<ViewType>(place.getType()).getTileType();
}

// The pointer a place was made from, where that is in sight.
static Value pointerOf(Value place) {
  Operation *op = place.getDefiningOp();
  if (auto access = dyn_cast_or_null<PointerAccessOp>(op))
    return access.getPtrs();
  if (auto access = dyn_cast_or_null<AccessOp>(op))
    return access.getBase();
  if (auto view = dyn_cast_or_null<ViewOp>(op))
    if (auto root = view.getRoot().getDefiningOp<RootOp>())
      return root.getBase();
  return {};
}

LogicalResult tilery::tile::verifyWritable(Operation *op, Value place, Value value) {
  if (!sameTile(value.getType(), tileOfPlace(place)))
    return op->emitOpError() << "writes " << value.getType() << " to a place for " << tileOfPlace(place);
  Value pointer = pointerOf(place);
  if (pointer && cast<PtrType>(getElementTypeOrSelf(pointer.getType())).getIsConst())
    return op->emitOpError("writes through a const pointer");
  return success();
}

LogicalResult LoadOp::verify() {
  Type tile = tileOfPlace(getPlace());
  if (!sameTile(getType(), tile))
    return emitOpError() << "reads " << tile << ", not " << getType();
  if (getOther() && !sameTile(getOther().getType(), tile) && getOther().getType() != getElementTypeOrSelf(tile))
    return emitOpError("needs `other` of the tile's or the element's type");
  return success();
}
LogicalResult StoreOp::verify() { return verifyWritable(*this, getPlace(), getValue()); }
