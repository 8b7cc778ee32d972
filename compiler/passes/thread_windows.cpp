// Hand-written pipelines have threads gather rows: each loads an index, and copies some elements of the row that it names, in loops over
// rows and columns. Thread by thread that is a loop of small steps; as a loop over the window it is the gather that other programs write.
#include "compiler/passes/thread_windows.h"
#include "compiler/analysis/divergence.h"
#include "compiler/analysis/integer_op.h"
#include "compiler/passes/thread_sums.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include <map>

using namespace mlir;
using namespace tilery;
using namespace tilery::tile;
using passes::Sum;
using passes::ThreadSums;

namespace {

/// Stores of elements into one buffer or tensor, those of a thread side by side: what differs between them differs as digits of their
/// numbers do.
struct Family {
  SmallVector<Operation *> stores;
  SmallVector<unsigned> number;              // the digits of a store's number
  SmallVector<Sum> begin;                    // of the window
  SmallVector<SmallVector<unsigned>> digits; // of each of the buffer's dimensions, the least significant first

  ElementStoreOp toBuffer() const { return dyn_cast<ElementStoreOp>(stores[0]); }
};

/// The view of one element that a store fills in memory; null: it is another kind of place.
ViewOp elementOf(StoreOp store) {
  auto view = store.getPlace().getDefiningOp<ViewOp>();
  return view && view.getDims().empty() && view.getLimits().empty() && !view.getResidual() && !store.getIsVolatile() ? view
                                                                                                                     : ViewOp();
}

ValueRange indicesOf(Operation *store) {
  if (auto element = dyn_cast<ElementStoreOp>(store))
    return element.getIndices();
  return elementOf(cast<StoreOp>(store)).getStarts();
}

Value storedBy(Operation *store) {
  auto element = dyn_cast<ElementStoreOp>(store);
  return element ? element.getValue() : cast<StoreOp>(store).getValue();
}

/// One family's loop: computes at a place of the window what the thread would that stores there.
class Body {
public:
  Body(OpBuilder &b, Location loc, ThreadSums &sums, const Family &family, ArrayRef<Value> counters)
      : b(b), loc(loc), sums(sums), family(family), counters(counters) {}

  /// Null: it hangs on more than the place.
  Value make(ArrayRef<Value> same) {
    if (llvm::all_equal(same) && sums.isAlike(same[0]))
      return same[0];
    std::vector<const void *> key;
    for (Value value : same)
      key.push_back(value.getAsOpaquePointer());
    if (auto found = done.find(key); found != done.end())
      return found->second;
    Value made;
    if (same[0].getType().isSignlessInteger())
      if (std::optional<Sum> sum = sums.ofEach(same, family.number))
        made = emit(*sum, same[0].getType());
    if (!made)
      made = copyOf(same);
    done.emplace(std::move(key), made);
    return made;
  }

  Value emit(const Sum &sum, Type type);

private:
  Value copyOf(ArrayRef<Value> same) {
    Operation *op = same[0].getDefiningOp();
    auto isAlike = [&](Value value) {
      Operation *other = value.getDefiningOp();
      return other && other->getName() == op->getName() && other->getAttrs() == op->getAttrs() &&
             other->getNumOperands() == op->getNumOperands() && value.getType() == same[0].getType() && sums.mayRepeat(other);
    };
    if (!op || op->getNumRegions() || op->getNumResults() != 1 || !llvm::all_of(same, isAlike))
      return {};
    IRMapping operands;
    SmallVector<Value> copies;
    for (unsigned i = 0; i < op->getNumOperands(); ++i) {
      copies.push_back(make(llvm::map_to_vector(same, [&](Value value) { return value.getDefiningOp()->getOperand(i); })));
      if (!copies.back())
        return {};
    }
    Operation *copy = b.clone(*op);
    copy->setOperands(copies);
    return copy->getResult(0);
  }

  OpBuilder &b;
  Location loc;
  ThreadSums &sums;
  const Family &family;
  ArrayRef<Value> counters;
  std::map<std::vector<const void *>, Value> done; // by all of the family's values
};

// Neighbouring digits of a dimension that count on as the window's index does are a part of that index: `j`, `j // 2`, `j // 2 % 8`.
Value Body::emit(const Sum &sum, Type type) {
  constexpr auto nsw = arith::IntegerOverflowFlags::nsw;
  Type wide = type.getIntOrFloatBitWidth() < 32 ? b.getI32Type() : type; // of an index: parts are taken before bits are left out
  auto number = [&](int64_t n) { return arith::ConstantOp::create(b, loc, b.getIntegerAttr(wide, n)).getResult(); };
  auto sized = [&](Value value, Type to) {
    unsigned from = value.getType().getIntOrFloatBitWidth(), bits = to.getIntOrFloatBitWidth();
    return from == bits  ? value
           : from < bits ? arith::ExtSIOp::create(b, loc, to, value).getResult()
                         : arith::TruncIOp::create(b, loc, to, value).getResult();
  };
  Value total;
  auto add = [&](Value value, int64_t factor) {
    if (factor != 1)
      value = arith::MulIOp::create(b, loc, value, number(factor), nsw);
    total = total ? arith::AddIOp::create(b, loc, total, value, nsw).getResult() : value;
  };
  Sum rest = sum;
  for (auto [digits, counter] : llvm::zip_equal(family.digits, counters)) {
    SmallVector<int64_t> factors;
    for (unsigned digit : digits) {
      Sum others;
      factors.push_back(rest.coefficient(digit, others).constant().value_or(0));
      if (others.uses(digit) || !(rest - others - Sum(factors.back()) * Sum::of(digit)).isZero())
        return {};
      rest = others;
    }
    int64_t below = 1; // of the digits before `i`
    for (size_t i = 0, end; i < digits.size(); i = end) {
      int64_t count = sums.extent(digits[i]);
      for (end = i + 1; end < digits.size() && factors[end] == factors[i] * count; ++end)
        count *= sums.extent(digits[end]);
      if (factors[i]) {
        Value part = sized(counter, wide);
        if (below > 1)
          part = DivOp::create(b, loc, wide, part, number(below), IntDivMode::floor);
        if (end < digits.size())
          part = RemOp::create(b, loc, wide, part, number(count), IntDivMode::floor);
        add(part, factors[i]);
      }
      below *= count;
    }
  }
  for (auto &[atoms, factor] : rest.terms()) {
    if (atoms.size() > 1 || (atoms.size() == 1 && sums.isDigit(atoms[0])))
      return {};
    if (atoms.empty())
      add(number(factor), 1);
    else
      add(sized(sums.atom(atoms[0]), wide), factor);
  }
  return sized(total ? total : number(0), type);
}

/// Ops of a block that follow each other, and do nothing but compute, load and store elements.
class Run {
public:
  Run(ThreadsOp threads, ArrayRef<Operation *> ops, const analysis::Divergence &divergence, ArrayRef<int64_t> strides)
      : ops(ops), sums(threads, ops, divergence, strides) {}

  /// False: the run is left as it is.
  bool convert() {
    if (!collect() || !llvm::all_of(families, [&](auto &entry) { return findWindow(entry.second); }) || !readsAreStored())
      return false;
    OpBuilder b(ops.back()->getContext());
    b.setInsertionPointAfter(ops.back());
    SmallVector<Operation *> made;
    for (auto &[buffer, family] : families) {
      made.push_back(loopOver(b, family));
      if (made.back())
        continue;
      made.pop_back();
      for (Operation *op : llvm::reverse(made))
        op->erase();
      return false;
    }
    SmallVector<Operation *> done;
    for (Operation *op : ops)
      op->walk([&](Operation *inner) {
        if (isa<ElementStoreOp, StoreOp, SyncOp>(inner))
          done.push_back(inner);
      });
    for (Operation *op : done) {
      llvm::erase(ops, op);
      op->erase();
    }
    for (Operation *op : llvm::reverse(ops))
      if (isOpTriviallyDead(op))
        op->erase();
    return true;
  }

private:
  bool collect() {
    bool loads = false;
    unsigned tensors = 0;
    for (Operation *op : ops)
      op->walk([&](Operation *inner) {
        if (auto store = dyn_cast<ElementStoreOp>(inner))
          families[store.getBuffer()].stores.push_back(store);
        else if (auto store = dyn_cast<StoreOp>(inner))
          families[elementOf(store).getRoot()].stores.push_back(store);
        loads |= isa<LoadOp>(inner);
      });
    for (auto &[to, family] : families) {
      auto isBeside = [&](Operation *store) { return store->getBlock() == family.stores[0]->getBlock(); };
      if (!llvm::all_of(family.stores, isBeside) || (family.toBuffer() && !to.getDefiningOp<AllocOp>()))
        return false;
      tensors += !family.toBuffer();
    }
    return !families.empty() && (tensors == 0 || (tensors == 1 && !loads)); // other tensors' elements may be the same
  }

  bool findWindow(Family &family) {
    family.number = sums.addNumber(int64_t(family.stores.size()));
    llvm::SmallDenseSet<unsigned> used;
    for (size_t d = 0; d < indicesOf(family.stores[0]).size(); ++d) {
      auto indices = llvm::map_to_vector(family.stores, [&](Operation *store) -> Value { return indicesOf(store)[d]; });
      std::optional<Sum> index = sums.ofEach(indices, family.number);
      Sum begin;
      std::optional<SmallVector<unsigned>> digits = index ? sums.countOf(*index, begin) : std::nullopt;
      if (!digits || !llvm::all_of(*digits, [&](unsigned digit) { return used.insert(digit).second; }))
        return false;
      family.begin.push_back(begin);
      family.digits.push_back(*digits);
    }
    // Elements of one thread must not meet.
    return llvm::all_of(family.number, [&](unsigned digit) { return used.contains(digit); });
  }

  /// What is read of buffers that the run writes was stored before by whoever stores there, whenever it is read; and nobody needs it behind.
  bool readsAreStored() {
    for (Operation *op : ops) {
      auto walked = op->walk([&](ElementLoadOp load) {
        auto *found = families.find(load.getBuffer());
        if (found == families.end())
          return load.getBuffer().getDefiningOp<AllocOp>() ? WalkResult::advance() : WalkResult::interrupt();
        ElementStoreOp store = found->second.toBuffer();
        Operation *above = store->getBlock()->findAncestorOpInBlock(*load);
        bool is = found->second.stores.size() == 1 && above && store->isBeforeInBlock(above) &&
                  llvm::all_of(llvm::zip_equal(load.getIndices(), store.getIndices()), [&](auto pair) {
                    std::optional<Sum> own = sums.of(std::get<0>(pair)), other = sums.of(std::get<1>(pair));
                    return own && other && *own == *other;
                  });
        return is && staysInside(load) ? WalkResult::advance() : WalkResult::interrupt();
      });
      if (walked.wasInterrupted())
        return false;
    }
    return true;
  }
  bool staysInside(Operation *op) {
    return llvm::all_of(op->getUsers(), [&](Operation *user) {
      if (!llvm::any_of(ops, [&](Operation *top) { return top->isAncestor(user); }))
        return false;
      return isa<ElementStoreOp, StoreOp>(user) || (isa<scf::IfOp>(user) && user->getNumResults() == 0) ||
             (user->getNumRegions() == 0 && !user->hasTrait<OpTrait::IsTerminator>() && staysInside(user));
    });
  }

  /// Null: what is stored hangs on more than the place.
  Operation *loopOver(OpBuilder &outside, Family &family) {
    OpBuilder::InsertionGuard guard(outside);
    Location loc = family.stores[0]->getLoc();
    auto together = TogetherOp::create(outside, loc, TypeRange());
    OpBuilder b = OpBuilder::atBlockEnd(&together.getBody().emplaceBlock());
    SmallVector<Value> extents;
    for (ArrayRef<unsigned> digits : family.digits)
      if (!digits.empty())
        extents.push_back(arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(int32_t(sums.extentOf(digits)))));
    auto loop = ParallelOp::create(b, loc, extents);
    YieldOp::create(b, loc, ValueRange());
    Block &block = loop.getBody().emplaceBlock();
    SmallVector<Value> counters;
    for (ArrayRef<unsigned> digits : family.digits)
      counters.push_back(digits.empty() ? Value() : block.addArgument(b.getI32Type(), loc));
    b.setInsertionPointToEnd(&block);
    YieldOp::create(b, loc, ValueRange());
    b.setInsertionPointToStart(&block);
    if (!extents.empty() && store(b, family, counters))
      return together;
    together.erase();
    return nullptr;
  }

  bool store(OpBuilder &b, Family &family, ArrayRef<Value> counters) {
    Location loc = family.stores[0]->getLoc();
    Body body(b, loc, sums, family, counters);
    SmallVector<scf::IfOp> branches;
    for (Operation *op = family.stores[0]; op->getBlock() != ops[0]->getBlock(); op = op->getParentOp())
      if (auto branch = dyn_cast<scf::IfOp>(op->getParentOp())) {
        if (op->getBlock() != branch.thenBlock())
          return false;
        branches.push_back(branch);
      }
    for (scf::IfOp branch : llvm::reverse(branches)) {
      Value condition = body.make(SmallVector<Value>(family.stores.size(), branch.getCondition()));
      if (!condition)
        return false;
      b.setInsertionPointToStart(scf::IfOp::create(b, loc, condition, false).thenBlock());
    }
    Value value = body.make(llvm::map_to_vector(family.stores, storedBy));
    SmallVector<Value> indices;
    for (auto [begin, digits] : llvm::zip_equal(family.begin, family.digits))
      indices.push_back(body.emit(begin + sums.numberOf(digits), b.getI64Type()));
    if (!value || !llvm::all_of(indices, [](Value index) { return bool(index); }))
      return false;
    if (ElementStoreOp store = family.toBuffer()) {
      ElementStoreOp::create(b, loc, store.getBuffer(), indices, value);
      return true;
    }
    auto place = cast<ViewOp>(b.clone(*elementOf(cast<StoreOp>(family.stores[0]))));
    place.getStartsMutable().assign(indices);
    auto store = cast<StoreOp>(b.clone(*family.stores[0]));
    store.getPlaceMutable().assign(place);
    store.getValueMutable().assign(value);
    return true;
  }

  SmallVector<Operation *> ops;
  ThreadSums sums;
  llvm::MapVector<Value, Family> families;
};

/// What may stand in a run: it computes, loads, and stores elements of buffers from outside, in loops and branches. `inMemory`: of tensors,
/// too.
bool isPlain(Operation *op, const analysis::Divergence &divergence, bool inMemory) {
  return !op->walk([&](Operation *inner) {
              auto store = dyn_cast<ElementStoreOp>(inner);
              auto result = dyn_cast<StoreOp>(inner);
              auto load = dyn_cast<LoadOp>(inner);
              bool is = store    ? !divergence.isOwn(store.getBuffer())
                        : result ? inMemory && elementOf(result)
                        : load   ? !load.getIsVolatile()
                                 : isa<ElementLoadOp, SyncOp, scf::ForOp, scf::IfOp, scf::YieldOp>(inner) ||
                                       (inner->getNumRegions() == 0 && isMemoryEffectFree(inner) && !isa<AllocOp>(inner));
              return is ? WalkResult::advance() : WalkResult::interrupt();
            }).wasInterrupted();
}

bool storesElements(Operation *op) {
  return op
      ->walk(
          [](Operation *inner) { return isa<ElementStoreOp, StoreOp>(inner) ? WalkResult::interrupt() : WalkResult::advance(); })
      .wasInterrupted();
}

} // namespace

void tilery::ownBuffers(ThreadsOp threads) {
  SmallVector<AllocOp> found;
  threads->getParentOfType<KernelOp>().walk([&](AllocOp alloc) {
    auto roles = threads->getParentOfType<RolesOp>();
    if (alloc->getBlock() == roles->getBlock() && threads->getParentOp() == roles)
      found.push_back(alloc);
  });
  for (AllocOp alloc : found) {
    std::optional<int64_t> more;
    bool isOwn = alloc.getType().getRank() > 1 && !alloc->use_empty();
    for (Operation *user : alloc->getUsers()) {
      ValueRange indices = isa<ElementLoadOp>(user)    ? cast<ElementLoadOp>(user).getIndices()
                           : isa<ElementStoreOp>(user) ? cast<ElementStoreOp>(user).getIndices()
                                                       : ValueRange();
      isOwn &= threads->isProperAncestor(user) && !indices.empty() && passes::isNumberOf(threads, indices[0], more);
    }
    if (!isOwn)
      continue;
    OpBuilder b = OpBuilder::atBlockBegin(&threads.getBody().front());
    BufferType type = alloc.getType();
    auto local =
        AllocOp::create(b, alloc.getLoc(), BufferType::get(type.getShape().drop_front(), type.getElementType(), Space::local));
    for (Operation *user : llvm::make_early_inc_range(alloc->getUsers())) {
      user->setOperand(0, local);
      user->eraseOperand(1);
    }
    alloc.erase();
  }
}

void tilery::collectWindows(ThreadsOp threads, ArrayRef<int64_t> strides, bool inMemory) {
  analysis::Divergence divergence(threads, false);
  divergence.run();
  SmallVector<SmallVector<Operation *>> runs;
  threads.walk([&](Block *block) {
    Operation *around = block->getParentOp();
    if (around != threads && (!isa<scf::ForOp>(around) || divergence.splits(around) || divergence.isUnderSplit(around)))
      return;
    runs.emplace_back();
    for (Operation &op : *block)
      if (isPlain(&op, divergence, inMemory) && !op.hasTrait<OpTrait::IsTerminator>())
        runs.back().push_back(&op);
      else
        runs.emplace_back();
  });
  llvm::DenseSet<Operation *> gone; // with what stands around them
  for (ArrayRef<Operation *> ops : llvm::reverse(runs)) {
    if (llvm::any_of(ops, [&](Operation *op) { return gone.contains(op); }) || llvm::none_of(ops, storesElements))
      continue;
    SmallVector<Operation *> inside;
    for (Operation *op : ops)
      op->walk([&](Operation *inner) { inside.push_back(inner); });
    if (Run(threads, ops, divergence, strides).convert())
      gone.insert(inside.begin(), inside.end());
  }
}
