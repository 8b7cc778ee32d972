// widen-stores: where a window of a buffer is read only to be stored in memory, all of the buffer is, but for the lanes beside the window.
//
// `T.copy(acc[:rows, :], O)` of a product's sums would keep them in a buffer, which is in no thread's registers. Lanes that do not exist
// are computed nowhere, and promote-buffers, which runs once more behind this, makes a tile value of the buffer.
#include "compiler/passes/passes.h"
#include "compiler/passes/windows.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilery::tile;

namespace {

bool isTile(Value value) { return value && isa<RankedTensorType>(value.getType()); }
bool isSplat(Value value) {
  DenseElementsAttr values;
  return value.getDefiningOp<SplatOp>() || (matchPattern(value, m_Constant(&values)) && values.isSplat());
}

class Widening {
public:
  Widening(BufferLoadOp load, SubviewOp view, Window window)
      : load(load), view(view), window(std::move(window)), shape(view.getBuffer().getType().getShape()) {}

  /// True if all of what is made of the window is stored in memory, and computed by elements.
  bool fits() {
    if (shape.size() != view.getType().getShape().size())
      return false;
    chain.insert(load.getResult());
    for (size_t i = 0; i < chain.size(); ++i)
      for (Operation *user : chain[i].getUsers()) {
        if (auto store = dyn_cast<StoreOp>(user)) {
          auto place = store.getPlace().getDefiningOp<ViewOp>();
          if (!place || store.getIsVolatile() || isTile(place.getResidual()))
            return false;
          stores.insert(store);
        } else if (OpTrait::hasElementwiseMappableTraits(user) && user->getNumResults() == 1 && isMemoryEffectFree(user)) {
          chain.insert(user->getResult(0));
        } else {
          return false;
        }
      }
    for (Value value : ArrayRef(chain.getArrayRef()).drop_front())
      for (Value operand : value.getDefiningOp()->getOperands())
        if (isTile(operand) && !chain.contains(operand) && !isSplat(operand))
          return false;
    return !stores.empty();
  }

  void run() {
    for (StoreOp store : stores) {
      OpBuilder b(store);
      Value value = widened(store.getValue()), at = place(b, store.getPlace().getDefiningOp<ViewOp>());
      auto copy = cast<StoreOp>(b.clone(*store));
      copy.getValueMutable().assign(value);
      copy.getPlaceMutable().assign(at);
      store.erase();
    }
    for (Value value : chain)
      value.getDefiningOp()->dropAllReferences();
    for (Value value : chain)
      value.getDefiningOp()->erase();
  }

private:
  Value widened(Value value) {
    if (Value made = wide.lookupOrNull(value))
      return made;
    Operation *op = value.getDefiningOp();
    OpBuilder b(op);
    auto type = RankedTensorType::get(shape, cast<RankedTensorType>(value.getType()).getElementType());
    if (op == load) {
      wide.map(value, BufferLoadOp::create(b, op->getLoc(), type, view.getBuffer()).getResult());
    } else if (Value number = resplat(b, value, type)) {
      wide.map(value, number);
    } else {
      for (Value operand : op->getOperands())
        if (isTile(operand))
          widened(operand);
      Operation *copy = b.clone(*op, wide);
      copy->getResult(0).setType(type);
      wide.map(value, copy->getResult(0)); // clone has mapped it, too, while it had the narrow type
    }
    return wide.lookup(value);
  }

  /// Where the lanes of the window are, in a tile of all of the buffer.
  Value place(OpBuilder &b, ViewOp narrow) {
    Location loc = narrow.getLoc();
    auto number = [&](int64_t value) { return arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(value)).getResult(); };
    SmallVector<Value> starts(narrow.getStarts()), limits;
    Value beside; // lanes at and behind the window's first
    for (auto [d, offset] : llvm::enumerate(window.offsets)) {
      Value end = number(offset + window.lengths[d]);
      if (!narrow.getLimits().empty())
        end = arith::MinSIOp::create(b, loc, end, arith::AddIOp::create(b, loc, narrow.getLimits()[d], number(offset)));
      limits.push_back(end);
      if (!offset)
        continue;
      if (int64_t dim = narrow.getDims()[d]; dim >= 0) {
        Value shift = arith::MulIOp::create(b, loc, narrow.getDilations()[d], number(offset));
        starts[dim] = arith::SubIOp::create(b, loc, starts[dim], shift);
      }
      Value lanes = behind(b, loc, d, offset);
      beside = beside ? arith::AndIOp::create(b, loc, beside, lanes).getResult() : lanes;
    }
    Value residual = narrow.getResidual();
    if (residual && beside)
      residual = arith::AndIOp::create(b, loc, beside, SplatOp::create(b, loc, beside.getType(), residual));
    else if (beside)
      residual = beside;
    auto type = ViewType::get(shape, narrow.getType().getElementType());
    return ViewOp::create(b, loc, type, narrow.getRoot(), starts, narrow.getDilations(), limits, residual, narrow.getDims());
  }

  /// i_d >= offset, of all lanes.
  Value behind(OpBuilder &b, Location loc, unsigned d, int64_t offset) {
    Type i32 = b.getI32Type();
    Value lanes = RangeOp::create(b, loc, RankedTensorType::get({shape[d]}, i32), 0, shape[d]);
    Value first =
        SplatOp::create(b, loc, lanes.getType(), arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(int32_t(offset))));
    Value exists = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, lanes, first);
    SmallVector<int64_t> sizes{shape[d]};
    auto expand = [&](int64_t axis) {
      sizes.insert(sizes.begin() + axis, 1);
      exists = ExpandDimsOp::create(b, loc, RankedTensorType::get(sizes, b.getI1Type()), exists, axis);
    };
    for (unsigned before = 0; before < d; ++before)
      expand(0);
    for (unsigned after = d + 1; after < shape.size(); ++after)
      expand(int64_t(sizes.size()));
    return BroadcastOp::create(b, loc, RankedTensorType::get(shape, b.getI1Type()), exists);
  }

  BufferLoadOp load;
  SubviewOp view;
  Window window;
  SmallVector<int64_t> shape; // of all of the buffer
  llvm::SetVector<Value> chain;
  llvm::SetVector<StoreOp> stores;
  IRMapping wide;
};

struct WidenStores : PassWrapper<WidenStores, OperationPass<KernelOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(WidenStores)
  StringRef getArgument() const final { return "widen-stores"; }
  StringRef getDescription() const final { return "windows of tiles that are stored in memory are masks"; }

  void runOnOperation() final {
    SmallVector<AllocOp> allocs;
    getOperation().walk([&](AllocOp alloc) { allocs.push_back(alloc); });
    for (AllocOp alloc : allocs)
      widen(alloc);
  }

private:
  /// If nothing but such windows keeps the buffer from being a tile value.
  static void widen(AllocOp alloc) {
    std::vector<Widening> found;
    SmallVector<SubviewOp> views;
    for (Operation *user : alloc->getUsers()) {
      if (isa<BufferLoadOp, BufferStoreOp, ElementLoadOp>(user))
        continue;
      auto view = dyn_cast<SubviewOp>(user);
      std::optional<Window> window = view ? constantWindow(view) : std::nullopt;
      if (!window)
        return;
      views.push_back(view);
      for (Operation *access : view->getUsers()) {
        auto load = dyn_cast<BufferLoadOp>(access);
        if (!load || !found.emplace_back(load, view, *window).fits())
          return;
      }
    }
    for (Widening &widening : found)
      widening.run();
    for (SubviewOp view : views)
      view.erase();
  }
};

} // namespace

std::unique_ptr<Pass> tilery::createWidenStores() { return std::make_unique<WidenStores>(); }
