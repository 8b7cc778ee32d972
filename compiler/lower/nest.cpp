#include "compiler/lower/nest.h"
#include "compiler/lower/interleave.h"
#include "compiler/lower/pull.h"
#include "mlir/IR/Matchers.h"

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
  auto *start = llvm::BasicBlock::Create(e.context(), "loop", function);
  auto *exit = llvm::BasicBlock::Create(e.context(), "", function);
  llvm::BasicBlock *skipFrom = nullptr;
  if (fixed) {
    b.CreateBr(before);
  } else {
    skipFrom = b.GetInsertBlock();
    b.CreateCondBr(guard, before, exit);
  }
  b.SetInsertPoint(before);
  b.CreateBr(start);
  b.SetInsertPoint(start);
  llvm::PHINode *counter = b.CreatePHI(b.getInt64Ty(), 2);
  counter->addIncoming(from, before);
  SmallVector<llvm::PHINode *> phis;
  for (Lanes value : init) {
    phis.push_back(b.CreatePHI(value->getType(), 2));
    phis.back()->addIncoming(value, before);
  }
  evaluator.enterLoop(ownEnd ? ownEnd : rowEnd);
  llvm::Instruction *outerEnd = std::exchange(rowEnd, nullptr);
  SmallVector<Lanes> carried = body(counter, SmallVector<Lanes>(phis.begin(), phis.end()));
  rowEnd = outerEnd;
  evaluator.leaveLoop();
  llvm::Value *next = b.CreateAdd(counter, e.i64(step), "", true, true);
  llvm::BasicBlock *latch = b.GetInsertBlock();
  b.CreateCondBr(runs(next), start, exit);
  counter->addIncoming(next, latch);
  for (auto [phi, value] : llvm::zip(phis, carried))
    phi->addIncoming(value, latch);
  b.SetInsertPoint(exit);
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

// -- what is known about the bounds of the accesses

void NestEmitter::collectPlaceBounds(Value place, ArrayRef<int> loops, SmallVectorImpl<KnownBound> &bounds) const {
  auto access = place.getDefiningOp<tile::AccessOp>();
  if (!access)
    return;
  for (unsigned d = 0; d < loops.size(); ++d) {
    OperandRange bound = access.getBound(d);
    if (bound.size() != 2 || loops[d] < 0)
      continue;
    bool known =
        llvm::any_of(bounds, [&](const KnownBound &k) { return k.lo == bound[0] && k.hi == bound[1] && k.loop == loops[d]; });
    if (!known)
      bounds.push_back({bound[0], bound[1], loops[d]});
  }
}

void NestEmitter::collectBounds(Value value, ArrayRef<int> loops, SmallVectorImpl<KnownBound> &bounds,
                                llvm::SmallPtrSetImpl<const void *> &seen) const {
  Operation *op = value.getDefiningOp();
  if (!isa<RankedTensorType>(value.getType()) || !op || !evaluator.plan.isVirtual(value) || !seen.insert(op).second)
    return;
  if (auto load = dyn_cast<tile::LoadOp>(op)) {
    collectPlaceBounds(load.getPlace(), loops, bounds);
    if (load.getOther())
      collectBounds(load.getOther(), loops, bounds, seen);
    return;
  }
  SmallVector<int> inner(loops);
  if (auto expand = dyn_cast<tile::ExpandDimsOp>(op)) {
    inner.erase(inner.begin() + expand.getAxis());
  } else if (isa<tile::BroadcastOp>(op)) {
    for (auto [loop, size] : llvm::zip(inner, tile::shapeOf(op->getOperand(0).getType())))
      loop = size == 1 ? -1 : loop;
  } else if (auto permute = dyn_cast<tile::PermuteOp>(op)) {
    for (auto [d, source] : llvm::enumerate(permute.getOrder()))
      inner[source] = loops[d];
  } else if (!isElementwise(op)) {
    return;
  }
  for (Value operand : op->getOperands())
    collectBounds(operand, inner, bounds, seen);
}

// All sinks store only lanes lo <= i < hi of the dimension: the others need not be computed.
bool NestEmitter::restriction(unsigned dim, KnownBound &bound) const {
  bool first = true;
  for (const Sink &sink : nest->sinks) {
    auto store = sink.kind == Sink::Store ? cast<tile::StoreOp>(sink.op) : tile::StoreOp();
    auto access = store ? store.getPlace().getDefiningOp<tile::AccessOp>() : tile::AccessOp();
    if (!access || access.getBound(dim).size() != 2)
      return false;
    KnownBound own{access.getBound(dim)[0], access.getBound(dim)[1], int(dim)};
    if (!first && (own.lo != bound.lo || own.hi != bound.hi))
      return false;
    bound = own;
    first = false;
  }
  return true;
}

NestEmitter::Range NestEmitter::clamp(const KnownBound &bound, int64_t size) {
  auto &b = e.b;
  llvm::Value *lo = evaluator.wide(bound.lo), *hi = evaluator.wide(bound.hi);
  auto *fixed = llvm::dyn_cast<llvm::ConstantInt>(lo);
  lo = fixed ? e.i64(std::clamp<int64_t>(fixed->getSExtValue(), 0, size))
             : b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, lo, e.i64(0));
  return {lo, b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, hi, e.i64(size))};
}

// `lanes`: of the widest element that is computed with; 16-bit floats are computed in 32 bits. `abreast`: by what is computed.
void NestEmitter::chooseWidth() {
  unsigned bits = 8;
  llvm::SetVector<Operation *> seen;
  SmallVector<Value> work;
  for (const Sink &sink : nest->sinks) {
    if (sink.kind == Sink::Store)
      work.push_back(cast<tile::StoreOp>(sink.op).getValue());
    else if (sink.kind == Sink::BufferStore)
      work.push_back(cast<tile::BufferStoreOp>(sink.op).getValue());
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
  lanes = std::min(64u, e.options.target.machine.vectorBits / std::max(8u, bits));
  abreast = vectorsSideBySide(seen.getArrayRef(), e.options.target.machine);
}

// -- loops

bool NestEmitter::emit(const Nest &n) {
  nest = &n;
  evaluator.forget();
  evaluator.known.clear();
  point.assign(n.shape.size(), evaluator.constant(0));
  innerDim = n.shape.size() - 1;
  bool reduces = false, reducesRows = false; // their order of combination fixes the inner dimension
  for (const Sink &sink : n.sinks) {
    reduces |= sink.kind == Sink::Reduce;
    reducesRows |= sink.kind == Sink::Reduce && int64_t(cast<tile::ReduceOp>(sink.op).getAxis()) == int64_t(innerDim);
  }
  while (!reduces && innerDim && n.shape[innerDim] == 1)
    --innerDim;
  chooseWidth();
  if (reducesRows)
    lanes = std::min<unsigned>(lanes, llvm::PowerOf2Ceil(n.shape[innerDim]));
  reductions.clear();
  for (const Sink &sink : n.sinks)
    if (auto reduce = dyn_cast<tile::ReduceOp>(sink.op);
        sink.kind == Sink::Reduce && int64_t(reduce.getAxis()) == int64_t(innerDim))
      reductions.emplace_back(evaluator, reduce, lanes);
  outer(0);
  evaluator.forget();
  evaluator.known.clear();
  return !evaluator.failed;
}

void NestEmitter::outer(unsigned dim) {
  if (dim == nest->shape.size())
    return inner();
  int64_t size = nest->shape[dim];
  if (dim == innerDim || size == 1)
    return outer(dim + 1);
  Range range{e.i64(0), e.i64(size)};
  KnownBound bound;
  size_t knownBefore = evaluator.known.size();
  if (restriction(dim, bound)) {
    range = clamp(bound, size);
    evaluator.known.push_back(bound);
  }
  loop(range.from, range.to, 1, false, {}, [&](llvm::Value *i, ArrayRef<Lanes>) {
    point[dim] = Index{i, 0, nullptr, evaluator.level(), 1, int(dim)};
    outer(dim + 1);
    return SmallVector<Lanes>();
  });
  point[dim] = evaluator.constant(0);
  evaluator.known.resize(knownBefore);
}

void NestEmitter::inner() {
  SmallVector<KnownBound> bounds;
  llvm::SmallPtrSet<const void *, 16> seen;
  SmallVector<int> loops;
  for (unsigned d = 0; d < nest->shape.size(); ++d)
    loops.push_back(nest->shape[d] == 1 && d != innerDim ? -1 : int(d));
  for (const Sink &sink : nest->sinks) {
    if (sink.kind == Sink::Store) {
      auto store = cast<tile::StoreOp>(sink.op);
      collectPlaceBounds(store.getPlace(), loops, bounds);
      collectBounds(store.getValue(), loops, bounds, seen);
    } else if (sink.kind == Sink::BufferStore) {
      collectBounds(cast<tile::BufferStoreOp>(sink.op).getValue(), loops, bounds, seen);
    } else if (sink.kind == Sink::Reduce) {
      for (Value operand : sink.op->getOperands())
        collectBounds(operand, loops, bounds, seen);
    } else if (sink.kind == Sink::Copy && sink.value) {
      collectBounds(sink.value, loops, bounds, seen);
    } else if (sink.kind == Sink::Define) {
      if (auto load = dyn_cast<tile::LoadOp>(sink.op))
        collectPlaceBounds(load.getPlace(), loops, bounds);
      else if (isElementwise(sink.op))
        for (Value operand : sink.op->getOperands())
          collectBounds(operand, loops, bounds, seen);
    }
  }
  llvm::erase_if(bounds, [&](const KnownBound &k) { return k.loop != int(innerDim); });
  planPrefetches(seen);
  if (!reductions.empty())
    return innerReducing(bounds);
  KnownBound only;
  const KnownBound *restricted = restriction(innerDim, only) ? &only : nullptr;
  bool wide = nest->shape[innerDim] >= int64_t(lanes) && lanes > 1;
  auto usual = [&] { wide && !bounds.empty() ? innerBounded(bounds, restricted) : innerStatic(); };
  tile::StoreOp store = wide ? streamable() : tile::StoreOp();
  if (!store)
    return usual();
  auto &b = e.b;
  llvm::Function *function = b.GetInsertBlock()->getParent();
  auto *around = llvm::BasicBlock::Create(e.context(), "stream", function),
       *through = llvm::BasicBlock::Create(e.context(), "", function),
       *after = llvm::BasicBlock::Create(e.context(), "", function);
  b.CreateCondBr(streaming, around, through);
  b.SetInsertPoint(around);
  innerBounded(bounds, restricted, store);
  evaluator.forgetBody(); // nothing of one side reaches the other
  b.CreateBr(after);
  b.SetInsertPoint(through);
  usual();
  evaluator.forgetBody();
  b.CreateBr(after);
  b.SetInsertPoint(after);
  hasStreamed = true;
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
  evaluator.lanes = width;
  evaluator.limit = limit;
  bool single = nest->shape[innerDim] == 1;
  point[innerDim] =
      single ? evaluator.constant(0) : Index{j, width == 1 ? 0 : 1, nullptr, evaluator.level(), multiple, int(innerDim)};
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
    case Sink::Define:
      list.push_back(evaluator.define(sink.value, point));
      break;
    case Sink::Copy:
      list.push_back(sink.value ? evaluator.value(sink.value, point)
                                : evaluator.load(evaluator.scratchAddress(sink.source, nest->shape, point)));
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
      accumulateAcross(sink, list);
  }
}

void NestEmitter::commit(const Sink &sink, Lanes value) {
  e.at(sink.op->getLoc());
  if (sink.kind == Sink::Store)
    return evaluator.store(evaluator.address(cast<tile::StoreOp>(sink.op).getPlace(), point), value, bypass);
  if (sink.kind == Sink::BufferStore) {
    auto store = cast<tile::BufferStoreOp>(sink.op);
    Address where = evaluator.bufferAddress(store.getBuffer(), point);
    if (store.getMask())
      where.exists = e.band(where.exists, evaluator.value(store.getMask(), point));
    return evaluator.store(where, value);
  }
  evaluator.store(evaluator.scratchAddress(sink.buffers[0], nest->shape, point), value);
}

// A reduction along an outer dimension: the results so far lie in their buffers; lanes are combined in increasing index.
void NestEmitter::accumulateAcross(const Sink &sink, ArrayRef<Lanes> values) {
  auto reduce = cast<tile::ReduceOp>(sink.op);
  uint64_t axis = reduce.getAxis();
  Point where(point);
  where.erase(where.begin() + axis);
  SmallVector<int64_t> shape(nest->shape);
  shape.erase(shape.begin() + axis);
  SmallVector<Address> addresses;
  SmallVector<Lanes> before, after, now(values);
  for (int buffer : sink.buffers) {
    addresses.push_back(evaluator.scratchAddress(buffer, shape, where));
    before.push_back(evaluator.load(addresses.back()));
  }
  for (Lanes &value : now)
    value = e.splat(value, evaluator.lanes);
  for (Lanes &value : before)
    value = e.splat(value, evaluator.lanes);
  if (!emitCombine(e, reduce.getCombine(), before, now, after, [&](Value v) { return evaluator.scalar(v); })) {
    evaluator.failed = true;
    return;
  }
  llvm::Value *first = e.b.CreateICmpEQ(point[axis].base, e.i64(0));
  for (auto [address, fresh, combined] : llvm::zip(addresses, now, after))
    evaluator.store(address, e.b.CreateSelect(first, fresh, combined));
}

// Vectors [j, j + abreast * lanes), all of whose lanes exist.
void NestEmitter::bodies(llvm::Value *j, int64_t multiple) {
  emitInterleaved(e.b, abreast, [&](unsigned i) {
    body(i ? e.b.CreateAdd(j, e.i64(int64_t(i) * lanes), "", true, true) : j, multiple, lanes, nullptr);
  });
  prefetch(j, int64_t(lanes) * abreast);
}

void NestEmitter::innerStatic() {
  int64_t size = nest->shape[innerDim], step = int64_t(lanes) * abreast, done = 0;
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
  Range written{e.i64(0), e.i64(size)};
  if (restriction)
    written = clamp(*restriction, size);
  Range sure = written;
  for (const KnownBound &bound : bounds) {
    if (restriction && bound.lo == restriction->lo && bound.hi == restriction->hi)
      continue;
    Range own = clamp(bound, size);
    auto isZero = [](llvm::Value *v) {
      auto *c = llvm::dyn_cast<llvm::ConstantInt>(v);
      return c && c->isZero();
    };
    if (own.from != sure.from && !isZero(own.from))
      sure.from = isZero(sure.from) ? own.from : b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, sure.from, own.from);
    sure.to = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, sure.to, own.to);
  }
  size_t knownBefore = evaluator.known.size();
  llvm::Value *j = written.from;
  llvm::Value *start = sure.from; // of the main loop
  if (aligned) {
    Point first(point);
    first[innerDim] = Index{start, 0, nullptr, evaluator.level()};
    evaluator.lanes = 1;
    Address where = evaluator.address(aligned.getPlace(), first);
    unsigned bytes = elementBytes(where.element);
    llvm::Value *at = b.CreatePtrToInt(where.pointer, b.getInt64Ty());
    llvm::Value *past = b.CreateUDiv(b.CreateAnd(at, e.i64(bytes * lanes - 1)), e.i64(bytes));
    llvm::Value *odd = b.CreateICmpNE(b.CreateAnd(at, e.i64(bytes - 1)), e.i64(0)); // no element is aligned: no main loop
    start = b.CreateSelect(odd, written.to, b.CreateAdd(start, b.CreateAnd(b.CreateSub(e.i64(0), past), e.i64(lanes - 1))));
  }
  bool whole = !restriction && !aligned && size % lanes == 0;
  rowEnd = cut(); // after everything that the loops' hoisted values may reuse
  auto masked = [&](llvm::Value *to, llvm::Value *end) {
    if (restriction)
      evaluator.known.push_back(*restriction);
    loop(
        j, to, lanes, false, {},
        [&](llvm::Value *at, ArrayRef<Lanes>) {
          Lanes limit = nullptr;
          if (!whole) {
            llvm::Value *left = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, b.CreateSub(end, at), e.i64(lanes));
            limit = b.CreateICmpSLT(e.iota(b.getInt32Ty(), lanes), e.splat(b.CreateTrunc(left, b.getInt32Ty()), lanes));
          }
          body(at, 1, lanes, limit);
          return SmallVector<Lanes>();
        },
        &j);
    evaluator.known.resize(knownBefore);
  };
  if (start != written.from) {
    llvm::Value *end = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, start, written.to);
    masked(end, aligned ? end : written.to);
    if (aligned)
      j = end;
  }
  evaluator.known.append(bounds.begin(), bounds.end());
  loop(
      j, sure.to, int64_t(lanes) * abreast, true, {},
      [&](llvm::Value *at, ArrayRef<Lanes>) {
        bypass = bool(aligned);
        bodies(at, 1);
        bypass = false;
        return SmallVector<Lanes>();
      },
      &j);
  evaluator.known.resize(knownBefore);
  masked(written.to, written.to);
  rowEnd = nullptr;
}

} // namespace tilery::lower
