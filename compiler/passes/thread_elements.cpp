// Loops of threads in lockstep over a few elements each.
#include "compiler/ir/hints.h"
#include "compiler/analysis/integer_op.h"
#include "compiler/passes/thread_conversion.h"

using namespace mlir;
using namespace tilery;
using namespace tilery::tile;

namespace {
/// Whether an index hangs on a counter of a loop in `loop`, or on what it carries.
bool hangsOnInner(Value value, scf::ForOp loop) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return argument != loop.getInductionVar() && loop->isAncestor(argument.getOwner()->getParentOp());
  Operation *op = value.getDefiningOp();
  if (!loop->isProperAncestor(op))
    return false;
  return op->getNumRegions() || !isPure(op) || llvm::any_of(op->getOperands(), [&](Value v) { return hangsOnInner(v, loop); });
}
} // namespace

// Worth it where neighbours in memory become neighbours in tiles: the counter alone walks a dimension of each buffer, the last one of
// each tensor. Beside threads in one coordinate it would be no window, but where both number all elements of a line.
bool ThreadConversion::isPlain(ValueRange indices, bool global, int64_t line) {
  for (auto [k, index] : llvm::enumerate(indices)) {
    auto form = affine.read(index);
    if (!form)
      return false;
    if (form->coefficients.back() == 0)
      continue;
    bool walks = form->walks() || (line && form->coefficients.back() == 1 && !digits(*form, line).empty());
    if (global ? k + 1 != indices.size() || form->coefficients.back() != 1 : !walks)
      return false;
  }
  return true;
}

bool ThreadConversion::isIndependent(scf::ForOp loop) {
  if (loop.getNumResults())
    return false;
  bool promised = hint(loop, "vectorize").has_value();
  DenseSet<Value> before = varying;
  varying.insert(loop.getInductionVar());
  findVarying();
  affine.grow(*analysis::constantOf(loop.getUpperBound()));
  affine.know(loop.getInductionVar(), affine.position(box.size()));
  OpBuilder::InsertionGuard guard(builder);
  Block asked; // what reading an index builds is for nothing: the body has not been converted yet
  builder.setInsertionPointToEnd(&asked);
  auto moves = [&](Value index) {
    if (hangsOnInner(index, loop))
      return false;
    auto form = affine.read(index);
    return form && form->coefficients.back() != 0;
  };
  DenseMap<Value, ValueRange> stored;
  bool writes = false, reads = false;
  WalkResult walked = loop.getBody()->walk([&](Operation *inner) {
    if (auto store = dyn_cast<ElementStoreOp>(inner)) {
      auto [entry, fresh] = stored.try_emplace(store.getBuffer(), store.getIndices());
      bool same = llvm::equal(entry->second, store.getIndices()) && isPlain(store.getIndices(), false);
      return same && llvm::any_of(store.getIndices(), moves) ? WalkResult::advance() : WalkResult::interrupt();
    }
    if (auto store = dyn_cast<StoreOp>(inner)) {
      auto view = store.getPlace().getDefiningOp<ViewOp>();
      writes = true;
      return view && isPlain(view.getStarts(), true) && llvm::any_of(view.getStarts(), moves) ? WalkResult::advance()
                                                                                              : WalkResult::interrupt();
    }
    reads |= isa<LoadOp>(inner);
    if (auto load = dyn_cast<ElementLoadOp>(inner); load && !isPlain(load.getIndices(), false))
      return WalkResult::interrupt();
    if (auto view = dyn_cast<ViewOp>(inner); view && !isPlain(view.getStarts(), true))
      return WalkResult::interrupt();
    bool plain = isa<scf::ForOp, ElementLoadOp, LoadOp>(inner) || (inner->getNumRegions() == 0 && isPure(inner));
    return plain ? WalkResult::advance() : WalkResult::interrupt();
  });
  bool independent = !walked.wasInterrupted() && (promised || !(reads && writes));
  if (independent)
    loop.getBody()->walk([&](ElementLoadOp load) {
      auto found = stored.find(load.getBuffer());
      independent &= found == stored.end() || llvm::equal(found->second, load.getIndices());
    });
  affine.shrink();
  affine.forget(loop.getInductionVar());
  asked.dropAllReferences();
  if (!independent)
    varying = std::move(before);
  return independent;
}

bool ThreadConversion::convertBox(scf::ForOp loop, int64_t extent) {
  affine.grow(extent);
  box.push_back(extent);
  unsigned d = box.size() - 1;
  Value counter = loop.getInductionVar();
  affine.know(counter, affine.position(d));
  Value outer = mask;
  map.map(counter, positions(d, counter.getType(), loop.getLoc()));
  if (mask)
    mask = padded(mask);
  bool ok = convert(*loop.getBody());
  mask = outer;
  box.pop_back();
  affine.shrink();
  return ok;
}

/// The elements of a buffer of one dimension; else 0.
static int64_t lineOf(TypedValue<BufferType> buffer) {
  return buffer.getType().getRank() == 1 && buffer.getDefiningOp<AllocOp>() ? buffer.getType().getShape()[0] : 0;
}

/// While it lives, the turns of a loop are one more dimension of the box.
struct ThreadConversion::Turns {
  Turns(ThreadConversion &conversion, scf::ForOp loop, int64_t trips)
      : c(conversion), counter(loop.getInductionVar()), before(c.varying) {
    c.varying.insert(counter);
    c.findVarying();
    c.affine.grow(trips);
    c.box.push_back(trips);
    c.affine.know(counter, c.affine.position(c.box.size() - 1));
  }
  ~Turns() {
    c.box.pop_back();
    c.affine.shrink();
    c.affine.forget(counter);
    c.varying = std::move(before);
  }
  ThreadConversion &c;
  Value counter;
  DenseSet<Value> before;
};

namespace {
/// Ops of a loop's body that `values` are computed from, in their order; none from what the loop carries, none below `known`.
bool collectBelow(Value value, scf::ForOp loop, const DenseSet<Value> &known, SetVector<Operation *> &ops) {
  if (known.contains(value))
    return true;
  if (auto argument = dyn_cast<BlockArgument>(value))
    return argument == loop.getInductionVar() || argument.getOwner() != loop.getBody();
  Operation *op = value.getDefiningOp();
  if (op->getBlock() != loop.getBody() || ops.contains(op))
    return true;
  bool own = true;
  for (Value operand : op->getOperands())
    own &= collectBelow(operand, loop, known, ops);
  ops.insert(op);
  return own;
}
} // namespace

// A sum of products of elements in pieces: the products are computed as they lie, and only they are turned round for the chain, which
// wants the same element of all threads side by side.
SmallVector<Value> ThreadConversion::computedAhead(scf::ForOp loop, int64_t trips) {
  DenseSet<Value> ofThreads = varying;
  Turns turns(*this, loop, trips);
  Block &body = *loop.getBody();
  bool reads = llvm::all_of(body.without_terminator(), [](Operation &inner) {
    auto load = dyn_cast<LoadOp>(inner);
    return isa<ElementLoadOp, ViewOp>(inner) || (load && !load.getIsVolatile()) || isPure(&inner);
  });
  DenseSet<Value> carried(loop.getRegionIterArgs().begin(), loop.getRegionIterArgs().end());
  for (Operation &inner : body.without_terminator())
    if (llvm::any_of(inner.getOperands(), [&](Value v) { return carried.contains(v); }))
      carried.insert(inner.result_begin(), inner.result_end());
  OpBuilder::InsertionGuard guard(builder);
  Block asked;
  builder.setInsertionPointToEnd(&asked);
  auto fits = [&](Value value) { // computed from elements that lie side by side
    SetVector<Operation *> below;
    if (!collectBelow(value, loop, {}, below))
      return false;
    unsigned moving = 0;
    for (Operation *op : below) {
      auto load = dyn_cast<ElementLoadOp>(op);
      auto view = dyn_cast<ViewOp>(op);
      if (!load && !view) {
        if (!isa<LoadOp>(op) && !OpTrait::hasElementwiseMappableTraits(op))
          return false;
        continue;
      }
      ValueRange indices = load ? ValueRange(load.getIndices()) : ValueRange(view.getStarts());
      if (!isPlain(indices, bool(view), load && !own.contains(load.getBuffer()) ? lineOf(load.getBuffer()) : 0))
        return false;
      moving += llvm::any_of(indices, [&](Value index) { return affine.read(index)->coefficients.back() != 0; });
    }
    return moving > 0;
  };
  SmallVector<Value> found;
  if (reads)
    for (Operation &inner : body.without_terminator())
      if (inner.getNumResults() == 1 && !carried.contains(inner.getResult(0)) && ofThreads.contains(inner.getResult(0)) &&
          OpTrait::hasElementwiseMappableTraits(&inner) &&
          llvm::any_of(inner.getUsers(),
                       [&](Operation *user) { return isa<scf::YieldOp>(user) || carried.contains(user->getResult(0)); }) &&
          fits(inner.getResult(0)))
        found.push_back(inner.getResult(0));
  asked.dropAllReferences();
  return found;
}

bool ThreadConversion::convertAhead(scf::ForOp loop, int64_t trips, ArrayRef<Value> ahead, ValueMap &buffers) {
  Turns turns(*this, loop, trips);
  map.map(loop.getInductionVar(), positions(box.size() - 1, loop.getInductionVar().getType(), loop.getLoc()));
  Value outer = mask;
  if (mask)
    mask = padded(mask);
  SetVector<Operation *> ops;
  for (Value value : ahead)
    collectBelow(value, loop, {}, ops);
  bool ok = llvm::all_of(ops, [&](Operation *op) { return convert(*op); });
  for (Value value : ahead) {
    if (!ok)
      break;
    auto type = BufferType::get(box, value.getType(), Space::local);
    Value buffer = AllocOp::create(builder, value.getLoc(), type);
    BufferStoreOp::create(builder, value.getLoc(), buffer, spread(lookup(value), box), Value());
    buffers[value] = buffer;
  }
  mask = outer;
  return ok;
}

// What such a loop carries then stays in vector registers, as one chain of a nest.
bool ThreadConversion::isShort(scf::ForOp loop, int64_t trips) {
  constexpr int64_t mostTrips = 16, mostOps = 256;
  int64_t ops = 0;
  for (Operation &inner : loop.getBody()->without_terminator())
    if (inner.getNumRegions() || ++ops * trips > mostOps)
      return false;
  return trips > 1 && trips <= mostTrips;
}

bool ThreadConversion::readsOwn(scf::ForOp loop) {
  return llvm::any_of(loop.getBody()->getOps<ElementLoadOp>(), [&](ElementLoadOp load) {
    return own.contains(load.getBuffer()) && !llvm::all_of(load.getIndices(), analysis::constantOf);
  });
}

Value ThreadConversion::elementsAt(Value buffer, int64_t n) {
  Location loc = buffer.getLoc();
  auto whole = cast<BufferType>(buffer.getType());
  auto type = BufferType::get(box, whole.getElementType(), whole.getSpace());
  auto number = [&](int64_t n) -> Value { return arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(n)); };
  SmallVector<Value> offsets(box.size(), number(0));
  offsets.push_back(number(n));
  Value view = SubviewOp::create(builder, loc, type, buffer, offsets, llvm::to_vector(llvm::seq<int64_t>(box.size())));
  return BufferLoadOp::create(builder, loc, type.getTileType(), view);
}

bool ThreadConversion::convertUnrolled(scf::ForOp loop, int64_t from, int64_t trips, int64_t step, ArrayRef<Value> early) {
  Value counter = loop.getInductionVar();
  ValueMap ahead;
  if (!early.empty() && !convertAhead(loop, trips, early, ahead))
    return false;
  DenseSet<Value> known;
  for (auto &[value, buffer] : ahead)
    known.insert(value);
  SetVector<Operation *> rest;
  for (Value yielded : loop.getYieldedValues())
    collectBelow(yielded, loop, known, rest);
  SmallVector<Value> carried(loop.getInitArgs());
  for (Value &value : carried)
    value = lookup(value);
  for (int64_t n = from; trips-- > 0; n += step) {
    Affine form;
    form.coefficients.resize(box.size());
    form.constant = n;
    affine.know(counter, form);
    map.map(counter, arith::ConstantOp::create(builder, loop.getLoc(), builder.getIntegerAttr(counter.getType(), n)));
    for (auto [arg, value] : llvm::zip(loop.getRegionIterArgs(), carried))
      map.map(arg, varying.contains(arg) ? spread(value, box) : value);
    for (auto &[value, buffer] : ahead)
      map.map(value, elementsAt(buffer, n));
    if (ahead.empty() ? !convert(*loop.getBody()) : !llvm::all_of(rest, [&](Operation *op) { return convert(*op); }))
      return false;
    for (auto [value, yielded] : llvm::zip(carried, loop.getYieldedValues()))
      value = lookup(yielded);
  }
  affine.forget(counter);
  for (auto [result, value] : llvm::zip(loop.getResults(), carried))
    map.map(result, varying.contains(result) ? spread(value, box) : value);
  return true;
}
