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

/// The tile with its last two dimensions as one. Null: it was not made from one.
Value merged(OpBuilder &b, Value tile) {
  Operation *op = tile.getDefiningOp();
  auto type = cast<RankedTensorType>(tile.getType());
  if (!op || type.getRank() < 2)
    return {};
  auto target = RankedTensorType::get(mergedShape(type.getShape()), type.getElementType());
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
