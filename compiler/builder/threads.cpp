// Threads of a block: their region, what they carry out together, what they say to each other.
#include "compiler/analysis/divergence.h"
#include "compiler/analysis/thread_set.h"
#include "compiler/builder/impl.h"
#include "compiler/ir/warp.h"
#include "compiler/source_chain.h"
#include "tilery/region.h"
#include "mlir/Transforms/RegionUtils.h"

namespace tilery {

Value Builder::beginThreads(int64_t count) {
  auto op = impl->create<tile::ThreadsOp>(count);
  mlir::Value thread = op.getBody().emplaceBlock().addArgument(impl->b.getI32Type(), op.getLoc());
  impl->openRegion(op, op.getBody());
  return impl->wrap(thread, DType::I32);
}
// How many threads a wait is said to be of. It stands at the op, since a loop that is traced again erases what it held.
constexpr llvm::StringLiteral arrivalsName = "tile.arrivals";

// Threads that come elsewhere, too, would be waited for at several places.
static void checkArrivals(tile::SyncOp op) {
  auto stated = mlir::dyn_cast_or_null<mlir::IntegerAttr>(op->removeDiscardableAttr(arrivalsName));
  if (!stated)
    return;
  int64_t arrivals = stated.getInt();
  auto here = analysis::threadsAt(op);
  constexpr int64_t warp = tile::warpLanes;
  if (!here || int64_t(here->count()) == arrivals || int64_t(here->count() + warp - 1) / warp * warp == arrivals)
    return;
  throw Error({Diagnostic::Kind::Value,
               "a wait of " + std::to_string(arrivals) + " threads stands where " + std::to_string(here->count()) + " come",
               "all threads that wait for each other do so at one place; between places, use T.alloc_barrier",
               sourceChain(op.getLoc())});
}

// The element that is stored, if that is all which is done together.
static tile::ElementStoreOp onlyStore(tile::TogetherOp together) {
  auto ops = together.getBody().front().without_terminator();
  return together.getNumResults() == 0 && llvm::hasSingleElement(ops) ? mlir::dyn_cast<tile::ElementStoreOp>(*ops.begin())
                                                                      : tile::ElementStoreOp();
}

// Each thread reads and writes single elements of the fragment, and nothing else does: nobody sees it as one tile.
static bool isOfElements(tile::AllocOp alloc, tile::ThreadsOp threads) {
  return llvm::all_of(alloc->getUsers(), [&](mlir::Operation *user) {
    if (!threads->isAncestor(user))
      return false;
    if (auto store = mlir::dyn_cast<tile::ElementStoreOp>(user)) {
      auto together = mlir::dyn_cast<tile::TogetherOp>(store->getParentOp());
      return together && onlyStore(together) == store;
    }
    return mlir::isa<tile::ElementLoadOp>(user) && !user->getParentOfType<tile::TogetherOp>();
  });
}

// Fragments whose elements are single numbers of each thread (indices that it prefetches) are what each has for itself. True: some were
// found, and what is computed of them may be such a number, too.
static bool keepOwnFragments(tile::ThreadsOp threads) {
  analysis::Divergence divergence(threads, true);
  divergence.run();
  llvm::SetVector<tile::AllocOp> own;
  threads.walk([&](tile::TogetherOp together) {
    tile::ElementStoreOp store = onlyStore(together);
    auto alloc = store ? store.getBuffer().getDefiningOp<tile::AllocOp>() : tile::AllocOp();
    auto isAlike = [&](mlir::Value index) { return !divergence.varies(index); };
    if (alloc && divergence.varies(store.getValue()) && llvm::all_of(store.getIndices(), isAlike) && isOfElements(alloc, threads))
      own.insert(alloc);
  });
  for (tile::AllocOp alloc : own) {
    if (!threads->isAncestor(alloc))
      alloc->moveBefore(&threads.getBody().front(), threads.getBody().front().begin());
    tile::BufferType type = alloc.getType();
    alloc.getResult().setType(tile::BufferType::get(type.getShape(), type.getElementType(), tile::Space::local));
    for (mlir::Operation *user : llvm::make_early_inc_range(alloc->getUsers()))
      if (auto store = mlir::dyn_cast<tile::ElementStoreOp>(user)) {
        mlir::Operation *together = store->getParentOp();
        store->moveBefore(together);
        together->erase();
      }
  }
  return !own.empty();
}

// An element of a fragment at a place that hangs on the thread's index is stored by that thread, as one of shared memory is: the
// fragment is the block's, and each thread has its part of it.
static void storeByThread(tile::ThreadsOp threads) {
  analysis::Divergence divergence(threads, true);
  divergence.run();
  llvm::SmallVector<tile::TogetherOp> single;
  threads.walk([&](tile::TogetherOp together) {
    tile::ElementStoreOp store = onlyStore(together);
    if (store && llvm::any_of(store.getIndices(), [&](mlir::Value index) { return divergence.varies(index); }))
      single.push_back(together);
  });
  for (tile::TogetherOp together : single) {
    onlyStore(together)->moveBefore(together);
    together->erase();
  }
}

// What all threads do together is done once: what it takes from them must be the same in all.
static void checkAlike(tile::ThreadsOp threads) {
  analysis::Divergence divergence(threads, true);
  divergence.run();
  threads.walk([&](tile::TogetherOp op) {
    llvm::SetVector<mlir::Value> taken;
    mlir::getUsedValuesDefinedAbove(op.getBody(), taken);
    if (llvm::any_of(taken, [&](mlir::Value value) { return !divergence.isOwn(value) && divergence.varies(value); }))
      throw Error({Diagnostic::Kind::Value, "all threads carry this out together, but it depends on the index of the thread",
                   "what each thread does for itself is a loop over elements, of tensors, T.alloc_shared or T.alloc_local",
                   sourceChain(op.getLoc())});
  });
}

bool variesByThread(const Value &value) {
  llvm::SmallVector<mlir::Value> work{toMlir(value.handle)};
  llvm::DenseSet<mlir::Value> seen;
  while (!work.empty()) {
    mlir::Value next = work.pop_back_val();
    if (!seen.insert(next).second)
      continue;
    mlir::Operation *op = next.getDefiningOp();
    if (!op) { // the bounds of a loop stand for its index
      op = next.getParentBlock()->getParentOp();
      if (mlir::isa<tile::ThreadsOp, mlir::scf::WhileOp>(op))
        return true;
      if (auto loop = mlir::dyn_cast<mlir::scf::ForOp>(op))
        work.append(loop->operand_begin(), loop->operand_end());
      continue;
    }
    if (mlir::isa<tile::TogetherOp>(op))
      continue;
    auto load = mlir::dyn_cast<tile::ElementLoadOp>(op);
    auto threads = op->getParentOfType<tile::ThreadsOp>();
    bool own = load && threads && analysis::Divergence(threads, false).isOwn(load.getBuffer());
    if (own || op->getNumRegions() ||
        mlir::isa<tile::ShuffleOp, tile::WarpDotOp, tile::AtomicRmwOp, tile::AtomicCasOp, tile::ElementUpdateOp>(op))
      return true;
    work.append(op->operand_begin(), op->operand_end());
  }
  return false;
}

void Builder::endThreads() {
  auto threads = mlir::cast<tile::ThreadsOp>(impl->top("threads region").op);
  impl->endBody("threads region");
  threads.walk(checkArrivals);
  while (keepOwnFragments(threads))
    ;
  storeByThread(threads);
  checkAlike(threads);
  placeSyncs(threads);
}
bool Builder::inThreads() const { return impl->runsThreads(); }

void Builder::beginTogether() {
  auto op = impl->create<tile::TogetherOp>(mlir::TypeRange());
  op.getBody().emplaceBlock();
  impl->openRegion(op, op.getBody());
}

std::vector<Value> Builder::endTogether(const std::vector<Value> &yields) {
  auto bare = mlir::cast<tile::TogetherOp>(impl->top("together region").op);
  auto values = impl->raw(yields);
  impl->endBody("together region", values);
  if (yields.empty())
    return {};
  auto op = impl->create<tile::TogetherOp>(mlir::ValueRange(values).getTypes());
  op.getBody().takeBody(bare.getBody());
  bare.erase();
  std::vector<Value> results;
  for (auto [value, result] : llvm::zip(yields, op.getResults()))
    results.push_back(impl->like(result, value.type));
  return results;
}

void Builder::endParallel() {
  impl->endBody("parallel region");
  if (impl->parallelTogether && impl->frames.back().op == impl->parallelTogether) {
    impl->parallelTogether = nullptr;
    endTogether({});
  }
}

void Builder::sync(int64_t width, int64_t arrivals) {
  if (!impl->runsThreads())
    return;
  auto op = impl->create<tile::SyncOp>(width);
  if (arrivals)
    op->setDiscardableAttr(arrivalsName, impl->b.getI64IntegerAttr(arrivals));
}

static void requireThreads(Builder &self, const Builder::Impl &impl, const char *what) {
  if (!impl.runsThreads())
    self.fail(Diagnostic::Kind::Value,
              std::string(what) + " is between the threads of a block: it cannot stand in a T.Parallel loop");
}

Value Builder::shuffle(ShuffleMode mode, const Value &value, const Operand &lane, int64_t width) {
  requireThreads(*this, *impl, "a shuffle");
  auto kind = static_cast<tile::ShuffleMode>(mode);
  mlir::Value own = impl->raw(value);
  return impl->like(impl->create<tile::ShuffleOp>(own.getType(), kind, own, impl->raw(cast(lane, DType::I32)), width),
                    value.type);
}

std::vector<Value> Builder::warpDot(const std::vector<Value> &a, const std::vector<Value> &b, const std::vector<Value> &c) {
  requireThreads(*this, *impl, "a product of a warp");
  auto sums = impl->raw(c);
  auto op = impl->create<tile::WarpDotOp>(mlir::ValueRange(sums).getTypes(), impl->raw(a), impl->raw(b), sums,
                                          isUnsigned(a.front().dtype()), isUnsigned(b.front().dtype()));
  std::vector<Value> results;
  for (mlir::Value result : op.getResult())
    results.push_back(impl->like(result, c.front().type));
  return results;
}

Value Builder::vote(VoteMode mode, const Operand &predicate, int64_t width) {
  requireThreads(*this, *impl, "a vote");
  bool answers = mode == VoteMode::Any || mode == VoteMode::All;
  mlir::Type type = impl->elementType(answers ? DType::Bool : DType::I32);
  mlir::Value holds = impl->raw(cast(predicate, DType::Bool));
  return impl->wrap(impl->create<tile::VoteOp>(type, static_cast<tile::VoteMode>(mode), holds, width), answers ? DType::Bool
                                                                                                       : mode == VoteMode::Ballot
                                                                                                           ? DType::U32
                                                                                                           : DType::I32);
}

} // namespace tilery
