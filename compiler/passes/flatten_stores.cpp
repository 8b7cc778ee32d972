// flatten-stores: a buffer that takes a tile whose rows were cut into short ones takes the long rows.
//
// Threads that each fetch some neighbouring elements leave such stores: [threads, 8] of what is one row in memory. Vectors are as long
// as the last dimension, and bounds are asked for once for each of them.
#include "compiler/ir/Tile.h"
#include "compiler/passes/passes.h"

using namespace mlir;
using namespace tilery;
using namespace tilery::tile;

namespace {

SmallVector<int64_t> mergedShape(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> merged(shape.drop_back());
  merged.back() *= shape.back();
  return merged;
}

constexpr int64_t shortRow = 32; // elements: with fewer a row is hardly a vector, and asks for its bounds by itself

Value merged(OpBuilder &b, Value tile);

/// What is computed from such tiles, or lies in a buffer, with its last two dimensions as one.
Value mergedShort(OpBuilder &b, Operation *op, RankedTensorType target) {
  Location loc = op->getLoc();
  if (auto load = dyn_cast<BufferLoadOp>(op)) {
    TypedValue<BufferType> whole = load.getBuffer();
    BufferType type = whole.getType();
    if (auto rows = whole.getDefiningOp<ReinterpretOp>())
      whole = rows.getBuffer();
    if (!whole.getDefiningOp<AllocOp>())
      return {};
    OpBuilder there(op);
    auto flat = BufferType::get(target.getShape(), type.getElementType(), type.getSpace());
    return BufferLoadOp::create(there, loc, target, ReinterpretOp::create(there, loc, flat, whole));
  }
  if (auto splat = dyn_cast<SplatOp>(op))
    return SplatOp::create(b, loc, target, splat.getValue());
  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    auto values = dyn_cast<DenseElementsAttr>(constant.getValue());
    return values && values.isSplat() ? arith::ConstantOp::create(b, loc, values.reshape(target)).getResult() : Value();
  }
  if (!OpTrait::hasElementwiseMappableTraits(op) || op->getNumResults() != 1)
    return {};
  OperationState state(loc, op->getName());
  for (Value operand : op->getOperands()) {
    Value longer = isa<RankedTensorType>(operand.getType()) ? merged(b, operand) : operand;
    if (!longer)
      return {};
    state.addOperands(longer);
  }
  state.addTypes(target);
  state.addAttributes(op->getAttrs());
  return b.create(state)->getResult(0);
}

/// The tile with its last two dimensions as one. Null: it was not made from one.
Value merged(OpBuilder &b, Value tile) {
  Operation *op = tile.getDefiningOp();
  auto type = cast<RankedTensorType>(tile.getType());
  if (!op || type.getRank() < 2)
    return {};
  auto target = RankedTensorType::get(mergedShape(type.getShape()), type.getElementType());
  if (type.getShape().back() < shortRow)
    if (Value computed = mergedShort(b, op, target))
      return computed;
  if (auto reshape = dyn_cast<ReshapeOp>(op))
    return reshape.getValue().getType() == target ? reshape.getValue() : Value();
  if (!isa<BroadcastOp, ExpandDimsOp>(op))
    return {};
  auto from = cast<RankedTensorType>(op->getOperand(0).getType());
  auto expand = dyn_cast<ExpandDimsOp>(op);
  if (from.getRank() < 2 || from.getShape().take_back(2) != type.getShape().take_back(2) ||
      (expand && int64_t(expand.getAxis()) > type.getRank() - 3))
    return {};
  Value inner = merged(b, op->getOperand(0));
  if (!inner)
    return {};
  if (expand)
    return ExpandDimsOp::create(b, op->getLoc(), target, inner, expand.getAxis());
  return BroadcastOp::create(b, op->getLoc(), target, inner);
}

struct FlattenStores : PassWrapper<FlattenStores, OperationPass<KernelOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(FlattenStores)
  StringRef getArgument() const final { return "flatten-stores"; }
  StringRef getDescription() const final { return "store tiles whose rows were cut as they were before"; }

  void runOnOperation() final {
    getOperation().walk([](BufferStoreOp store) {
      if (store.getMask() || !store.getBuffer().getDefiningOp<AllocOp>())
        return;
      OpBuilder b(store);
      Value value = store.getValue();
      while (Value longer = merged(b, value))
        value = longer;
      if (value == store.getValue())
        return;
      auto type = store.getBuffer().getType();
      auto flat = BufferType::get(cast<RankedTensorType>(value.getType()).getShape(), type.getElementType(), type.getSpace());
      store.getBufferMutable().assign(ReinterpretOp::create(b, store.getLoc(), flat, store.getBuffer()));
      store.getValueMutable().assign(value);
    });
  }
};

} // namespace

std::unique_ptr<Pass> tilery::createFlattenStores() { return std::make_unique<FlattenStores>(); }
