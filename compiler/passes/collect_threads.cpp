// collect-threads: threads that unpack, or copy, into memory of the block amid its products become loops over what they fill.
//
// Where that is all which threads do for themselves, the block has one thread of control, and its product the loop that programs without
// threads have: copies ahead, tensor cores, factors unpacked in registers. Arrays of a thread's own, in which elements wait between two
// loops, are values then. Elsewhere statements of all threads together that follow each other become one.
#include "compiler/analysis/divergence.h"
#include "compiler/analysis/index_polynomial.h"
#include "compiler/passes/parallel_affine.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/thread_windows.h"
#include "compiler/passes/unroll_arrays.h"
#include <set>

using namespace mlir;
using namespace tilery;
using namespace tilery::tile;

namespace {

bool hasProduct(ThreadsOp threads) {
  return threads->walk([](DotOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

/// Elements of a thread's own arrays that are read where they were written before in the same block are values. Arrays that nobody
/// reads any more go.
class OwnElements {
public:
  explicit OwnElements(ThreadsOp threads) {
    threads.walk([&](AllocOp array) {
      auto isElement = [&](Operation *user) {
        auto store = dyn_cast<ElementStoreOp>(user);
        return isa<ElementLoadOp>(user) || (store && store.getBuffer() == array.getResult());
      };
      if (array.getType().getSpace() != Space::local || !llvm::all_of(array->getUsers(), isElement))
        return;
      arrays.insert(array);
      for (Operation *user : array->getUsers())
        for (Operation *op = user->getParentOp(); op != threads && around.insert(op).second; op = op->getParentOp())
          ;
    });
  }

  void forward(Block &block) {
    std::map<std::pair<const void *, SmallVector<int64_t>>, Value> written;
    for (Operation &op : llvm::make_early_inc_range(block)) {
      if (auto store = dyn_cast<ElementStoreOp>(op); store && arrays.contains(store.getBuffer())) {
        if (auto place = placeOf(store.getBuffer(), store.getIndices()))
          written[*place] = store.getValue();
        else
          written.clear();
      } else if (auto load = dyn_cast<ElementLoadOp>(op); load && arrays.contains(load.getBuffer())) {
        auto place = placeOf(load.getBuffer(), load.getIndices());
        if (auto found = place ? written.find(*place) : written.end(); found != written.end()) {
          load.replaceAllUsesWith(found->second);
          load.erase();
        }
      } else if (around.contains(&op)) {
        for (Region &region : op.getRegions())
          for (Block &inner : region)
            forward(inner);
        written.clear();
      }
    }
  }

  void erase() {
    for (Value array : arrays) {
      if (llvm::any_of(array.getUsers(), llvm::IsaPred<ElementLoadOp>))
        continue;
      for (Operation *store : llvm::make_early_inc_range(array.getUsers()))
        store->erase();
      array.getDefiningOp()->erase();
    }
  }

private:
  using Place = std::pair<const void *, SmallVector<int64_t>>;
  static std::optional<Place> placeOf(TypedValue<BufferType> array, ValueRange indices) {
    Place place{array.getAsOpaquePointer(), {}};
    for (auto [index, size] : llvm::zip_equal(indices, array.getType().getShape())) {
      std::optional<int64_t> number = foldedNumber(index);
      if (!number || *number < 0 || *number >= size)
        return std::nullopt;
      place.second.push_back(*number);
    }
    return place;
  }

  SetVector<Value> arrays;
  DenseSet<Operation *> around; // their elements' accesses
};

/// How many threads further the code's divisors take the number of a thread apart: `(8 * t + i) // 32` at 4.
SmallVector<int64_t> stridesOf(ThreadsOp threads) {
  Value thread = threads.getBody().getArgument(0);
  std::set<int64_t> divisors;
  threads.walk([&](Operation *op) {
    std::optional<Division> division = op->getNumResults() == 1 ? divisionOf(op->getResult(0)) : std::nullopt;
    if (!division)
      return;
    analysis::IndexPolynomial rest, number = analysis::polynomialOf(division->number);
    std::optional<int64_t> factor = number.coefficient(thread, rest).constant();
    if (factor && *factor > 0 && division->by % *factor == 0)
      divisors.insert(division->by / *factor);
  });
  int64_t count = threads.getCount();
  SmallVector<int64_t> strides{1};
  for (int64_t divisor : divisors)
    if (divisor > 1 && divisor < count && count % divisor == 0 && divisor % strides.front() == 0)
      strides.insert(strides.begin(), divisor);
  return strides;
}

/// Whether threads store what they compute of their own numbers: such programs stay threads' (on an H200 some, whose elements lie half a
/// window apart, were wrong as loops, for a reason that is not known yet).
bool storesNumbers(ThreadsOp threads) {
  DenseSet<Value> ofNumber{threads.getBody().getArgument(0)};
  bool found = false;
  threads.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (auto store = dyn_cast<ElementStoreOp>(op))
      found |= ofNumber.contains(store.getValue());
    else if (auto store = dyn_cast<StoreOp>(op))
      found |= ofNumber.contains(store.getValue());
    else if (!isa<ElementLoadOp, LoadOp>(op) && llvm::any_of(op->getOperands(), [&](Value v) { return ofNumber.contains(v); }))
      ofNumber.insert(op->result_begin(), op->result_end());
  });
  return found;
}

/// True if nothing in the block is a thread's own: what it does, all do alike, or together.
bool isAlike(Block &block, const analysis::Divergence &divergence) {
  return llvm::all_of(block.without_terminator(), [&](Operation &op) {
    if (isa<TogetherOp, SyncOp>(op))
      return true;
    if (divergence.anyVaries(op.getResults()) || divergence.anyVaries(op.getOperands()))
      return false;
    if (isa<scf::ForOp, scf::IfOp>(op))
      return llvm::all_of(op.getRegions(), [&](Region &region) {
        return llvm::all_of(region, [&](Block &inner) { return isAlike(inner, divergence); });
      });
    auto load = dyn_cast<LoadOp>(op);
    return load ? !load.getIsVolatile() : isa<ElementLoadOp>(op) || (isPure(&op) && op.getNumRegions() == 0);
  });
}

/// The block's code without its threads.
void dissolve(ThreadsOp threads) {
  SmallVector<Operation *> inner;
  threads.walk([&](Operation *op) {
    if (isa<TogetherOp, SyncOp>(op))
      inner.push_back(op);
  });
  for (Operation *op : inner) {
    if (auto together = dyn_cast<TogetherOp>(op)) {
      Block &body = together.getBody().front();
      SmallVector<Value> results(body.getTerminator()->getOperands());
      body.getTerminator()->erase();
      op->getBlock()->getOperations().splice(op->getIterator(), body.getOperations());
      op->replaceAllUsesWith(results);
    }
    op->erase();
  }
  Block &body = threads.getBody().front();
  body.getTerminator()->erase();
  threads->getBlock()->getOperations().splice(threads->getIterator(), body.getOperations());
  threads.erase();
}

/// Statements that all threads carry out together, one right behind the other, are one: threads meet once, and what the second one loads is
/// asked for with what the first one does.
void joinMeetings(Block &block) {
  TogetherOp before;
  SmallVector<Operation *> between;
  for (Operation &op : llvm::make_early_inc_range(block)) {
    auto together = dyn_cast<TogetherOp>(op);
    bool joins = together && before && !together->getNumResults();
    if (joins) {
      for (Operation *value : between)
        value->moveBefore(before);
      Block &body = before.getBody().front();
      auto more = together.getBody().front().without_terminator();
      body.getOperations().splice(body.getTerminator()->getIterator(), together.getBody().front().getOperations(), more.begin(),
                                  more.end());
      together.erase();
    } else if (together) {
      before = together->getNumResults() ? TogetherOp() : together;
    } else if (!isPure(&op) || op.getNumRegions()) {
      for (Region &region : op.getRegions())
        for (Block &inner : region)
          joinMeetings(inner);
      before = {};
    }
    if (together)
      between.clear();
    else if (before)
      between.push_back(&op);
  }
}

struct CollectThreads : PassWrapper<CollectThreads, OperationPass<KernelOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CollectThreads)
  StringRef getArgument() const final { return "collect-threads"; }
  StringRef getDescription() const final { return "what threads fill amid the products of a block is a loop over it"; }
  void getDependentDialects(DialectRegistry &registry) const final { registry.insert<arith::ArithDialect, scf::SCFDialect>(); }

  void runOnOperation() final {
    SmallVector<ThreadsOp> found;
    getOperation().walk([&](ThreadsOp threads) {
      if (!threads->getParentOfType<RolesOp>() && hasProduct(threads) && !storesNumbers(threads))
        found.push_back(threads);
    });
    for (ThreadsOp threads : found)
      convert(threads);
    getOperation().walk([](ThreadsOp threads) {
      if (!threads->getParentOfType<RolesOp>())
        joinMeetings(threads.getBody().front());
    });
  }

private:
  /// Leaves the threads as they were if they do more.
  static void convert(ThreadsOp threads) {
    Operation *before = threads->clone();
    unrollArrays(threads);
    OwnElements elements(threads);
    elements.forward(threads.getBody().front());
    elements.erase();
    collectWindows(threads, stridesOf(threads), /*inMemory=*/true);
    SmallVector<Operation *> left;
    threads.walk<WalkOrder::PreOrder>([&](Operation *op) { left.push_back(op); });
    for (Operation *op : llvm::reverse(ArrayRef(left).drop_front()))
      if (isOpTriviallyDead(op))
        op->erase();
    analysis::Divergence divergence(threads, false);
    divergence.run();
    if (isAlike(threads.getBody().front(), divergence)) {
      dissolve(threads);
      before->destroy();
    } else {
      OpBuilder(threads).insert(before);
      threads.erase();
    }
  }
};

} // namespace

std::unique_ptr<Pass> tilery::createCollectThreads() { return std::make_unique<CollectThreads>(); }
