#include "compiler/lower/nest.h"
#include "compiler/explain/findings.h"
#include "compiler/lower/explain_plan.h"
#include "compiler/lower/interleave.h"
#include "compiler/lower/loop.h"
#include "compiler/lower/runs.h"
#include "compiler/lower/aliasing.h"
#include "compiler/lower/still_steps.h"
#include "compiler/lower/turned.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;

namespace tilery::lower {

llvm::Instruction *NestEmitter::cut() {
  auto &b = e.b;
  auto *next = llvm::BasicBlock::Create(e.context(), "", b.GetInsertBlock()->getParent());
  auto *end = b.CreateBr(next);
  b.SetInsertPoint(next);
  return end;
}

SmallVector<Lanes> NestEmitter::loop(llvm::Value *from, llvm::Value *to, int64_t step, bool whole, ArrayRef<Lanes> init,
                                     Body body, llvm::Value **last) {
  auto &b = e.b;
  auto runs = [&](llvm::Value *i) { return whole ? b.CreateICmpSLE(b.CreateAdd(i, e.i64(step)), to) : b.CreateICmpSLT(i, to); };
  llvm::Value *guard = runs(from);
  auto *fixed = llvm::dyn_cast<llvm::ConstantInt>(guard);
  if (last)
    *last = from;
  if (fixed && fixed->isZero())
    return SmallVector<Lanes>(init);

  llvm::Function *function = b.GetInsertBlock()->getParent();
  llvm::Instruction *ownEnd = rowEnd ? nullptr : cut();
  auto *before = llvm::BasicBlock::Create(e.context(), "", function);
  auto *head = llvm::BasicBlock::Create(e.context(), "loop", function);
  auto *exit = llvm::BasicBlock::Create(e.context(), "", function);
  Loop loop(b, head, exit);
  llvm::BasicBlock *skipFrom = nullptr;
  if (fixed) {
    b.CreateBr(before);
  } else {
    skipFrom = b.GetInsertBlock();
    b.CreateCondBr(guard, before, exit);
  }
  b.SetInsertPoint(before);
  loop.enter();
  llvm::PHINode *counter = loop.carry(from);
  SmallVector<Lanes> inside;
  for (Lanes value : init)
    inside.push_back(loop.carry(value));
  evaluator.levels.enter(ownEnd ? ownEnd : rowEnd);
  llvm::Instruction *outerEnd = std::exchange(rowEnd, nullptr);
  SmallVector<Lanes> carried = body(counter, inside);
  rowEnd = outerEnd;
  evaluator.levels.leave();
  llvm::Value *next = b.CreateAdd(counter, e.i64(step), "", true, true);
  llvm::BasicBlock *latch = b.GetInsertBlock();
  SmallVector<llvm::Value *> again{next};
  again.append(carried);
  loop.repeat(again, runs(next));
  loop.leave();
  SmallVector<Lanes> results;
  auto merge = [&](llvm::Value *skipped, llvm::Value *ran) -> llvm::Value * {
    llvm::PHINode *phi = b.CreatePHI(ran->getType(), 2);
    phi->addIncoming(ran, latch);
    if (skipFrom)
      phi->addIncoming(skipped, skipFrom);
    return phi;
  };
  for (auto [start, end] : llvm::zip(init, carried))
    results.push_back(merge(start, end));
  if (last)
    *last = merge(from, next);
  return results;
}

// Lanes of the widest element that is computed with; 16-bit floats are computed in 32 bits. Side by side by what is computed.
std::pair<unsigned, unsigned> NestEmitter::widthOf(const Nest &nest) const {
  unsigned bits = 8;
  llvm::SetVector<Operation *> seen;
  SmallVector<Value> work;
  for (const Sink &sink : nest.sinks) {
    if (sink.kind == Sink::Store)
      work.push_back(cast<tile::StoreOp>(sink.op).getValue());
    else if (sink.kind == Sink::BufferStore)
      work.push_back(cast<tile::BufferStoreOp>(sink.op).getValue());
    else if (sink.kind == Sink::Update)
      work.push_back(cast<tile::AtomicRmwOp>(sink.op).getValue());
    else if (sink.kind == Sink::Reduce)
      llvm::append_range(work, sink.op->getOperands());
    else if (sink.kind == Sink::Define) {
      seen.insert(sink.op);
      llvm::append_range(work, sink.op->getOperands());
      work.push_back(sink.value);
    } else if (sink.value)
      work.push_back(sink.value);
    else
      bits = std::max(bits, evaluator.e.memoryType(evaluator.plan.buffers[sink.source].element)->getScalarSizeInBits());
  }
  while (!work.empty()) {
    Value value = work.pop_back_val();
    auto tensor = dyn_cast<RankedTensorType>(value.getType());
    if (!tensor)
      continue;
    Type element = tensor.getElementType();
    unsigned own = isa<tile::PtrType>(element) ? 64 : element.getIntOrFloatBitWidth();
    if (isa<FloatType>(element))
      own = std::max(own, 32u);
    bits = std::max(bits, own);
    Operation *op = value.getDefiningOp();
    if (op && evaluator.plan.isVirtual(value) && seen.insert(op) && !isa<tile::LoadOp>(op))
      llvm::append_range(work, op->getOperands());
  }
  return {std::min(64u, e.options.target.machine.vectorBits / std::max(8u, bits)),
          vectorsSideBySide(seen.getArrayRef(), e.options.target.machine)};
}

// -- loops

bool NestEmitter::emit(const Nest &n) {
  static_cast<NestState &>(*this) = NestState();
  explain::Loops loops(&n);
  nest = &n;
  Evaluator::Body scope(evaluator);
  point.assign(n.shape.size(), evaluator.indices.constant(0));
  innerDim = n.shape.size() - 1;
  bool reduces = false, reducesRows = false; // their order of combination fixes the inner dimension
  for (const Sink &sink : n.sinks) {
    reduces |= sink.kind == Sink::Reduce;
    reducesRows |= sink.kind == Sink::Reduce && int64_t(cast<tile::ReduceOp>(sink.op).getAxis()) == int64_t(innerDim);
  }
  while (!reduces && innerDim && n.shape[innerDim] == 1)
    --innerDim;
  std::tie(lanes, sideBySide) = widthOf(n);
  unsigned ofMachine = lanes;
  if (reducesRows)
    lanes = std::min<unsigned>(lanes, llvm::PowerOf2Ceil(n.shape[innerDim]));
  Nest asRow;
  if (hasShortRows()) { // what is stored in scratch memory lies there in one piece
    ofTile = n.shape;
    asRow = {{ShapedType::getNumElements(n.shape)}, n.sinks};
    nest = &asRow;
    point.assign(1, evaluator.indices.constant(0));
    innerDim = 0;
  }
  for (const Sink &sink : n.sinks)
    if (auto reduce = dyn_cast<tile::ReduceOp>(sink.op);
        sink.kind == Sink::Reduce && int64_t(reduce.getAxis()) == int64_t(innerDim))
      reductions.emplace_back(evaluator, reduce, lanes);
  down = reducedDown();
  int64_t width = std::min<int64_t>(lanes, nest->shape[innerDim]);
  for (const Sink &sink : n.sinks)
    if (auto reduce = dyn_cast<tile::ReduceOp>(sink.op); sink.kind == Sink::Reduce && reduce)
      explain::reduction(reduce);
  explain::way(width == 1 ? "one at a time" : llvm::Twine("in vectors of ") + llvm::Twine(width));
  if (!ofTile.empty())
    explain::way("through rows");
  if (width < int64_t(ofMachine) || ShapedType::getNumElements(nest->shape) <= 2 * int64_t(ofMachine))
    explainNarrow(*nest, evaluator.plan, width, ofMachine);
  if (n.sinks[0].kind == Sink::Update)
    updating();
  else if (tile::AccessOp access = storedInRuns())
    inSegmentsOrRuns(access);
  else if (std::optional<SegmentedSquares> squares = segmentedSquares())
    inSegmentedSquares(*squares);
  else
    alongStore();
  explainNest(n, explain::waysOf(&n));
  return !evaluator.failed;
}

// Rows shorter than a vector, of tiles that are all stored in scratch memory, computed there of others at the same elements: vectors go on
// through the rows that follow.
bool NestEmitter::hasShortRows() const {
  llvm::SmallPtrSet<void *, 16> seen; // one that is not in place ends the question, so those met before are
  std::function<bool(Value)> below, inPlace = [&](Value value) {
    Operation *def = value.getDefiningOp();
    if (!seen.insert(value.getAsOpaquePointer()).second || !isa<RankedTensorType>(value.getType()) ||
        !evaluator.plan.isVirtual(value) || isa<arith::ConstantOp>(def))
      return true;
    return below(value);
  };
  below = [&](Value value) {
    Operation *def = value.getDefiningOp();
    return (isElementwise(def) || isa<tile::BroadcastOp, tile::ExpandDimsOp, tile::SplatOp, tile::SplitOp>(def)) &&
           llvm::all_of(def->getOperands(), inPlace);
  };
  ArrayRef<int64_t> shape = nest->shape;
  return !evaluator.threads && shape[innerDim] < int64_t(lanes) && ShapedType::getNumElements(shape) >= int64_t(lanes) &&
         llvm::all_of(shape.drop_front(), llvm::isPowerOf2_64) &&
         llvm::all_of(
             nest->sinks,
             [&](const Sink &sink) {
               return (sink.kind == Sink::Define && below(sink.value)) ||
                      (sink.kind == Sink::Copy && (!sink.value || inPlace(sink.value)));
             });
}

void NestEmitter::twice(llvm::Value *condition, llvm::function_ref<void(bool)> emit) {
  auto &b = e.b;
  if (auto *known = llvm::dyn_cast<llvm::ConstantInt>(condition))
    return emit(known->isOne());
  llvm::Function *function = b.GetInsertBlock()->getParent();
  auto block = [&] { return llvm::BasicBlock::Create(e.context(), "", function); };
  llvm::BasicBlock *sides[] = {block(), block()}, *after = block();
  b.CreateCondBr(condition, sides[true], sides[false]);
  for (bool holds : {false, true}) {
    Evaluator::Region region(evaluator);
    b.SetInsertPoint(sides[holds]);
    emit(holds);
    b.CreateBr(after);
  }
  b.SetInsertPoint(after);
}

// The place of the nest's store, if lanes may run there and every vector is whole: what is stored has been computed before.
tile::AccessOp NestEmitter::storedInRuns() const {
  constexpr int64_t mostVectors = 256;
  if (nest->shape[innerDim] > mostVectors * lanes || nest->sinks.size() != 1 || nest->sinks[0].kind != Sink::Store || lanes < 2 ||
      nest->shape[innerDim] % lanes)
    return {};
  auto store = cast<tile::StoreOp>(nest->sinks[0].op);
  llvm::SmallPtrSet<void *, 16> seen;                        // one that is not ends the question, so those met before are
  std::function<bool(Value)> isComputed = [&](Value value) { // from what has no bounds of its own
    Operation *def = value.getDefiningOp();
    return !seen.insert(value.getAsOpaquePointer()).second || !isa<RankedTensorType>(value.getType()) ||
           !evaluator.plan.isVirtual(value) || isa<arith::ConstantOp>(def) ||
           (isElementwise(def) && llvm::all_of(def->getOperands(), isComputed));
  };
  auto access = store.getPlace().getDefiningOp<tile::AccessOp>();
  if (!isComputed(store.getValue()) || !access || access.isStrided(innerDim) || access.getBound(innerDim).size() == 2)
    return {};
  return mayRun(evaluator.e, access.getSteps()[innerDim], elementOf(store.getValue()), lanes) ? access : tile::AccessOp();
}

void NestEmitter::inSegmentsOrRuns(tile::AccessOp access) {
  SmallVector<Steady> values = steadyInRow();
  if (values.empty())
    return withRuns(access);
  llvm::Value *areLong =
      Segments(evaluator, values, point, innerDim, nest->shape[innerDim]).areLong(std::max(lanes, leastSegment));
  twice(areLong, [&](bool segments) { segments ? outer(0) : withRuns(access); });
}

// Twice: for lanes in few runs, which are found once for all rows, and for lanes anywhere.
void NestEmitter::withRuns(tile::AccessOp access) {
  auto &b = e.b;
  llvm::Function *function = b.GetInsertBlock()->getParent();
  RunTable table;
  {
    llvm::IRBuilderBase::InsertPointGuard guard(b);
    llvm::BasicBlock &entry = function->getEntryBlock();
    b.SetInsertPoint(&entry, entry.begin());
    uint64_t rows = 3 * nest->shape[innerDim] / lanes;
    table = {b.CreateAlloca(llvm::ArrayType::get(b.getIntNTy(lanes), rows)),
             b.CreateAlloca(llvm::ArrayType::get(b.getInt64Ty(), rows))};
  }
  Lanes all = loop(e.i64(0), e.i64(nest->shape[innerDim]), lanes, false, {b.getTrue()}, [&](llvm::Value *j, ArrayRef<Lanes> so) {
    Evaluator::Vector vector(evaluator, lanes);
    Index index{j, 1, nullptr, evaluator.levels.current(), lanes};
    return SmallVector<Lanes>{b.CreateAnd(so[0], fillTable(evaluator, access, innerDim, index, table))};
  })[0];
  llvm::SaveAndRestore vectors(wholeVectors, true); // as the table has them
  twice(all, [&](bool runs) {
    Evaluator::AssumedRuns known(evaluator);
    if (runs) {
      explain::way("runs");
      evaluator.assumeRuns(access.getSteps()[innerDim], table);
    }
    outer(0);
  });
}

void NestEmitter::outer(unsigned dim) {
  if (dim == nest->shape.size())
    return square ? squares() : inner();
  int64_t size = nest->shape[dim];
  if (size == 1 && dim != innerDim)
    point[dim].loop = int(dim);
  if (dim == innerDim || size == 1 || dim == down || dim == square)
    return outer(dim + 1);
  Range range{e.i64(0), e.i64(size)};
  KnownBound bound;
  bool restricted = restriction(dim, bound);
  if (restricted)
    range = clamp(bound, size);
  Evaluator::Assumption holds(evaluator, restricted ? ArrayRef<KnownBound>(bound) : ArrayRef<KnownBound>());
  if (dim == together)
    return rowsFrom(dim, range);
  loop(range.from, range.to, 1, false, {}, [&](llvm::Value *i, ArrayRef<Lanes>) {
    point[dim] = Index{i, 0, nullptr, evaluator.levels.current(), 1, int(dim)};
    outer(dim + 1);
    return SmallVector<Lanes>();
  });
  point[dim] = evaluator.indices.constant(0);
}

// Whether all of these scalars are that number, and there are some (i1).
static llvm::Value *areAll(Evaluator &evaluator, ArrayRef<Value> scalars, int64_t number) {
  auto &b = evaluator.e.b;
  llvm::Value *all = b.getInt1(!scalars.empty());
  for (Value scalar : scalars)
    all = b.CreateAnd(all, b.CreateICmpEQ(evaluator.wide(scalar), evaluator.e.i64(number)));
  return all;
}

void NestEmitter::inner() {
  SmallVector<KnownBound> bounds;
  llvm::SmallPtrSet<const void *, 16> seen;
  collectSinkBounds(bounds, seen);
  SmallVector<KnownBound> own, ofRows;
  for (const KnownBound &bound : bounds)
    if (bound.loop == int(innerDim))
      own.push_back(bound);
    else if (down && bound.loop == int(*down))
      ofRows.push_back(bound);
  if (together) {
    KnownBound only;
    return innerRows(own, bounds, restriction(innerDim, only) ? &only : nullptr);
  }
  planPrefetches(seen);
  there = surelyThere(bounds, around);
  if (!reductions.empty())
    return innerReducing(own);
  if (down)
    return innerColumns(own, ofRows);
  KnownBound only;
  const KnownBound *restricted = restriction(innerDim, only) ? &only : nullptr;
  bool wide = nest->shape[innerDim] >= int64_t(lanes) && lanes > 1;
  auto usual = [&] { wide && (there || squaresEnd || !own.empty()) ? innerBounded(own, restricted) : innerStatic(); };
  auto withAnySteps = [&] {
    tile::StoreOp store = wide && !square ? streamable() : tile::StoreOp();
    if (!store)
      return usual();
    twice(streaming, [&](bool streams) { streams ? innerBounded(own, restricted, store) : usual(); });
    hasStreamed = true;
  };
  auto anywhere = [&] {
    bool mayBeStill = wide && !square && ofTile.empty() && !evaluator.threads;
    SmallVector<Value> steps = mayBeStill ? stepsOfLoads(evaluator.plan, *nest, innerDim) : SmallVector<Value>();
    twice(areAll(evaluator, steps, 0), [&](bool still) {
      explain::Aside rare(still);
      Evaluator::AssumedNumbers known(evaluator, still ? ArrayRef<Value>(steps) : ArrayRef<Value>(), 0);
      withAnySteps();
    });
  };
  RowPlaces places;
  SmallVector<Steady> values = steadyInRow(&places);
  if (values.empty())
    return anywhere();
  llvm::Value *areLong =
      Segments(evaluator, values, point, innerDim, nest->shape[innerDim]).areLong(std::max(lanes, leastSegment));
  twice(areLong, [&](bool segments) {
    explain::Aside rare(!segments);
    if (!segments)
      return anywhere();
    ArrayRef<Value> factors = places.factors;
    twice(areAll(evaluator, factors, 1), [&](bool neighbours) {
      explain::Aside apart(!neighbours && !factors.empty());
      Evaluator::AssumedNumbers known(evaluator, neighbours ? factors : ArrayRef<Value>(), 1);
      innerSegments(values, own, restricted);
    });
  });
}

// The nest's store, if it is its only sink, runs along memory, and the kernel never reads the argument it writes.
tile::StoreOp NestEmitter::streamable() const {
  if (!streaming || nest->sinks.size() != 1 || nest->sinks[0].kind != Sink::Store)
    return {};
  auto store = cast<tile::StoreOp>(nest->sinks[0].op);
  auto access = store.getPlace().getDefiningOp<tile::AccessOp>();
  APInt step;
  if (!access || !access.isStrided(innerDim) || !matchPattern(access.getSteps()[innerDim], m_ConstantInt(&step)) || step != 1)
    return {};
  MemoryClass written = classOfPlace(store.getPlace());
  bool read = false;
  store->getParentOfType<tile::KernelOp>().walk(
      [&](tile::LoadOp load) { read |= mayAlias(classOfPlace(load.getPlace()), written, e.options.disjoint); });
  return read ? tile::StoreOp() : store;
}

void NestEmitter::body(llvm::Value *j, int64_t multiple, unsigned width, Lanes limit) {
  Evaluator::Vector vector(evaluator, width, limit);
  bool single = nest->shape[innerDim] == 1;
  point[innerDim] = single ? evaluator.indices.constant(0)
                           : Index{j, width == 1 ? 0 : 1, nullptr, evaluator.levels.current(), multiple, int(innerDim)};
  Point at = ofTile.empty() ? point : evaluator.indices.pointOf(point[0], ofTile);
  // Every value is computed before any is written: a tile carried in place may be read by the values of others.
  SmallVector<SmallVector<Lanes, 2>> values;
  unsigned firstPartial = 0;
  for (const Sink &sink : nest->sinks) {
    auto &list = values.emplace_back();
    switch (sink.kind) {
    case Sink::Store:
      list.push_back(evaluator.value(cast<tile::StoreOp>(sink.op).getValue(), point));
      break;
    case Sink::BufferStore:
      list.push_back(evaluator.value(cast<tile::BufferStoreOp>(sink.op).getValue(), point));
      break;
    case Sink::Update:
      list.push_back(evaluator.value(cast<tile::AtomicRmwOp>(sink.op).getValue(), point));
      break;
    case Sink::Define:
      list.push_back(evaluator.define(sink.value, at));
      break;
    case Sink::Copy:
      list.push_back(sink.value ? evaluator.value(sink.value, at)
                                : evaluator.memory.load(evaluator.addresses.ofStored(sink.source, nest->shape, point)));
      break;
    case Sink::Reduce:
      for (Value operand : sink.op->getOperands())
        list.push_back(evaluator.value(operand, point));
      if (int64_t(cast<tile::ReduceOp>(sink.op).getAxis()) == int64_t(innerDim)) {
        RowReduction &reduction = *llvm::find_if(reductions, [&](RowReduction &r) { return r.op == sink.op; });
        reduction.accumulate(llvm::MutableArrayRef<Lanes>(partials).slice(firstPartial, reduction.size()), piece, list, limit,
                             firstChunk);
        firstPartial += reduction.size();
      }
      break;
    }
  }
  for (auto [sink, list] : llvm::zip(nest->sinks, values)) {
    if (sink.kind != Sink::Reduce)
      commit(sink, list[0]);
    else if (int64_t(cast<tile::ReduceOp>(sink.op).getAxis()) != int64_t(innerDim))
      down ? accumulateColumns(sink, list) : accumulateOuter(sink, list);
  }
}

void NestEmitter::commit(const Sink &sink, Lanes value) {
  e.at(sink.op->getLoc());
  explain::Access access(sink.op);
  if (sink.kind == Sink::Store)
    return evaluator.memory.store(evaluator.addresses.ofAccess(cast<tile::StoreOp>(sink.op), point), value, bypass);
  if (sink.kind == Sink::Update)
    return update(cast<tile::AtomicRmwOp>(sink.op), value);
  if (sink.kind == Sink::BufferStore) {
    auto store = cast<tile::BufferStoreOp>(sink.op);
    Address where = evaluator.addresses.ofBuffer(store.getBuffer(), point);
    if (store.getMask())
      where.exists = e.band(where.exists, evaluator.value(store.getMask(), point));
    return evaluator.memory.store(where, value);
  }
  evaluator.memory.store(evaluator.addresses.ofStored(sink.buffers[0], nest->shape, point), value);
}

// A reduction along an outer dimension: the results so far lie in their buffers; lanes are combined in increasing index.
void NestEmitter::accumulateOuter(const Sink &sink, ArrayRef<Lanes> values) {
  auto reduce = cast<tile::ReduceOp>(sink.op);
  uint64_t axis = reduce.getAxis();
  Point where(point);
  where.erase(where.begin() + axis);
  SmallVector<int64_t> shape(nest->shape);
  shape.erase(shape.begin() + axis);
  SmallVector<Address> addresses;
  SmallVector<Lanes> before, after, now(values);
  for (int buffer : sink.buffers) {
    addresses.push_back(evaluator.addresses.ofStored(buffer, shape, where));
    before.push_back(evaluator.memory.load(addresses.back()));
  }
  for (Lanes &value : now)
    value = e.splat(value, evaluator.width());
  for (Lanes &value : before)
    value = e.splat(value, evaluator.width());
  if (!emitCombine(e, reduce.getCombine(), before, now, after, [&](Value v) { return evaluator.scalar(v); })) {
    evaluator.failed = true;
    return;
  }
  llvm::Value *first = e.b.CreateICmpEQ(point[axis].base, e.i64(0));
  for (auto [address, fresh, combined] : llvm::zip(addresses, now, after))
    evaluator.memory.store(address, e.b.CreateSelect(first, fresh, combined));
}

// Vectors [j, j + sideBySide * lanes), all of whose lanes exist.
void NestEmitter::bodies(llvm::Value *j, int64_t multiple) {
  emitInterleaved(e.b, sideBySide, [&](unsigned i) {
    body(i ? e.b.CreateAdd(j, e.i64(int64_t(i) * lanes), "", true, true) : j, multiple, lanes, nullptr);
  });
  prefetch(j, int64_t(lanes) * sideBySide);
}

void NestEmitter::innerStatic() {
  int64_t size = nest->shape[innerDim], step = int64_t(lanes) * sideBySide, done = 0;
  if (size > step) {
    done = size / step * step;
    loop(e.i64(0), e.i64(done), step, false, {}, [&](llvm::Value *j, ArrayRef<Lanes>) {
      bodies(j, lanes);
      return SmallVector<Lanes>();
    });
  }
  for (int64_t width; done != size; done += width) {
    width = std::min<int64_t>(lanes, size - done);
    body(e.i64(done), done, width, nullptr);
  }
}

void NestEmitter::innerBounded(ArrayRef<KnownBound> bounds, const KnownBound *restriction, tile::StoreOp aligned) {
  auto &b = e.b;
  int64_t size = nest->shape[innerDim];
  auto isZero = [](llvm::Value *v) {
    auto *c = llvm::dyn_cast<llvm::ConstantInt>(v);
    return c && c->isZero();
  };
  Range written{e.i64(0), e.i64(size)};
  if (restriction)
    written = clamp(*restriction, size);
  int64_t multiple = isZero(written.from) && !aligned && !squaresEnd ? lanes : 1;
  Range sure = written;
  for (const KnownBound &bound : bounds) {
    if (restriction && bound.lo == restriction->lo && bound.hi == restriction->hi)
      continue;
    Range own = clamp(bound, size);
    if (own.from != sure.from && !isZero(own.from))
      sure.from = isZero(sure.from) ? own.from : b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, sure.from, own.from);
    sure.to = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, sure.to, own.to);
  }
  if (there)
    sure.to = b.CreateSelect(there, sure.to, e.i64(0)); // what is written may end before sure.from
  llvm::Value *j = written.from;
  llvm::Value *start = sure.from; // of the main loop
  if (aligned) {
    Point first(point);
    first[innerDim] = Index{start, 0, nullptr, evaluator.levels.current()};
    Evaluator::Vector single(evaluator, 1);
    Address where = evaluator.addresses.ofPlace(aligned.getPlace(), first);
    unsigned bytes = elementBytes(where.element);
    llvm::Value *at = b.CreatePtrToInt(where.pointer, b.getInt64Ty());
    llvm::Value *past = b.CreateUDiv(b.CreateAnd(at, e.i64(bytes * lanes - 1)), e.i64(bytes));
    llvm::Value *odd = b.CreateICmpNE(b.CreateAnd(at, e.i64(bytes - 1)), e.i64(0)); // no element is aligned: no main loop
    start = b.CreateSelect(odd, written.to, b.CreateAdd(start, b.CreateAnd(b.CreateSub(e.i64(0), past), e.i64(lanes - 1))));
  }
  bool whole = !restriction && !aligned && !squaresEnd && size % lanes == 0;
  rowEnd = cut(); // after everything that the loops' hoisted values may reuse
  auto masked = [&](llvm::Value *to, llvm::Value *end) {
    Evaluator::Assumption holds(evaluator, restriction ? ArrayRef<KnownBound>(*restriction) : ArrayRef<KnownBound>());
    loop(
        j, to, lanes, false, {},
        [&](llvm::Value *at, ArrayRef<Lanes>) {
          Lanes limit = nullptr;
          if (!whole) {
            llvm::Value *left = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, b.CreateSub(end, at), e.i64(lanes));
            limit = b.CreateICmpSLT(e.iota(b.getInt32Ty(), lanes), e.splat(b.CreateTrunc(left, b.getInt32Ty()), lanes));
          }
          body(at, multiple, lanes, limit);
          return SmallVector<Lanes>();
        },
        &j);
  };
  if (start != written.from) {
    llvm::Value *end = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, start, written.to);
    bool once = aligned || squaresEnd; // what follows begins there
    masked(end, once ? end : written.to);
    if (once)
      j = end;
  }
  if (squaresEnd)
    j = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, j, squaresEnd);
  {
    Evaluator::Assumption hold(evaluator, bounds), rowsHold(evaluator, around);
    loop(
        j, sure.to, int64_t(lanes) * sideBySide, true, {},
        [&](llvm::Value *at, ArrayRef<Lanes>) {
          bypass = bool(aligned);
          bodies(at, multiple);
          bypass = false;
          return SmallVector<Lanes>();
        },
        &j);
  }
  masked(written.to, written.to);
  rowEnd = nullptr;
}

} // namespace tilery::lower
