// split-buffers: a buffer that is written and read in windows that lie apart becomes a buffer for each window.
//
// Programs put what they multiply in two products side by side into one buffer (`Q[:, :512]` and `Q[:, 512:]`). As buffers of their own
// the windows are whole, and promote-buffers makes tile values of them. What is stored into all of the buffer is split with it where that
// takes no data apart: numbers, loads from memory, and what is computed of these by elements. A buffer under another shape (`T.reshape`) is
// the buffer, and its tiles are reshaped.
#include "compiler/passes/passes.h"
#include "compiler/passes/windows.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace tilery::tile;

namespace {

bool isTile(Value value) { return value && isa<RankedTensorType>(value.getType()); }

/// Tiles of which only a window is made, where the whole tile is made.
class Slicing {
public:
  explicit Slicing(const Window &window) : window(window) {}

  /// Null: lanes would have to be taken apart.
  Value of(Value tile) {
    Value &part = parts[tile];
    if (!part && tile.getDefiningOp()) {
      Value made = make(tile.getDefiningOp(), cast<RankedTensorType>(tile.getType()).getElementType());
      return parts[tile] = made;
    }
    return part;
  }

private:
  Value make(Operation *op, Type element) {
    auto type = RankedTensorType::get(window.lengths, element);
    OpBuilder b(op->getContext());
    b.setInsertionPointAfter(op);
    if (auto splat = dyn_cast<SplatOp>(op))
      return SplatOp::create(b, op->getLoc(), type, splat.getValue());
    if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
      auto values = dyn_cast<DenseElementsAttr>(constant.getValue());
      if (!values || !values.isSplat())
        return {};
      return arith::ConstantOp::create(b, op->getLoc(), values.resizeSplat(type));
    }
    if (auto load = dyn_cast<LoadOp>(op))
      return loaded(b, load, type);
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

  Value loaded(OpBuilder &b, LoadOp load, RankedTensorType type) {
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

  const Window &window;
  llvm::DenseMap<Value, Value> parts;
};

class Splitting {
public:
  explicit Splitting(AllocOp alloc) : alloc(alloc) {}

  void run() {
    if (!collect() || windows.size() < 2)
      return;
    SmallVector<SmallVector<Value>> values; // of each store into the whole, a part for each window
    for (BufferStoreOp store : stores) {
      values.emplace_back();
      for (const Window &window : windows)
        if (Value part = Slicing(window).of(store.getValue()))
          values.back().push_back(part);
        else
          return;
    }
    OpBuilder b(alloc);
    SmallVector<Value> buffers;
    for (const Window &window : windows)
      buffers.push_back(AllocOp::create(
          b, alloc.getLoc(), BufferType::get(window.lengths, alloc.getType().getElementType(), alloc.getType().getSpace())));
    for (auto [store, parts] : llvm::zip_equal(stores, values)) {
      b.setInsertionPoint(store);
      for (auto [buffer, part] : llvm::zip_equal(buffers, parts))
        BufferStoreOp::create(b, store.getLoc(), buffer, part, Value());
      store.erase();
    }
    for (auto [view, number] : views)
      replace(view, buffers[number]);
    alloc.erase();
  }

private:
  /// Its windows and whole stores; false if it is used otherwise, or windows meet without being one.
  bool collect() {
    if (!alloc->getAttrs().empty())
      return false;
    for (Operation *user : alloc->getUsers()) {
      if (auto store = dyn_cast<BufferStoreOp>(user); store && !store.getMask()) {
        stores.push_back(store);
        continue;
      }
      auto view = dyn_cast<SubviewOp>(user);
      std::optional<Window> window = view ? constantWindow(view) : std::nullopt;
      if (!window)
        return false;
      auto *found = llvm::find(windows, *window);
      if (found == windows.end() && llvm::any_of(windows, [&](const Window &other) { return other.meets(*window); }))
        return false;
      views.emplace_back(view, found - windows.begin());
      if (found == windows.end())
        windows.push_back(*window);
    }
    return true;
  }

  static void replace(SubviewOp view, Value buffer) {
    if (view.getType() == buffer.getType()) {
      view.replaceAllUsesWith(buffer);
      view.erase();
      return;
    }
    OpBuilder b(view);
    Value zero = arith::ConstantOp::create(b, view.getLoc(), b.getI64IntegerAttr(0));
    SmallVector<Value> offsets(view.getOffsets().size(), zero);
    Value part = SubviewOp::create(b, view.getLoc(), view.getType(), buffer, offsets, view.getDims());
    view.replaceAllUsesWith(part);
    view.erase();
  }

  AllocOp alloc;
  SmallVector<Window> windows;
  SmallVector<std::pair<SubviewOp, size_t>> views; // and the number of their window
  SmallVector<BufferStoreOp> stores;
};

/// Whole reads and writes of the buffer under another shape become such of the buffer.
void reshapeTiles(ReinterpretOp view) {
  BufferType from = view.getBuffer().getType(), to = view.getType();
  auto isWhole = [](Operation *user) {
    auto store = dyn_cast<BufferStoreOp>(user);
    return isa<BufferLoadOp>(user) || (store && !store.getMask());
  };
  if (from.getElementType() != to.getElementType() || !view.getBuffer().getDefiningOp<AllocOp>() ||
      !llvm::all_of(view->getUsers(), isWhole))
    return;
  for (Operation *user : llvm::make_early_inc_range(view->getUsers())) {
    OpBuilder b(user);
    if (auto store = dyn_cast<BufferStoreOp>(user)) {
      Value tile = ReshapeOp::create(b, user->getLoc(), from.getTileType(), store.getValue());
      BufferStoreOp::create(b, user->getLoc(), view.getBuffer(), tile, Value());
    } else {
      Value tile = BufferLoadOp::create(b, user->getLoc(), from.getTileType(), view.getBuffer());
      user->getResult(0).replaceAllUsesWith(ReshapeOp::create(b, user->getLoc(), to.getTileType(), tile));
    }
    user->erase();
  }
  view.erase();
}

struct SplitBuffers : PassWrapper<SplitBuffers, OperationPass<KernelOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(SplitBuffers)
  StringRef getArgument() const final { return "split-buffers"; }
  StringRef getDescription() const final { return "windows that lie apart become buffers of their own"; }

  void runOnOperation() final {
    SmallVector<ReinterpretOp> views;
    getOperation().walk([&](ReinterpretOp view) { views.push_back(view); });
    llvm::for_each(views, reshapeTiles);
    SmallVector<AllocOp> allocs;
    getOperation().walk([&](AllocOp alloc) { allocs.push_back(alloc); });
    for (AllocOp alloc : allocs)
      Splitting(alloc).run();
  }
};

} // namespace

std::unique_ptr<Pass> tilery::createSplitBuffers() { return std::make_unique<SplitBuffers>(); }
