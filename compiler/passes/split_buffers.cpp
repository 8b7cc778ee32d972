// split-buffers: a buffer that is written and read in windows that lie apart becomes a buffer for each window.
//
// Programs put what they multiply in two products side by side into one buffer (`Q[:, :512]` and `Q[:, 512:]`). As buffers of their own
// the windows are whole, and promote-buffers makes tile values of them. What is stored into all of the buffer is split with it where that
// takes no data apart: numbers, loads from memory, and what is computed of these by elements. A buffer under another shape (`T.reshape`) is
// the buffer, and its tiles are reshaped. A window that is a part of another one (a slot's columns) stays one of that one's buffer.
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
      replace(view, buffers[number], windows[number]);
    alloc.erase();
  }

private:
  /// Its windows, but for parts of others, and whole stores; false if it is used otherwise, or windows meet else.
  bool collect() {
    if (!alloc->getAttrs().empty())
      return false;
    SmallVector<std::pair<SubviewOp, Window>> all;
    for (Operation *user : alloc->getUsers()) {
      if (auto store = dyn_cast<BufferStoreOp>(user); store && !store.getMask()) {
        stores.push_back(store);
        continue;
      }
      auto view = dyn_cast<SubviewOp>(user);
      std::optional<Window> window = view ? constantWindow(view) : std::nullopt;
      if (!window)
        return false;
      all.emplace_back(view, *window);
    }
    for (auto &[view, window] : all)
      if (!llvm::is_contained(windows, window) &&
          llvm::none_of(all, [&](auto &other) { return other.second != window && other.second.covers(window); }))
        windows.push_back(window);
    for (auto &[view, window] : all) {
      auto meets = [&](const Window &other) { return other.meets(window); };
      auto *found = llvm::find_if(windows, meets);
      if (!found->covers(window) || llvm::count_if(windows, meets) != 1)
        return false;
      views.emplace_back(view, found - windows.begin());
    }
    return true;
  }

  static void replace(SubviewOp view, Value buffer, const Window &window) {
    if (view.getType() == buffer.getType()) {
      view.replaceAllUsesWith(buffer);
      view.erase();
      return;
    }
    OpBuilder b(view);
    SmallVector<Value> offsets;
    for (auto [offset, start] : llvm::zip_equal(constantWindow(view)->offsets, window.offsets))
      offsets.push_back(arith::ConstantOp::create(b, view.getLoc(), b.getI64IntegerAttr(offset - start)));
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
