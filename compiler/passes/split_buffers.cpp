// split-buffers: a buffer that is written and read in windows that lie apart becomes a buffer for each window.
//
// Programs put what they multiply in two products side by side into one buffer (`Q[:, :512]` and `Q[:, 512:]`). As buffers of their own
// the windows are whole, and promote-buffers makes tile values of them. What is stored into all of the buffer is split with it where that
// takes no data apart: numbers, loads from memory, and what is computed of these by elements. A buffer under another shape (`T.reshape`) is
// the buffer, and its tiles are reshaped.
#include "compiler/passes/passes.h"
#include "compiler/passes/windows.h"

using namespace mlir;
using namespace tilery::tile;

namespace {

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
