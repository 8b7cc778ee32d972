#include "compiler/passes/windows.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tilery::tile {

bool Window::meets(const Window &other) const {
  for (auto [x, n, y, m] : llvm::zip_equal(offsets, lengths, other.offsets, other.lengths))
    if (x + n <= y || y + m <= x)
      return false;
  return true;
}

bool Window::covers(const Window &other) const {
  for (auto [x, n, y, m] : llvm::zip_equal(offsets, lengths, other.offsets, other.lengths))
    if (y < x || y + m > x + n)
      return false;
  return true;
}

std::optional<Window> constantWindow(SubviewOp view) {
  ArrayRef<int64_t> extents = view.getBuffer().getType().getShape();
  Window window{{}, SmallVector<int64_t>(extents.size(), 1)};
  for (auto [dim, size] : llvm::zip_equal(view.getDims(), view.getType().getShape()))
    window.lengths[dim] = size;
  for (auto [offset, extent, length] : llvm::zip_equal(view.getOffsets(), extents, window.lengths)) {
    APInt number;
    if (!matchPattern(offset, m_ConstantInt(&number)) || number.isNegative() || number.getSExtValue() + length > extent)
      return std::nullopt;
    window.offsets.push_back(number.getSExtValue());
  }
  return window;
}

Value resplat(OpBuilder &b, Value tile, RankedTensorType type) {
  if (auto splat = tile.getDefiningOp<SplatOp>())
    return SplatOp::create(b, tile.getLoc(), type, splat.getValue());
  auto constant = tile.getDefiningOp<arith::ConstantOp>();
  auto values = constant ? dyn_cast<DenseElementsAttr>(constant.getValue()) : DenseElementsAttr();
  return values && values.isSplat() ? arith::ConstantOp::create(b, tile.getLoc(), values.resizeSplat(type)).getResult() : Value();
}

static bool isTile(Value value) { return value && isa<RankedTensorType>(value.getType()); }

Value Slicing::of(Value tile) {
  if (window.lengths == ArrayRef(cast<RankedTensorType>(tile.getType()).getShape()))
    return tile;
  Value &part = parts[tile];
  if (!part && tile.getDefiningOp()) {
    Value made = make(tile.getDefiningOp(), cast<RankedTensorType>(tile.getType()).getElementType());
    return parts[tile] = made;
  }
  return part;
}

Value Slicing::make(Operation *op, Type element) {
  auto type = RankedTensorType::get(window.lengths, element);
  OpBuilder b(op->getContext());
  b.setInsertionPointAfter(op);
  if (Value number = resplat(b, op->getResult(0), type))
    return number;
  if (auto load = dyn_cast<LoadOp>(op))
    return load.getPlace().getDefiningOp<PointerAccessOp>() ? gathered(b, load, type) : loaded(b, load, type);
  if (isa<RangeOp, ExpandDimsOp, BroadcastOp>(op))
    return shaped(b, op, type);
  if (!OpTrait::hasElementwiseMappableTraits(op) || op->getNumResults() != 1)
    return {};
  IRMapping operands;
  for (Value operand : op->getOperands())
    if (isTile(operand)) {
      Value part = of(operand);
      if (!part)
        return {};
      operands.map(operand, part);
    }
  Operation *copy = b.clone(*op, operands);
  copy->getResult(0).setType(type);
  return copy->getResult(0);
}

/// Counts, and tiles with a dimension more or repeated, of a part of what they are made of.
Value Slicing::shaped(OpBuilder &b, Operation *op, RankedTensorType type) {
  if (auto range = dyn_cast<RangeOp>(op)) {
    int64_t start = range.getStart() + window.offsets[0];
    return RangeOp::create(b, op->getLoc(), type, start, start + window.lengths[0]);
  }
  Window inner = window;
  if (auto expanded = dyn_cast<ExpandDimsOp>(op)) {
    inner.offsets.erase(inner.offsets.begin() + expanded.getAxis());
    inner.lengths.erase(inner.lengths.begin() + expanded.getAxis());
  } else {
    for (auto [d, size] : llvm::enumerate(cast<RankedTensorType>(op->getOperand(0).getType()).getShape()))
      if (size == 1)
        inner.offsets[d] = 0, inner.lengths[d] = 1;
  }
  Value part = Slicing(inner).of(op->getOperand(0));
  if (!part)
    return {};
  IRMapping operand;
  operand.map(op->getOperand(0), part);
  Operation *copy = b.clone(*op, operand);
  copy->getResult(0).setType(type);
  return copy->getResult(0);
}

/// A part of a load whose lanes each have an address.
Value Slicing::gathered(OpBuilder &b, LoadOp load, RankedTensorType type) {
  auto place = load.getPlace().getDefiningOp<PointerAccessOp>();
  if (load.getIsVolatile())
    return {};
  IRMapping narrow;
  for (Value tile : {place.getPtrs(), place.getMask(), load.getOther()})
    if (isTile(tile)) {
      Value part = of(tile);
      if (!part)
        return {};
      narrow.map(tile, part);
    }
  Operation *access = b.clone(*place, narrow);
  access->getResult(0).setType(AccessType::get(window.lengths, place.getType().getElementType()));
  narrow.map(load.getPlace(), access->getResult(0));
  Operation *copy = b.clone(*load, narrow);
  copy->getResult(0).setType(type);
  return copy->getResult(0);
}

Value Slicing::loaded(OpBuilder &b, LoadOp load, RankedTensorType type) {
  auto view = load.getPlace().getDefiningOp<ViewOp>();
  if (!view || load.getIsVolatile() || isTile(load.getOther()) || isTile(view.getResidual()))
    return {};
  Location loc = load.getLoc();
  auto number = [&](int64_t value) { return arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(value)).getResult(); };
  SmallVector<Value> starts(view.getStarts()), limits(view.getLimits());
  for (auto [d, offset] : llvm::enumerate(window.offsets)) {
    if (int64_t dim = view.getDims()[d]; offset && dim >= 0) {
      Value shift = arith::MulIOp::create(b, loc, view.getDilations()[d], number(offset));
      starts[dim] = arith::AddIOp::create(b, loc, starts[dim], shift);
    }
    if (offset && !limits.empty())
      limits[d] = arith::SubIOp::create(b, loc, limits[d], number(offset));
  }
  auto place = ViewType::get(window.lengths, view.getType().getElementType());
  IRMapping narrow;
  narrow.map(load.getPlace(), ViewOp::create(b, loc, place, view.getRoot(), starts, view.getDilations(), limits,
                                             view.getResidual(), view.getDims())
                                  .getResult());
  Operation *copy = b.clone(*load, narrow);
  copy->getResult(0).setType(type);
  return copy->getResult(0);
}

} // namespace tilery::tile
