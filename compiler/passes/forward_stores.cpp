// forward-stores: a part of a buffer that was just written is not read again.
//
// Programs that fill one of several stages of a buffer and multiply it in the same turn of a loop (order-roles makes many of them) have no
// need for the buffer: what is read is what was written. Without reads the buffer goes, and the loop is the one of a program without stages.
// Rows that a mask leaves as they were do not matter where products add them to -inf and multiply them by zeros: keys that are not asked for.
#include "compiler/analysis/same_value.h"
#include "compiler/ir/Tile.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/unread_rows.h"
#include "compiler/passes/windows.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilery;
using namespace tilery::tile;

namespace {

/// The greatest that an index can be; it is never negative. Nothing where that is not seen.
std::optional<int64_t> greatest(Value index) {
  APInt number;
  if (matchPattern(index, m_ConstantInt(&number)))
    return number.isNegative() ? std::nullopt : std::optional(number.getSExtValue());
  if (auto wide = index.getDefiningOp<arith::ExtSIOp>())
    return greatest(wide.getIn());
  auto counter = dyn_cast<BlockArgument>(index);
  if (auto loop = counter ? dyn_cast<scf::ForOp>(counter.getOwner()->getParentOp()) : scf::ForOp();
      loop && index == loop.getInductionVar()) {
    APInt first, end;
    bool isKnown =
        matchPattern(loop.getLowerBound(), m_ConstantInt(&first)) && matchPattern(loop.getUpperBound(), m_ConstantInt(&end));
    return isKnown && !first.isNegative() && end.sgt(first) ? std::optional(end.getSExtValue() - 1) : std::nullopt;
  }
  auto rem = index.getDefiningOp<RemOp>();
  if (rem && rem.getMode() == IntDivMode::floor && matchPattern(rem.getRhs(), m_ConstantInt(&number)) &&
      number.isStrictlyPositive())
    return number.getSExtValue() - 1;
  return std::nullopt;
}

/// True if all elements of the window are in the buffer.
bool isInside(SubviewOp view) {
  ArrayRef<int64_t> extents = view.getBuffer().getType().getShape(), sizes = view.getType().getShape();
  SmallVector<int64_t> lengths(extents.size(), 1);
  for (auto [dim, size] : llvm::zip_equal(view.getDims(), sizes))
    lengths[dim] = size;
  for (auto [offset, extent, length] : llvm::zip_equal(view.getOffsets(), extents, lengths)) {
    auto last = greatest(offset);
    if (!last || *last + length > extent)
      return false;
  }
  return true;
}

class Forwarding {
public:
  explicit Forwarding(AllocOp alloc) : alloc(alloc) {}

  void run() {
    if (!collect())
      return;
    bool all = true;
    for (BufferLoadOp load : loads) {
      Value written = writtenBefore(load);
      all &= bool(written);
      if (written) {
        load.replaceAllUsesWith(written);
        load.erase();
      }
    }
    if (all)
      eraseBuffer();
  }

private:
  /// The buffer's reads; false if it is used in another way than by whole reads and writes of windows.
  bool collect() {
    for (Operation *user : alloc->getUsers()) {
      auto view = dyn_cast<SubviewOp>(user);
      if (!view)
        return false;
      for (Operation *access : view->getUsers()) {
        auto load = dyn_cast<BufferLoadOp>(access);
        auto store = dyn_cast<BufferStoreOp>(access);
        if (!load && (!store || store.getBuffer() != view.getResult()))
          return false;
        if (load)
          loads.push_back(load);
      }
    }
    return !loads.empty();
  }

  /// What lies where a read looks: the store before it in its block, if nothing else can have written there since.
  Value writtenBefore(BufferLoadOp load) {
    auto view = load.getBuffer().getDefiningOp<SubviewOp>();
    for (Operation *op = load->getPrevNode(); op; op = op->getPrevNode()) {
      if (auto store = dyn_cast<BufferStoreOp>(op); store && windowOf(store)) {
        SubviewOp written = windowOf(store);
        if (store.getMask() && !areUnread(load, store.getMask()))
          return {};
        if (std::optional<Window> part = partOf(view, written))
          return Slicing(*part).of(contentOf(store));
        bool fits = written.getType() == view.getType() && written.getDims() == view.getDims() &&
                    llvm::all_of(llvm::zip(written.getOffsets(), view.getOffsets()),
                                 [](auto pair) { return analysis::isSameValue(std::get<0>(pair), std::get<1>(pair)); });
        return fits && isInside(view) ? contentOf(store) : Value();
      }
      if (op->getNumRegions() && writesInside(op))
        return {};
    }
    return {};
  }
  /// What a store writes, and zeros where it leaves what nobody reads.
  Value contentOf(BufferStoreOp store) {
    if (!store.getMask())
      return store.getValue();
    Value &content = contents[store];
    if (!content) {
      OpBuilder b(store);
      Value zero = arith::ConstantOp::create(b, store.getLoc(), b.getZeroAttr(store.getValue().getType()));
      content = arith::SelectOp::create(b, store.getLoc(), store.getMask(), store.getValue(), zero);
    }
    return content;
  }
  /// Where a window lies in another one of the same dimensions, if it is a part of that: they differ in constant offsets alone.
  static std::optional<Window> partOf(SubviewOp view, SubviewOp written) {
    if (written.getDims() != view.getDims() || written.getType() == view.getType())
      return std::nullopt;
    Window part;
    for (auto [d, offsets] : llvm::enumerate(llvm::zip_equal(view.getOffsets(), written.getOffsets()))) {
      auto [own, other] = offsets;
      const auto *dim = llvm::find(view.getDims(), int64_t(d));
      if (dim == view.getDims().end()) {
        if (!analysis::isSameValue(own, other))
          return std::nullopt;
        continue;
      }
      APInt begin, from;
      size_t at = dim - view.getDims().begin();
      int64_t length = view.getType().getShape()[at], whole = written.getType().getShape()[at];
      if (!matchPattern(own, m_ConstantInt(&begin)) || !matchPattern(other, m_ConstantInt(&from)))
        return std::nullopt;
      int64_t offset = begin.getSExtValue() - from.getSExtValue();
      if (offset < 0 || offset + length > whole)
        return std::nullopt;
      part.offsets.push_back(offset);
      part.lengths.push_back(length);
    }
    return isInside(written) ? std::optional(part) : std::nullopt;
  }
  /// The window of this buffer that a store writes.
  SubviewOp windowOf(BufferStoreOp store) {
    auto view = store.getBuffer().getDefiningOp<SubviewOp>();
    return view && view.getBuffer() == alloc.getResult() ? view : SubviewOp();
  }
  bool writesInside(Operation *op) {
    return op->walk([&](BufferStoreOp store) { return windowOf(store) ? WalkResult::interrupt() : WalkResult::advance(); })
        .wasInterrupted();
  }

  void eraseBuffer() {
    for (Operation *view : llvm::make_early_inc_range(alloc->getUsers())) {
      for (Operation *store : llvm::make_early_inc_range(view->getUsers()))
        store->erase();
      view->erase();
    }
    alloc->erase();
  }

  AllocOp alloc;
  SmallVector<BufferLoadOp> loads;
  DenseMap<Operation *, Value> contents; // of stores with masks
};

struct ForwardStores : PassWrapper<ForwardStores, OperationPass<KernelOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ForwardStores)
  StringRef getArgument() const final { return "forward-stores"; }
  StringRef getDescription() const final { return "parts of buffers that were just written are not read again"; }

  void runOnOperation() final {
    SmallVector<AllocOp> allocs;
    getOperation().walk([&](AllocOp alloc) { allocs.push_back(alloc); });
    for (AllocOp alloc : allocs)
      Forwarding(alloc).run();
  }
};

} // namespace

std::unique_ptr<Pass> tilery::createForwardStores() { return std::make_unique<ForwardStores>(); }
