// promote-buffers: buffers that are read and written as a whole become tile values, carried by the loops that write them.
//
// A buffer is promoted if all its uses are whole loads and stores, or element loads, in the structured control flow (scf.for,
// scf.if, scf.while) of the block that allocates it. Reads inside tile.parallel are fine, since they see the value before it.
// Liveness decides what is carried, so that a buffer that each iteration fills before it reads it does not become a
// loop-carried tile: that would hide the loads of a K loop from contract-loops.
#include "compiler/ir/Tile.h"
#include "compiler/passes/passes.h"

using namespace mlir;
using namespace tilery::tile;

namespace {

/// A scalar stored into a buffer of one element: a whole store.
bool storesOnlyElement(ElementStoreOp store) {
  return llvm::all_of(store.getBuffer().getType().getShape(), [](int64_t n) { return n == 1; }) &&
         llvm::all_of(store.getIndices(), [](Value index) { return matchPattern(index, m_Zero()); });
}

bool isFlow(Operation *op) { return isa<scf::ForOp, scf::IfOp, scf::WhileOp>(op); }

bool isPromotable(AllocOp alloc) {
  return llvm::all_of(alloc->getUses(), [&](OpOperand &use) {
    Operation *user = use.getOwner();
    auto element = dyn_cast<ElementStoreOp>(user);
    bool write = isa<BufferStoreOp>(user) || (element && storesOnlyElement(element));
    if (!write && !isa<BufferLoadOp, ElementLoadOp>(user))
      return false;
    for (Operation *op = user; op->getBlock() != alloc->getBlock();) {
      op = op->getParentOp();
      if (!isFlow(op) && (write || !isa<ParallelOp>(op)))
        return false;
    }
    return true;
  });
}

/// Whose own an allocation is: threads', all of them together, or a point's; null: the program's.
Operation *ownerOf(AllocOp alloc) {
  Operation *around = alloc->getParentOp();
  while (around && !isa<ThreadsOp, TogetherOp, ParallelOp>(around))
    around = around->getParentOp();
  return around;
}

/// A single number of a thread's own, or of a point's: it stays one.
bool isVariable(AllocOp alloc) {
  return isa_and_present<ThreadsOp, ParallelOp>(ownerOf(alloc)) &&
         llvm::all_of(alloc->getUsers(), [](Operation *user) { return isa<ElementLoadOp, ElementStoreOp>(user); }) &&
         llvm::all_of(alloc.getType().getShape(), [](int64_t n) { return n == 1; });
}

class Promotion {
public:
  explicit Promotion(AllocOp alloc)
      : buffer(alloc.getResult()), type(isVariable(alloc) ? buffer.getType().getElementType() : buffer.getType().getTileType()),
        builder(alloc) {
    for (Operation *user : buffer.getUsers())
      for (Operation *op = user; op->getBlock() != alloc->getBlock(); op = op->getParentOp())
        (isa<BufferStoreOp, ElementStoreOp>(user) ? writers : readers).insert(op->getParentOp());
  }

  void run() { rewrite(*buffer.getDefiningOp()->getBlock(), Value(), false); }

private:
  /// Is the content needed before `op`, if it is needed after it or not?
  bool liveBefore(Operation &op, bool liveAfter) {
    if (auto store = dyn_cast<BufferStoreOp>(op); store && store.getBuffer() == buffer)
      return store.getMask() && liveAfter;
    if (auto store = dyn_cast<ElementStoreOp>(op); store && store.getBuffer() == buffer)
      return false;
    if (llvm::is_contained(op.getOperands(), Value(buffer)))
      return true;
    if (!writers.contains(&op))
      return liveAfter || readers.contains(&op);
    if (auto loop = dyn_cast<scf::ForOp>(op))
      return liveAfter || liveBefore(*loop.getBody(), liveAfter);
    if (auto loop = dyn_cast<scf::WhileOp>(op))
      return liveAtHead(loop, liveAfter);
    auto branch = cast<scf::IfOp>(op);
    bool other = branch.elseBlock() ? liveBefore(*branch.elseBlock(), liveAfter) : liveAfter;
    return other || liveBefore(*branch.thenBlock(), liveAfter);
  }
  bool liveBefore(Block &block, bool live) {
    for (Operation &op : llvm::reverse(block))
      live = liveBefore(op, live);
    return live;
  }
  bool liveAtHead(scf::WhileOp loop, bool liveAfter) {
    return liveBefore(*loop.getBeforeBody(), liveAfter || liveBefore(*loop.getAfterBody(), false));
  }

  /// Rewrites the uses in `block`, where the content is `value` on entry (null: undefined). Returns the content at its end.
  Value rewrite(Block &block, Value value, bool liveAtEnd) {
    DenseMap<Operation *, bool> liveAfter;
    bool live = liveAtEnd;
    for (Operation &op : llvm::reverse(block)) {
      liveAfter[&op] = live;
      live = liveBefore(op, live);
    }
    for (Operation &op : llvm::make_early_inc_range(block)) {
      builder.setInsertionPoint(&op);
      if (auto load = dyn_cast<BufferLoadOp>(op); load && load.getBuffer() == buffer) {
        load.replaceAllUsesWith(defined(value, op.getLoc()));
        op.erase();
      } else if (auto load = dyn_cast<ElementLoadOp>(op); load && load.getBuffer() == buffer) {
        Value whole = defined(value, op.getLoc());
        auto splat = whole.getDefiningOp<SplatOp>();
        bool isFirst = llvm::all_of(load.getIndices(), [](Value index) { return matchPattern(index, m_Zero()); });
        load.replaceAllUsesWith(!isa<RankedTensorType>(type) ? whole
                                : splat && isFirst
                                    ? splat.getValue()
                                    : ExtractOp::create(builder, op.getLoc(), load.getType(), whole, load.getIndices()));
        op.erase();
      } else if (auto store = dyn_cast<BufferStoreOp>(op); store && store.getBuffer() == buffer) {
        value = stored(store, value, liveAfter.at(&op));
        op.erase();
      } else if (auto store = dyn_cast<ElementStoreOp>(op); store && store.getBuffer() == buffer) {
        value = isa<RankedTensorType>(type) ? SplatOp::create(builder, op.getLoc(), type, store.getValue()) : store.getValue();
        op.erase();
      } else if (writers.contains(&op)) {
        value = rewriteFlow(&op, value, liveAfter.at(&op));
      } else if (readers.contains(&op)) {
        Value inside = defined(value, op.getLoc());
        for (Region &region : op.getRegions())
          for (Block &body : region)
            rewrite(body, inside, false);
      }
    }
    return value;
  }

  /// Undefined contents may be anything: zero is the cheapest that every target knows.
  Value defined(Value value, Location loc) {
    return value ? value : arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type)).getResult();
  }

  Value stored(BufferStoreOp store, Value old, bool liveAfter) {
    if (!store.getMask() || !liveAfter)
      return store.getValue();
    return arith::SelectOp::create(builder, store.getLoc(), store.getMask(), store.getValue(), defined(old, store.getLoc()));
  }

  /// Rewrites a loop or branch that writes the buffer; it carries the content if anything reads it.
  Value rewriteFlow(Operation *op, Value value, bool liveAfter) {
    bool carried = liveAfter;
    if (auto loop = dyn_cast<scf::ForOp>(op))
      carried = liveAfter || liveBefore(*loop.getBody(), false);
    else if (auto loop = dyn_cast<scf::WhileOp>(op))
      carried = liveAfter || liveAtHead(loop, false);
    if (!carried) {
      for (Region &region : op->getRegions())
        for (Block &body : region)
          rewrite(body, isa<scf::IfOp>(op) ? value : Value(), false);
      return Value();
    }
    return rewriteCarried(op, defined(value, op->getLoc()));
  }

  Value rewriteCarried(Operation *op, Value entry) {
    OperationState state(op->getLoc(), op->getName());
    state.addOperands(op->getOperands());
    if (!isa<scf::IfOp>(op))
      state.addOperands(entry);
    state.addTypes(op->getResultTypes());
    state.addTypes(type);
    state.addAttributes(op->getAttrs());
    for (unsigned i = 0; i < op->getNumRegions(); ++i)
      state.addRegion();
    Operation *next = builder.create(state);
    Value content = entry;
    for (auto [from, to] : llvm::zip(op->getRegions(), next->getRegions())) {
      to.takeBody(from);
      if (to.empty()) { // an scf.if without else
        OpBuilder::InsertionGuard guard(builder);
        builder.createBlock(&to);
        scf::YieldOp::create(builder, op->getLoc());
      }
    }
    replaceIn(writers, op, next);
    replaceIn(readers, op, next);
    for (Region &region : next->getRegions()) {
      Block &body = region.front();
      if (!isa<scf::IfOp>(next))
        content = body.addArgument(type, op->getLoc());
      Value end = rewrite(body, content, true);
      body.getTerminator()->insertOperands(body.getTerminator()->getNumOperands(), end);
    }
    op->replaceAllUsesWith(next->getResults().drop_back());
    op->erase();
    return next->getResults().back();
  }

  static void replaceIn(DenseSet<Operation *> &set, Operation *from, Operation *to) {
    if (set.erase(from))
      set.insert(to);
  }

  TypedValue<BufferType> buffer;
  Type type;
  OpBuilder builder;
  DenseSet<Operation *> writers, readers; // region ops with a store, or a load, somewhere inside
};

void promote(AllocOp alloc) {
  if (!isPromotable(alloc))
    return;
  Promotion(alloc).run();
  alloc.erase();
}

struct PromoteBuffers : PassWrapper<PromoteBuffers, OperationPass<KernelOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PromoteBuffers)
  StringRef getArgument() const final { return "promote-buffers"; }
  StringRef getDescription() const final { return "turn buffers that are read and written as a whole into tile values"; }

  void runOnOperation() final {
    SmallVector<AllocOp> allocs;
    getOperation().walk([&](AllocOp alloc) { allocs.push_back(alloc); });
    llvm::for_each(allocs, promote);
  }
};

/// Before scalar code becomes tiles, which takes values alone.
struct PromoteVariables : PassWrapper<PromoteVariables, OperationPass<KernelOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PromoteVariables)
  StringRef getArgument() const final { return "promote-variables"; }
  StringRef getDescription() const final { return "turn variables of points of tile.parallel into values"; }

  void runOnOperation() final {
    SmallVector<AllocOp> allocs;
    getOperation().walk([&](AllocOp alloc) {
      if (isVariable(alloc) && isa<ParallelOp>(ownerOf(alloc)))
        allocs.push_back(alloc);
    });
    llvm::for_each(allocs, promote);
  }
};

} // namespace

std::unique_ptr<Pass> tilery::createPromoteBuffers() { return std::make_unique<PromoteBuffers>(); }
std::unique_ptr<Pass> tilery::createPromoteVariables() { return std::make_unique<PromoteVariables>(); }
