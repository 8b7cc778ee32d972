// Nests of the plan over the threads of a block.
#include "compiler/explain/findings.h"
#include "compiler/ir/commutes.h"
#include "compiler/lower/branch.h"
#include "compiler/lower/explain_plan.h"
#include "compiler/lower/pull.h"
#include "compiler/lower/update_lanes.h"
#include "compiler/targets/cuda/simt/simt.h"

using namespace mlir;

namespace tilery::cuda {
using lower::Index;
using lower::KnownBound;
using lower::Lanes;
using lower::Nest;
using lower::Point;
using lower::Sink;

namespace {
unsigned innermost(const Nest &nest) {
  unsigned dim = nest.shape.size() - 1;
  while (dim && nest.shape[dim] == 1)
    --dim;
  return dim;
}
} // namespace

SmallVector<Value> sourcesOf(const Sink &sink) {
  switch (sink.kind) {
  case Sink::Store:
    return {cast<tile::StoreOp>(sink.op).getValue()};
  case Sink::BufferStore:
    return {cast<tile::BufferStoreOp>(sink.op).getValue()};
  case Sink::Update:
    return {cast<tile::AtomicRmwOp>(sink.op).getValue()};
  case Sink::Reduce:
    return SmallVector<Value>(sink.op->getOperands());
  default:
    return sink.value ? SmallVector<Value>{sink.value} : SmallVector<Value>();
  }
}

// Sixteen bytes a thread where the innermost dimension divides by it and enough threads are left to work.
unsigned SimtEmitter::lanesOf(const Nest &nest, unsigned dim) const {
  unsigned bits = 8;
  for (const Sink &sink : nest.sinks)
    for (Value value : sourcesOf(sink)) {
      Type element = lower::elementOf(value);
      bits = std::max(bits, isa<tile::PtrType>(element) ? 64u : element.getIntOrFloatBitWidth());
    }
  unsigned lanes = 128 / bits;
  while (lanes > 1 && (nest.shape[dim] % lanes || ShapedType::getNumElements(nest.shape) / lanes < threads))
    lanes /= 2;
  return lanes;
}

SmallVector<KnownBound> SimtEmitter::boundsOf(const Nest &nest) const {
  SmallVector<KnownBound> bounds;
  llvm::SmallPtrSet<const void *, 16> seen;
  SmallVector<int> loops;
  for (unsigned d = 0; d < nest.shape.size(); ++d)
    loops.push_back(nest.shape[d] == 1 ? -1 : int(d));
  for (const Sink &sink : nest.sinks) {
    if (sink.kind == Sink::Store)
      nests.collectPlaceBounds(cast<tile::StoreOp>(sink.op).getPlace(), loops, bounds);
    if (sink.kind == Sink::Update)
      nests.collectPlaceBounds(cast<tile::AtomicRmwOp>(sink.op).getPlace(), loops, bounds);
    auto load = sink.kind == Sink::Define ? dyn_cast<tile::LoadOp>(sink.op) : tile::LoadOp();
    if (load)
      nests.collectPlaceBounds(load.getPlace(), loops, bounds);
    else if (sink.kind == Sink::Define && lower::isElementwise(sink.op))
      for (Value operand : sink.op->getOperands())
        nests.collectBounds(operand, loops, bounds, seen);
    else
      for (Value value : sourcesOf(sink))
        nests.collectBounds(value, loops, bounds, seen);
  }
  return bounds;
}

void SimtEmitter::commit(const Nest &nest, const Sink &sink, const Point &point, Lanes value, llvm::Value *only) {
  e.at(sink.op->getLoc());
  explain::Access access(sink.op);
  lower::Address where;
  if (sink.kind == Sink::Update) {
    auto update = cast<tile::AtomicRmwOp>(sink.op);
    return lower::updateLanes(evaluator, update, evaluator.addresses.ofPlace(update.getPlace(), point),
                              e.splat(value, evaluator.width()), only, orderOf(update).each);
  }
  if (sink.kind == Sink::Store) {
    where = evaluator.addresses.ofAccess(cast<tile::StoreOp>(sink.op), point);
  } else if (sink.kind == Sink::BufferStore) {
    auto store = cast<tile::BufferStoreOp>(sink.op);
    where = evaluator.addresses.ofBuffer(store.getBuffer(), point);
    if (store.getMask())
      where.exists = e.band(where.exists, evaluator.value(store.getMask(), point));
  } else if (registerTiles.contains(sink.buffers[0])) {
    return evaluator.writeStored(sink.buffers[0], nest.shape, point, value);
  } else {
    where = evaluator.addresses.ofStored(sink.buffers[0], nest.shape, point);
  }
  where.exists = e.band(where.exists, only);
  if (sink.kind == Sink::Store)
    lower::explainThreads(sink.op, point);
  evaluator.memory.store(where, value);
}

SmallVector<Lanes> SimtEmitter::valuesOf(const Nest &nest, const Point &point) {
  SmallVector<Lanes> values;
  for (const Sink &sink : nest.sinks) {
    if (sink.kind == Sink::Define) {
      values.push_back(evaluator.define(sink.value, point));
      evaluator.defined(sink.value, values.back());
    } else if (sink.kind == Sink::Copy && !sink.value) {
      values.push_back(evaluator.readStored(sink.source, nest.shape, point));
    } else {
      for (Value value : sourcesOf(sink))
        values.push_back(evaluator.value(value, point));
    }
  }
  evaluator.allWritten();
  return values;
}

void SimtEmitter::body(const Nest &nest, const Point &point, unsigned width, SmallVectorImpl<Lanes> &reduced) {
  lower::Evaluator::Vector vector(evaluator, width);
  SmallVector<Lanes> values = valuesOf(nest, point); // all before any is written: a tile carried in place may be read by others
  const Lanes *next = values.begin();
  for (const Sink &sink : nest.sinks) {
    if (sink.kind == Sink::Reduce)
      for (unsigned i = 0; i < sink.op->getNumOperands(); ++i)
        reduced.push_back(e.splat(*next++, width));
    else
      commit(nest, sink, point, *next++);
  }
}

void SimtEmitter::boundedBody(const Nest &nest, const Point &point, unsigned dim, unsigned width, ArrayRef<KnownBound> bounds,
                              SmallVectorImpl<Lanes> &reduced) {
  auto &b = e.b;
  if (width == 1 || bounds.empty())
    return body(nest, point, width, reduced);
  llvm::Value *sure = nullptr;
  for (const KnownBound &bound : bounds) {
    llvm::Value *first = point[bound.loop].base;
    llvm::Value *last = bound.loop == int(dim) ? b.CreateAdd(first, e.i64(width - 1)) : first;
    sure = e.band(sure, b.CreateICmpSLE(evaluator.wide(bound.lo), first));
    sure = e.band(sure, b.CreateICmpSLT(last, evaluator.wide(bound.hi)));
  }
  auto whole = [&] {
    SmallVector<Lanes> values;
    lower::Evaluator::Region region(evaluator);
    lower::Evaluator::Assumption hold(evaluator, bounds);
    body(nest, point, width, values);
    return values;
  };
  auto partial = [&] {
    SmallVector<Lanes> vectors;
    for (unsigned lane = 0; lane < width; ++lane) {
      Point single(point);
      single[dim] = Index{b.CreateAdd(point[dim].base, e.i64(lane)), 0, nullptr, evaluator.levels.current(), 1, int(dim)};
      SmallVector<Lanes> values;
      lower::Evaluator::Region region(evaluator);
      body(nest, single, 1, values);
      for (auto [i, value] : llvm::enumerate(values)) {
        if (lane == 0)
          vectors.push_back(llvm::PoisonValue::get(e.vectorOf(value->getType(), width)));
        vectors[i] = b.CreateInsertElement(vectors[i], value, uint64_t(lane));
      }
    }
    return vectors;
  };
  append_range(reduced, lower::emitEither(b, sure, whole, partial));
}

/// How elements are dealt to threads, in words: vectors of neighbours, numbered row by row, to one thread after the other.
std::string SimtEmitter::dealing(const Nest &nest) const {
  std::string text = "dealt to " + std::to_string(threads) + " threads";
  const ThreadMap *map = simtPlan.mapped.lookup(&nest);
  bool reduces = llvm::any_of(nest.sinks, [](const Sink &sink) { return sink.kind == Sink::Reduce; });
  if (map ? map->ofProduct() || map->crosses() || map->abreast > 1 : reduces)
    return text;
  int64_t width = map ? map->width : lanesOf(nest, innermost(nest));
  int64_t each = llvm::divideCeil(ShapedType::getNumElements(nest.shape), width * threads);
  return text + ", " + std::to_string(each) + (each == 1 ? " vector of " : " vectors of ") + std::to_string(width) + " each";
}

lower::OrderedUpdates SimtEmitter::orderOf(tile::AtomicRmwOp update) {
  Type element = lower::elementOf(update.getValue());
  return {e, {lower::orderOf(update.getOrder()), update.getScope()}, lower::elementBytes(element) * 8, false};
}

bool SimtEmitter::updates(const Nest &nest) {
  auto update = cast<tile::AtomicRmwOp>(nest.sinks[0].op);
  loadEarly(&nest);
  if (hazards.pending())
    barrier(); // what the program wrote before comes first
  lower::explainNest(nest, dealing(nest));
  explain::atomics(update);
  lower::Evaluator::Body scope(evaluator);
  lower::OrderedUpdates ordered = orderOf(update);
  ordered.release();
  if (const ThreadMap *map = simtPlan.mapped.lookup(&nest))
    mappedUpdates(nest, *map);
  else
    mapNest(nest);
  ordered.acquire();
  hazards.lose();
  return !evaluator.failed;
}

bool SimtEmitter::nest(const Nest &nest) {
  bool isUpdate = nest.sinks[0].kind == Sink::Update;
  if (perThread && isUpdate)
    return op(nest.sinks[0].op);
  if (perThread)
    return KernelEmitter::nest(nest);
  if (isUpdate)
    return updates(nest);
  Footprint footprint = footprintOf(nest);
  loadEarly(&nest);
  lower::explainNest(nest, dealing(nest));
  lower::Evaluator::Body scope(evaluator);
  if (const ThreadMap *map = simtPlan.mapped.lookup(&nest)) {
    prepare(footprint);
    mappedNest(nest, *map, overwrites(footprint));
    hazards.add(footprint); // barriers within it come before its last writes
    return !evaluator.failed;
  }
  SmallVector<uint64_t> axes;
  for (const Sink &sink : nest.sinks)
    if (sink.kind == Sink::Reduce)
      if (uint64_t axis = cast<tile::ReduceOp>(sink.op).getAxis(); !llvm::is_contained(axes, axis))
        axes.push_back(axis);
  if (axes.empty()) {
    prepare(footprint);
    mapNest(nest);
  } else {
    barrier();
  }
  // Reductions along another dimension walk the tiles again.
  for (uint64_t axis : axes) {
    Nest part{nest.shape, {}};
    for (const Sink &sink : nest.sinks)
      if (sink.kind == Sink::Reduce ? cast<tile::ReduceOp>(sink.op).getAxis() == axis : axis == axes.front())
        part.sinks.push_back(sink);
    lower::Evaluator::Region region(evaluator);
    reduceNest(part, axis);
    barrier();
  }
  return !evaluator.failed;
}

// All lanes of a warp run as many turns: where some leave a loop before others, with branches in it, ptxas (13.0) may let them come to the
// barrier behind it one by one, which counts them twice.
void SimtEmitter::deal(int64_t total, llvm::function_ref<void(llvm::Value *number)> body) {
  constexpr int64_t lanes = 32;
  bool even = total <= threads || total % lanes == 0;
  nests.loop(even ? thread : e.i64(0), e.i64(total), threads, false, {}, [&](llvm::Value *first, ArrayRef<Lanes>) {
    llvm::Value *number = even ? first : e.b.CreateAdd(first, thread, "", true, true);
    lower::Evaluator::Region region(evaluator);
    when(even ? nullptr : e.b.CreateICmpSLT(number, e.i64(total)), [&] { body(number); });
    return SmallVector<Lanes>();
  });
}

void SimtEmitter::mapNest(const Nest &nest) {
  unsigned dim = innermost(nest), width = lanesOf(nest, dim);
  SmallVector<KnownBound> bounds = boundsOf(nest);
  SmallVector<int64_t> chunks(nest.shape);
  chunks[dim] /= width;
  deal(ShapedType::getNumElements(chunks), [&](llvm::Value *i) {
    Point point = pointOf(chunks, i);
    if (width > 1) {
      llvm::Value *base = point[dim].base;
      point[dim] = Index{e.b.CreateMul(base, e.i64(width)), 1, nullptr, evaluator.levels.current(), int64_t(width), int(dim)};
    }
    point[dim].ofThreads = width == 1 && nest.shape[dim] >= leastNeighbours;
    SmallVector<Lanes> none;
    boundedBody(nest, point, dim, width, bounds, none);
  });
}

// -- reductions

llvm::Value *SimtEmitter::shuffle(llvm::Value *value, unsigned distance) {
  return movedBetweenThreads(value, [&](llvm::Value *part) { return machine.shuffleDown(e, part, distance); });
}

llvm::Value *SimtEmitter::movedBetweenThreads(llvm::Value *value, llvm::function_ref<llvm::Value *(llvm::Value *)> move) {
  auto &b = e.b;
  llvm::Type *type = value->getType(), *i32 = b.getInt32Ty();
  unsigned bits = type->isPointerTy() ? 64 : type->getScalarSizeInBits();
  llvm::Value *raw = type->isPointerTy() ? b.CreatePtrToInt(value, b.getInt64Ty()) : b.CreateBitCast(value, b.getIntNTy(bits));
  llvm::Value *result;
  if (bits == 64) {
    llvm::Value *low = move(b.CreateTrunc(raw, i32)), *high = move(b.CreateTrunc(b.CreateLShr(raw, 32), i32));
    result = b.CreateOr(b.CreateZExt(low, b.getInt64Ty()), b.CreateShl(b.CreateZExt(high, b.getInt64Ty()), 32));
  } else {
    result = b.CreateTrunc(move(b.CreateZExt(raw, i32)), raw->getType());
  }
  return type->isPointerTy() ? b.CreateIntToPtr(result, type) : b.CreateBitCast(result, type);
}

void SimtEmitter::combine(tile::ReduceOp reduce, SmallVectorImpl<Lanes> &values, llvm::Value *&has, ArrayRef<Lanes> others,
                          llvm::Value *otherHas) {
  SmallVector<Lanes> both;
  if (!lower::emitCombine(e, reduce.getCombine(), values, others, both, [&](Value v) { return evaluator.scalar(v); })) {
    evaluator.failed = true;
    return;
  }
  for (auto [value, other, combined] : llvm::zip(values, others, both))
    value = e.b.CreateSelect(has, e.b.CreateSelect(otherHas, combined, value), other);
  has = e.b.CreateOr(has, otherHas);
}

// Elements l and l + distance of the warp's threads, for distances from group / 2 down to 1.
void SimtEmitter::combineThreads(tile::ReduceOp reduce, unsigned group, SmallVectorImpl<Lanes> &values, llvm::Value *&has) {
  for (unsigned distance = group / 2; distance; distance /= 2) {
    SmallVector<Lanes> others;
    for (Lanes value : values)
      others.push_back(shuffle(value, distance));
    combine(reduce, values, has, others, shuffle(has, distance));
  }
}

// Whole rows a thread: of integers, which come to the same in any order, and that nothing is loaded for at each element, so that threads
// side by side need not have neighbours. Else they would meet once a row (thresholds below a number, counted).
bool SimtEmitter::hasRowsAlone(const Nest &nest, uint64_t axis) const {
  auto isStored = [&](Value value) { return !plan.isVirtual(value); };
  return ShapedType::getNumElements(nest.shape) / nest.shape[axis] >= threads && llvm::all_of(nest.sinks, [&](const Sink &sink) {
           auto reduce = dyn_cast<tile::ReduceOp>(sink.op);
           auto isInteger = [](Value operand) { return lower::elementOf(operand).isInteger(); };
           auto isLoadedAtEach = [&](auto &tile) {
             return tile.second.ownElement &&
                    (isStored(tile.first) || isa_and_nonnull<tile::LoadOp, tile::BufferLoadOp>(tile.first.getDefiningOp()));
           };
           return sink.kind == Sink::Reduce && reduce.getNumOperands() == 1 && tile::commutes(reduce) &&
                  llvm::all_of(reduce.getOperands(), isInteger) &&
                  llvm::none_of(lower::pullOf(sink, isStored).tiles, isLoadedAtEach);
         });
}

/// How threads share the rows of a reduction. Along the last axis by the order of TileReduce.td: 64 partials. A thread has `width`
/// neighbouring ones; without vectors it has two, 32 apart. So a row takes 32 threads of a warp at most, and its tree is shuffles, then
/// lanes.
struct SimtEmitter::RowReduction {
  const Nest &nest;
  uint64_t axis;
  bool along;                         // elements of a row are neighbours
  SmallVector<int64_t> rowShape = {}; // of the rows' first elements
  int64_t rows = 0, length = 0;
  unsigned width = 1;
  bool halves = false;           // a thread has a second partial
  int64_t partials = 1;          // of a row
  int64_t group = 1;             // threads that share a row
  llvm::Value *member = nullptr; // of those: which one the thread is
  SmallVector<KnownBound> bounds = {};
  SmallVector<const Sink *> reduces = {};
  SmallVector<Value> scalarResults = {};
  SmallVector<Lanes> start = {}; // of the values, then whether there is anything in them

  int64_t scalarEntry(Value result) const { return llvm::find(scalarResults, result) - scalarResults.begin(); }
};

std::optional<SimtEmitter::RowReduction> SimtEmitter::rowReduction(const Nest &nest, uint64_t axis) {
  RowReduction r{nest, axis, axis == nest.shape.size() - 1};
  r.rowShape = SmallVector<int64_t>(nest.shape);
  r.rowShape[axis] = 1;
  r.rows = ShapedType::getNumElements(r.rowShape), r.length = nest.shape[axis];
  r.width = r.along ? lanesOf(nest, axis) : 1;
  bool alone = r.along && hasRowsAlone(nest, axis);
  r.halves = r.along && !alone && r.width == 1 && r.length > 32;
  r.partials = alone ? r.width : r.along ? std::min<int64_t>(64, llvm::PowerOf2Ceil(r.length)) : 1;
  r.group = r.along ? r.partials / r.width / (r.halves ? 2 : 1) : 1;
  r.bounds = boundsOf(nest);
  // What is known of a row is tested inside the loop along it, too late for what is computed once a row.
  llvm::erase_if(r.bounds, [&](const KnownBound &bound) { return bound.loop != int(axis); });
  for (const Sink &sink : nest.sinks)
    if (sink.kind == Sink::Reduce) {
      r.reduces.push_back(&sink);
      for (Value result : sink.op->getResults())
        if (!isa<RankedTensorType>(result.getType()))
          r.scalarResults.push_back(result);
      if (sink.op->getNumOperands() + 2 > exchangeSlots || r.scalarResults.size() > 32) {
        refuse(sink.op, "reduce so many values at once");
        return std::nullopt;
      }
      for (Value operand : sink.op->getOperands())
        r.start.push_back(llvm::Constant::getNullValue(e.vectorOf(e.valueType(lower::elementOf(operand)), r.width)));
    }
  r.start.push_back(e.b.getFalse());
  return r;
}

// The thread's elements of a row from one of its partials on, combined.
SmallVector<Lanes> SimtEmitter::reducePartial(const RowReduction &r, const Point &row, llvm::Value *end, int64_t offset) {
  auto &b = e.b;
  llvm::Value *from = b.CreateAdd(b.CreateMul(r.member, e.i64(r.width)), e.i64(offset));
  return nests.loop(from, end, r.along ? r.partials : 1, false, r.start, [&](llvm::Value *k, ArrayRef<Lanes> carried) {
    Point point(row);
    point[r.axis] = Index{k, r.width > 1 ? 1 : 0, nullptr, evaluator.levels.current(), int64_t(r.width), int(r.axis)};
    point[r.axis].ofThreads = r.width == 1 && r.group >= leastNeighbours;
    SmallVector<Lanes> fresh;
    boundedBody(r.nest, point, r.axis, r.width, r.bounds, fresh);
    SmallVector<Lanes> next;
    llvm::Value *has = carried.back(), *some = has;
    size_t at = 0;
    for (const Sink *sink : r.reduces) {
      size_t count = sink->op->getNumOperands();
      SmallVector<Lanes> before(carried.slice(at, count));
      some = has;
      combine(cast<tile::ReduceOp>(sink->op), before, some, ArrayRef<Lanes>(fresh).slice(at, count), b.getTrue());
      next.append(before);
      at += count;
    }
    next.push_back(some);
    return next;
  });
}

// The partials of the threads that share a row, in the first of them.
void SimtEmitter::combinePartials(const RowReduction &r, tile::ReduceOp reduce, SmallVectorImpl<Lanes> &values,
                                  llvm::Value *has) {
  if (r.width == 1)
    return combineThreads(reduce, r.group, values, has);
  // Whole vectors: lane by lane, in step.
  SmallVector<SmallVector<Lanes>> lanes(r.width);
  SmallVector<llvm::Value *> some(r.width, has);
  for (unsigned lane = 0; lane < r.width; ++lane) {
    for (Lanes value : values)
      lanes[lane].push_back(e.b.CreateExtractElement(value, uint64_t(lane)));
    combineThreads(reduce, r.group, lanes[lane], some[lane]);
  }
  for (unsigned distance = r.width / 2; distance; distance /= 2)
    for (unsigned lane = 0; lane < distance; ++lane)
      combine(reduce, lanes[lane], some[lane], lanes[lane + distance], some[lane + distance]);
  values = lanes[0];
}

// What a row comes to goes to memory that threads share, from the first of its threads, where there is such a row (`active`).
void SimtEmitter::storeRow(const RowReduction &r, const Sink &sink, const Point &row, llvm::Value *active,
                           ArrayRef<Lanes> values) {
  auto &b = e.b;
  if (!isa<RankedTensorType>(sink.op->getResult(0).getType())) {
    when(b.CreateICmpEQ(thread, e.i64(0)), [&] {
      for (auto [value, result] : llvm::zip(values, sink.op->getResults()))
        b.CreateStore(e.toMemory(value, result.getType()), exchange(exchangeSlots - 1, e.i64(r.scalarEntry(result))));
    });
    return;
  }
  when(b.CreateAnd(active, b.CreateICmpEQ(r.member, e.i64(0))), [&] {
    lower::Evaluator::Vector single(evaluator, 1);
    lower::Evaluator::Region region(evaluator);
    SmallVector<int64_t> shape(r.nest.shape);
    shape.erase(shape.begin() + r.axis);
    Point where(row);
    where.erase(where.begin() + r.axis);
    for (auto [buffer, value] : llvm::zip(sink.buffers, values))
      evaluator.memory.store(evaluator.addresses.ofStored(buffer, shape, where), value);
  });
}

void SimtEmitter::reduceNest(const Nest &nest, uint64_t axis) {
  auto &b = e.b;
  std::optional<RowReduction> reduction = rowReduction(nest, axis);
  if (!reduction)
    return;
  RowReduction &r = *reduction;
  int64_t rowsAtOnce = threads / r.group;
  r.member = b.CreateURem(thread, e.i64(r.group));
  llvm::Value *own = b.CreateUDiv(thread, e.i64(r.group));
  // Every thread makes the same number of rounds, for barriers and shuffles want all of them.
  nests.loop(e.i64(0), e.i64(r.rows), rowsAtOnce, false, {}, [&](llvm::Value *round, ArrayRef<Lanes>) {
    llvm::Value *row = b.CreateAdd(round, own);
    llvm::Value *active = b.CreateICmpSLT(row, e.i64(r.rows));
    if (r.rows % rowsAtOnce) // what is loaded once a row is loaded ahead of all tests: there is no memory behind the last row
      row = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, row, e.i64(r.rows - 1));
    Point rowPoint = pointOf(r.rowShape, row);
    if (unsigned last = r.rowShape.size() - 1; !r.along && r.rowShape[last] >= leastNeighbours)
      rowPoint[last].ofThreads = true;
    llvm::Value *end = b.CreateSelect(active, e.i64(r.length), e.i64(0));
    SmallVector<Lanes> partial = reducePartial(r, rowPoint, end, 0), upper;
    if (r.halves)
      upper = reducePartial(r, rowPoint, end, 32);
    size_t at = 0;
    for (const Sink *sink : r.reduces) {
      auto reduce = cast<tile::ReduceOp>(sink->op);
      size_t count = reduce.getNumOperands();
      SmallVector<Lanes> values(partial.begin() + at, partial.begin() + at + count);
      llvm::Value *has = partial.back();
      if (r.halves)
        combine(reduce, values, has, ArrayRef<Lanes>(upper).slice(at, count), upper.back());
      at += count;
      combinePartials(r, reduce, values, has);
      storeRow(r, *sink, rowPoint, active, values);
    }
    return SmallVector<Lanes>();
  });
  // Scalar results: thread 0 has them, every thread takes them.
  barrier();
  for (const Sink *sink : r.reduces)
    for (Value result : sink->op->getResults())
      if (Type type = result.getType(); !isa<RankedTensorType>(type)) {
        llvm::Value *slot = exchange(exchangeSlots - 1, e.i64(r.scalarEntry(result)));
        evaluator.scalars[result] = e.fromMemory(b.CreateLoad(e.memoryType(type), slot), type);
      }
}

} // namespace tilery::cuda
