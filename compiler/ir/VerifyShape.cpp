// Verifiers of the ops in TileShape.td.
#include "compiler/ir/Tile.h"

using namespace mlir;
using namespace tilery::tile;

static Type elementOf(Value value) { return getElementTypeOrSelf(value.getType()); }
static ArrayRef<int64_t> sizes(Value value) { return tilery::tile::shapeOf(value.getType()); }

// The result is `element` in `shape`.
static LogicalResult expect(Operation *op, Value result, ArrayRef<int64_t> shape, Type element) {
  Type wanted = tileOf(shape, element);
  if (sameTile(result.getType(), wanted))
    return success();
  return op->emitOpError() << "gives " << wanted << ", not " << result.getType();
}
static LogicalResult checkAxis(Operation *op, int64_t axis, int64_t end) {
  if (axis >= 0 && axis < end)
    return success();
  return op->emitOpError() << "axis " << axis << " is outside [0, " << end << ")";
}

LogicalResult RangeOp::verify() {
  if (int64_t(getEnd()) <= int64_t(getStart())) // the getters are unsigned
    return emitOpError("needs start < end");
  return expect(*this, getResult(), {int64_t(getEnd() - getStart())}, IntegerType::get(getContext(), 32));
}
LogicalResult SplatOp::verify() { return expect(*this, getResult(), sizes(getResult()), getValue().getType()); }
LogicalResult ExpandDimsOp::verify() {
  SmallVector<int64_t> shape(sizes(getValue()));
  if (failed(checkAxis(*this, getAxis(), shape.size() + 1)))
    return failure();
  shape.insert(shape.begin() + getAxis(), 1);
  return expect(*this, getResult(), shape, elementOf(getValue()));
}
LogicalResult BroadcastOp::verify() {
  ArrayRef<int64_t> from = sizes(getValue()), to = sizes(getResult());
  if (from.size() != to.size())
    return emitOpError("needs the same rank on both sides");
  for (auto [small, large] : llvm::zip(from, to))
    if (small != large && small != 1)
      return emitOpError() << "cannot repeat a dimension of size " << small << " to " << large;
  return expect(*this, getResult(), to, elementOf(getValue()));
}
LogicalResult ReshapeOp::verify() {
  if (ShapedType::getNumElements(sizes(getValue())) != ShapedType::getNumElements(sizes(getResult())))
    return emitOpError("needs the same number of lanes on both sides");
  return expect(*this, getResult(), sizes(getResult()), elementOf(getValue()));
}
LogicalResult PermuteOp::verify() {
  ArrayRef<int64_t> from = sizes(getValue()), order = getOrder();
  SmallVector<int64_t> sorted(order);
  llvm::sort(sorted);
  if (!llvm::equal(sorted, llvm::seq<int64_t>(0, from.size())))
    return emitOpError() << "order must be a permutation of " << from.size() << " dimensions";
  SmallVector<int64_t> shape;
  for (int64_t dim : order)
    shape.push_back(from[dim]);
  return expect(*this, getResult(), shape, elementOf(getValue()));
}
LogicalResult JoinOp::verify() {
  if (getLhs().getType() != getRhs().getType())
    return emitOpError("needs two values of one type");
  SmallVector<int64_t> shape(sizes(getLhs()));
  shape.push_back(2);
  return expect(*this, getResult(), shape, elementOf(getLhs()));
}
LogicalResult SplitOp::verify() {
  ArrayRef<int64_t> shape = sizes(getValue());
  if (shape.back() != 2)
    return emitOpError("needs a last dimension of size 2");
  for (Value result : getResults())
    if (failed(expect(*this, result, shape.drop_back(), elementOf(getValue()))))
      return failure();
  return success();
}
LogicalResult CatOp::verify() {
  SmallVector<int64_t> shape(sizes(getLhs())), other(sizes(getRhs()));
  if (shape.size() != other.size() || elementOf(getLhs()) != elementOf(getRhs()))
    return emitOpError("needs tiles of one rank and element type");
  if (failed(checkAxis(*this, getAxis(), shape.size())))
    return failure();
  int64_t sum = shape[getAxis()] + other[getAxis()];
  shape[getAxis()] = other[getAxis()] = sum;
  if (shape != other)
    return emitOpError("needs equal sizes except along the axis");
  return expect(*this, getResult(), shape, elementOf(getLhs()));
}
LogicalResult TakeOp::verify() {
  SmallVector<int64_t> shape(sizes(getValue())), indices(sizes(getIndices()));
  if (!elementOf(getIndices()).isSignlessInteger())
    return emitOpError("needs integer indices");
  if (failed(checkAxis(*this, getAxis(), shape.size())))
    return failure();
  if (shape.size() == indices.size())
    shape[getAxis()] = indices[getAxis()];
  if (shape != indices)
    return emitOpError("needs indices of the value's sizes except along the axis");
  return expect(*this, getResult(), indices, elementOf(getValue()));
}
LogicalResult ExtractOp::verify() {
  if (getIndices().size() != sizes(getValue()).size())
    return emitOpError("needs one index a dimension");
  return expect(*this, getResult(), {}, elementOf(getValue()));
}
LogicalResult SortOp::verify() {
  if (failed(checkAxis(*this, getAxis(), sizes(getValue()).size())))
    return failure();
  if (isa<PtrType>(elementOf(getValue())))
    return emitOpError("sorts numbers, not pointers");
  SmallVector<int64_t> shape(sizes(getValue()));
  ArrayRef<int64_t> result = sizes(getResult());
  if (result.size() == shape.size() && result[getAxis()] >= 1 && result[getAxis()] <= shape[getAxis()])
    shape[getAxis()] = result[getAxis()];
  return expect(*this, getResult(), shape, elementOf(getValue()));
}
