// Nests whose elements each thread holds in registers: code for every vector of the thread, without loops.
#include "compiler/targets/cuda/simt/simt_sums.h"
#include "compiler/lower/update_lanes.h"

using namespace mlir;

namespace tilery::cuda {
using lower::Index;
using lower::Lanes;
using lower::Nest;
using lower::Point;
using lower::Sink;

namespace {
constexpr unsigned warpSize = 32;
constexpr int64_t elementsAtOnce = 32; // are loaded before the first is stored
constexpr unsigned exchangeItem = 256; // bytes: a value of each warp of a block
/// From so many warps on, their values are combined by lanes.
constexpr unsigned warpsByLanes = 16;
const char storedTiles = 0; // stands for all tiles in shared memory
lower::MemoryClass tileClass() { return {lower::MemoryClass::Buffer, &storedTiles}; }

/// An index that is the thread's own.
Index ownedIndex(llvm::Value *base, int64_t multiple, int64_t step) {
  Index index{base, step, nullptr, 0, multiple};
  index.owned = true;
  return index;
}

/// Indices of 64 bits and sums of them. Equal ones are the same value: what is computed at them is then found again.
class WideIndices {
public:
  explicit WideIndices(lower::Emitter &e) : e(e) {}

  llvm::Value *operator()(llvm::Value *index, int64_t more) {
    llvm::Value *&value = known[{index, more}];
    return value ? value : value = wide(index, more);
  }
  llvm::Value *wide(llvm::Value *index, int64_t more) { // 32 bits are enough for the elements of a tile
    return e.b.CreateAdd(e.b.CreateZExt(index, e.b.getInt64Ty()), e.i64(more), "", true, true);
  }

private:
  lower::Emitter &e;
  std::map<std::pair<llvm::Value *, int64_t>, llvm::Value *> known;
};
} // namespace

// -- what steps do to memory

void SimtEmitter::addReads(Footprint &footprint, Operation *op) const {
  if (auto load = dyn_cast_or_null<tile::LoadOp>(op))
    footprint.reads.push_back(lower::classOfPlace(load.getPlace()));
  else if (auto load = dyn_cast_or_null<tile::BufferLoadOp>(op))
    footprint.reads.push_back(lower::classOfBuffer(load.getBuffer()));
}

void SimtEmitter::addReads(Footprint &footprint, const lower::Pull &pull) const {
  for (const auto &[value, reach] : pull.tiles) {
    if (auto stored = plan.storage.find(value); stored == plan.storage.end())
      addReads(footprint, value.getDefiningOp());
    else if (!registerTiles.contains(stored->second))
      footprint.reads.push_back(tileClass());
  }
}

Footprint SimtEmitter::footprintOf(const Nest &nest) const {
  Footprint footprint;
  auto isStored = [&](Value value) { return !plan.isVirtual(value); };
  auto inRegisters = [&](int buffer) { return registerTiles.contains(buffer); };
  for (const Sink &sink : nest.sinks) {
    if (sink.kind == Sink::Copy && !sink.value) {
      footprint.reads.push_back(tileClass());
    } else {
      addReads(footprint, lower::pullOf(sink, isStored));
      if (sink.kind == Sink::Define)
        addReads(footprint, sink.op);
    }
    if (sink.kind == Sink::Store)
      footprint.writes.push_back(lower::classOfPlace(cast<tile::StoreOp>(sink.op).getPlace()));
    if (sink.kind == Sink::BufferStore)
      footprint.writes.push_back(lower::classOfBuffer(cast<tile::BufferStoreOp>(sink.op).getBuffer()));
    if (!llvm::all_of(sink.buffers, inRegisters))
      footprint.writes.push_back(tileClass());
  }
  return footprint;
}

Footprint SimtEmitter::footprintOf(tile::ScanOp scan) const {
  Footprint footprint;
  lower::Pull pull;
  for (Value operand : scan.getOperands())
    pull.add(operand, [&](Value value) { return !plan.isVirtual(value); });
  addReads(footprint, pull);
  if (!llvm::all_of(scan.getResults(), [&](Value result) { return registerTiles.contains(plan.storage.lookup(result)); }))
    footprint.writes.push_back(tileClass());
  return footprint;
}

Footprint SimtEmitter::footprintOfKernel() {
  Footprint all{{tileClass()}, {tileClass()}};
  kernel.walk([&](Operation *op) {
    llvm::TypeSwitch<Operation *>(op)
        .Case([&](tile::LoadOp op) { all.reads.push_back(lower::classOfPlace(op.getPlace())); })
        .Case([&](tile::StoreOp op) { all.writes.push_back(lower::classOfPlace(op.getPlace())); })
        .Case<tile::AtomicRmwOp, tile::AtomicCasOp>([&](auto op) { all.writes.push_back(lower::classOfPlace(op.getPlace())); })
        .Case<tile::BufferLoadOp, tile::ElementLoadOp>(
            [&](auto op) { all.reads.push_back(lower::classOfBuffer(op.getBuffer())); })
        .Case<tile::BufferStoreOp, tile::ElementStoreOp, tile::ElementUpdateOp>(
            [&](auto op) { all.writes.push_back(lower::classOfBuffer(op.getBuffer())); });
  });
  return all;
}

// -- where a thread's elements are

const SimtEmitter::Points &SimtEmitter::pointsOf(const ThreadMap &map) {
  auto [entry, fresh] = points.try_emplace(&map);
  Points &result = entry->second;
  if (!fresh)
    return result;
  auto &b = e.b;
  llvm::IRBuilderBase::InsertPointGuard guard(b);
  b.SetInsertPoint(entryEnd);
  auto number = [&](int64_t n) { return b.getInt32(n); };
  llvm::Value *own = b.CreateTrunc(thread, b.getInt32Ty());
  if (map.copies()) {
    result.first = b.CreateICmpULT(own, number(map.vectors));
    own = b.CreateURem(own, number(map.vectors));
  }
  if (map.ragged())
    result.lastExists = b.CreateICmpULT(own, number(map.vectors % map.threads));
  if (map.ofProduct())
    productPoints(map, own, result);
  else if (map.crosses())
    crossingPoints(map, own, result);
  else
    straightPoints(map, own, result);
  return result;
}

void SimtEmitter::productPoints(const ThreadMap &map, llvm::Value *own, Points &result) {
  auto &b = e.b;
  WideIndices once(e);
  llvm::Value *lane = b.CreateAnd(own, b.getInt32(warpSize - 1));
  llvm::Value *row = b.CreateAdd(b.CreateMul(b.CreateLShr(own, 5), b.getInt32(16 * map.tilesM)), b.CreateLShr(lane, 2));
  llvm::Value *column = b.CreateShl(b.CreateAnd(lane, b.getInt32(3)), 1);
  for (int64_t k = 0; k < map.chunks; ++k) {
    llvm::Value *rowAt = once(row, 8 * (k / map.tilesN)), *columnAt = once(column, 8 * (k % map.tilesN));
    result.slots[{rowAt, columnAt}] = k;
    result.chunks.push_back({ownedIndex(rowAt, 1, 0), ownedIndex(columnAt, 2, 1)});
  }
}

void SimtEmitter::straightPoints(const ThreadMap &map, llvm::Value *own, Points &result) {
  auto &b = e.b;
  auto number = [&](int64_t n) { return b.getInt32(n); };
  size_t rank = map.sizes.size();
  int64_t inRow = map.rowVectors();
  WideIndices once(e);
  llvm::Value *column = rank ? b.CreateMul(rank == 1 ? own : b.CreateURem(own, number(inRow)), number(map.width)) : nullptr;
  llvm::Value *row = rank > 1 ? b.CreateUDiv(own, number(inRow)) : nullptr, *straight = nullptr;
  if (map.abreast > 1)
    row = b.CreateMul(row, number(map.abreast));
  for (int64_t k = 0; k < map.chunks; ++k) {
    SmallVector<Index, 2> indices(rank);
    int64_t passed = k * map.threads; // vectors before those of this chunk
    llvm::Value *rowNumber = nullptr;
    if (rank)
      indices.back() = ownedIndex(nullptr, map.width, map.width > 1);
    if (rank)
      indices.back().ofThreads = map.width == 1 && map.sizes.back() >= leastNeighbours;
    if (rank == 1) {
      indices.back().base = once(column, passed * map.width);
    } else if (rank > 1 && map.threads % inRow == 0) { // whole rows side by side
      indices.back().base = once(column, 0);
      unsigned beside = k % map.abreast;
      int64_t first = (k - beside) * (map.threads / inRow);
      rowNumber = once(row, first + beside);
      if (map.abreast > 1)
        besides[rowNumber] = {once(row, first), beside, map.abreast};
    } else if (rank > 1 && inRow % map.threads == 0) { // a part of a row at a time
      straight = straight ? straight : b.CreateMul(own, number(map.width));
      indices.back().base = once(straight, passed % inRow * map.width);
      rowNumber = e.i64(passed / inRow);
    } else if (rank > 1) {
      llvm::Value *vector = b.CreateAdd(own, number(passed));
      indices.back().base = once.wide(b.CreateMul(b.CreateURem(vector, number(inRow)), number(map.width)), 0);
      rowNumber = once.wide(b.CreateUDiv(vector, number(inRow)), 0);
    }
    for (size_t d = rank - 1; rank > 1 && d-- > 0;) {
      llvm::Value *index = d ? b.CreateURem(rowNumber, e.i64(map.sizes[d])) : rowNumber;
      auto *fixed = llvm::dyn_cast<llvm::ConstantInt>(index);
      indices[d] = ownedIndex(index, fixed ? fixed->getSExtValue() : 1, 0);
      rowNumber = d ? b.CreateUDiv(rowNumber, e.i64(map.sizes[d])) : nullptr;
    }
    SmallVector<llvm::Value *, 2> key;
    for (const Index &index : indices)
      key.push_back(index.base);
    result.slots[key] = k;
    result.chunks.push_back(std::move(indices));
  }
}

// Numbers below 2^31: products with constants and sums of small ones do not wrap.
void SimtEmitter::crossingPoints(const ThreadMap &map, llvm::Value *own, Points &result) {
  auto &b = e.b;
  auto number = [&](int64_t n) { return llvm::ConstantInt::get(b.getInt32Ty(), n); };
  int64_t others = 1, abreast = map.threads / map.run, run = map.run;
  for (auto [d, size] : llvm::enumerate(map.sizes))
    if (d != map.inner)
      others *= size;
  llvm::Value *inRun = b.CreateURem(own, number(run)), *rest = b.CreateUDiv(own, number(run));
  if (map.abreast > 1)
    rest = b.CreateMul(rest, number(map.abreast));
  std::map<std::pair<llvm::Value *, int64_t>, llvm::Value *> known; // equal indices are the same value
  auto plus = [&](llvm::Value *value, int64_t more) {
    llvm::Value *&sum = known[{value, more}];
    return sum ? sum : sum = more ? b.CreateAdd(value, number(more), "", true, true) : value;
  };
  llvm::Value *otherOfRest = nullptr, *runOfRest = nullptr;
  for (int64_t k = 0; k < map.chunks; ++k) {
    unsigned beside = k % map.abreast;
    int64_t passed = (k - beside) * abreast; // runs before those of this chunk
    llvm::Value *other, *runs;
    if (others % abreast == 0) {
      other = plus(rest, passed % others + beside);
      runs = number(passed / others);
    } else if (abreast % others == 0) {
      otherOfRest = otherOfRest ? otherOfRest : b.CreateURem(rest, number(others));
      runOfRest = runOfRest ? runOfRest : b.CreateUDiv(rest, number(others));
      other = otherOfRest;
      runs = plus(runOfRest, passed / others);
    } else {
      llvm::Value *all = plus(rest, passed);
      other = b.CreateURem(all, number(others));
      runs = b.CreateUDiv(all, number(others));
    }
    SmallVector<Index, 2> indices(map.sizes.size());
    SmallVector<llvm::Value *, 2> key;
    auto widened = [&](llvm::Value *index) {
      llvm::Value *&wide = known[{index, -1}];
      return wide = wide ? wide : b.CreateZExt(index, b.getInt64Ty());
    };
    if (map.abreast > 1)
      besides[widened(other)] = {widened(plus(rest, passed % others)), beside, map.abreast};
    auto at = [&](size_t d, llvm::Value *index, int64_t multiple, int64_t step) {
      llvm::Value *wide = widened(index);
      auto *fixed = llvm::dyn_cast<llvm::ConstantInt>(wide);
      indices[d] = ownedIndex(wide, fixed ? fixed->getSExtValue() : multiple, step);
    };
    llvm::Value *&vector = known[{runs, -2}];
    vector = vector ? vector : b.CreateMul(b.CreateAdd(b.CreateMul(runs, number(run)), inRun), number(map.width));
    at(map.inner, vector, map.width, map.width > 1);
    for (size_t d = map.sizes.size(); d-- > 0;) {
      if (d == map.inner)
        continue;
      bool first = d == 0 || (d == 1 && map.inner == 0);
      at(d, first ? other : b.CreateURem(other, number(map.sizes[d])), 1, 0);
      if (!first)
        other = b.CreateUDiv(other, number(map.sizes[d]));
    }
    for (const Index &index : indices)
      key.push_back(index.base);
    result.slots[key] = k;
    result.chunks.push_back(std::move(indices));
  }
}

Point SimtEmitter::pointAt(const Points &points, unsigned chunk, ArrayRef<int64_t> shape) {
  Point point(shape.size(), evaluator.indices.constant(0));
  const Index *next = points.chunks[chunk].begin();
  for (size_t d = 0; d < shape.size(); ++d)
    if (shape[d] != 1) {
      point[d] = *next++;
      point[d].loop = int(d);
    }
  return point;
}

void SimtEmitter::makeRegisterTiles() {
  auto &b = e.b;
  for (int buffer = 0, n = plan.buffers.size(); buffer < n; ++buffer) {
    const ThreadMap *map = simtPlan.inRegisters.lookup(buffer);
    if (!map)
      continue;
    RegisterTile &tile = registerTiles[buffer];
    tile.slots = &pointsOf(*map).slots;
    llvm::IRBuilderBase::InsertPointGuard guard(b);
    b.SetInsertPoint(entryEnd);
    llvm::Type *type = e.vectorOf(e.valueType(plan.buffers[buffer].element), map->width);
    for (int64_t k = 0; k < map->chunks; ++k)
      tile.variables.push_back(b.CreateAlloca(type)); // LLVM makes registers of them
  }
}

// -- nests

void SimtEmitter::combineAlways(Region &combine, SmallVectorImpl<Lanes> &values, ArrayRef<Lanes> others) {
  SmallVector<Lanes> both;
  evaluator.failed |= !lower::emitCombine(e, combine, values, others, both, [&](Value v) { return evaluator.scalar(v); });
  if (!evaluator.failed)
    values.assign(both);
}

void SimtEmitter::accumulate(RowSums &sums, unsigned chunk, ArrayRef<Lanes> fresh) {
  for (Sum &sum : sums.sums) {
    ArrayRef<Lanes> own = fresh.take_front(sum.reduce.getNumOperands());
    fresh = fresh.drop_front(own.size());
    int64_t line = sum.lines.lineOf(chunk);
    SmallVector<Lanes> &values = sum.partials[line];
    if (chunk == sum.lines.chunkOf(line, 0)) {
      values.assign(own.begin(), own.end());
      continue;
    }
    SmallVector<Lanes> before(values);
    combineAlways(sum.reduce.getCombine(), values, own);
    if (sums.lastExists && chunk + 1 == sums.map.chunks)
      for (auto [value, old] : llvm::zip(values, before))
        value = e.b.CreateSelect(sums.lastExists, value, old);
  }
}

void SimtEmitter::combineLanes(tile::ReduceOp reduce, SmallVectorImpl<Lanes> &values, unsigned lanes) {
  for (unsigned distance = lanes / 2; distance; distance /= 2) {
    SmallVector<Lanes> others;
    for (Lanes value : values)
      others.push_back(shuffle(value, distance));
    combineAlways(reduce.getCombine(), values, others);
  }
}

// A thread's own elements, then its warp's threads, then the warps through shared memory: in this order whatever the tile holds.
void SimtEmitter::finishRows(const Nest &nest, const ThreadMap &map, RowSums &sums) {
  auto &b = e.b;
  unsigned members = sums.rows.members, inWarp = std::min(members, warpSize), warps = members / inWarp;
  for (Sum &sum : sums.sums)
    for (SmallVector<Lanes> &values : sum.partials) {
      std::vector<SmallVector<Lanes>> lanes(map.width);
      for (unsigned lane = 0; lane < map.width; ++lane)
        for (Lanes value : values)
          lanes[lane].push_back(map.width == 1 ? value : b.CreateExtractElement(value, uint64_t(lane)));
      for (unsigned distance = map.width / 2; distance; distance /= 2)
        for (unsigned lane = 0; lane < distance; ++lane)
          combineAlways(sum.reduce.getCombine(), lanes[lane], lanes[lane + distance]);
      values = lanes[0];
      combineLanes(sum.reduce, values, inWarp);
    }
  if (warps > 1) {
    combineWarps(sums, warps);
  } else if (map.sizes.size() <= 1 && inWarp > 1) { // the one row's result is every thread's
    llvm::Value *leader = b.CreateAnd(b.CreateTrunc(thread, b.getInt32Ty()), b.getInt32(warpSize - inWarp));
    for (Sum &sum : sums.sums)
      for (Lanes &value : sum.partials[0])
        value =
            movedBetweenThreads(value, [&](llvm::Value *part) { return machine.shuffleFrom(e, part, leader, b.getInt32(-1)); });
  }
  lower::Evaluator::Vector single(evaluator, 1);
  const Points &p = pointsOf(map);
  for (Sum &sum : sums.sums) {
    uint64_t axis = sum.reduce.getAxis();
    SmallVector<int64_t> shape(nest.shape);
    shape.erase(shape.begin() + axis);
    for (auto [row, values] : llvm::enumerate(sum.partials)) {
      Point where = pointAt(p, row * sums.rows.chunksOfRow, nest.shape);
      where.erase(where.begin() + axis);
      for (auto [i, value] : llvm::enumerate(values)) {
        if (shape.empty()) {
          evaluator.scalars[sum.reduce.getResult(i)] = value;
          continue;
        }
        int buffer = sum.sink->buffers[i];
        bool inRegisters = registerTiles.contains(buffer);
        llvm::Value *leads = map.sizes.size() <= 1 ? b.CreateICmpEQ(thread, e.i64(0))
                                                   : b.CreateICmpEQ(b.CreateAnd(thread, e.i64(members - 1)), e.i64(0));
        when(inRegisters ? nullptr : e.band(leads, p.first),
             [&, value = value] { evaluator.writeStored(buffer, shape, where, value); });
      }
    }
  }
}

uint64_t SimtEmitter::beginExchange() {
  if (exchangeRead[0] && exchangeRead[1])
    barrier();
  return sumsOffset + exchangeRead[0] * simtPlan.exchangeBytes;
}

void SimtEmitter::endExchange(uint64_t area) {
  barrier();
  exchangeRead[area != sumsOffset] = true;
}

llvm::Value *SimtEmitter::warpsPlace(uint64_t item, Type element, llvm::Value *entry) {
  llvm::Value *base = e.b.CreateConstInBoundsGEP1_64(e.b.getInt8Ty(), evaluator.memory.arena, item);
  return e.b.CreateInBoundsGEP(e.memoryType(element), base, entry);
}

void SimtEmitter::tellWarps(uint64_t item, Type element, llvm::Value *warp, Lanes value) {
  auto &b = e.b;
  llvm::Value *lane = b.CreateTrunc(b.CreateAnd(thread, e.i64(warpSize - 1)), b.getInt32Ty());
  if (simtPlan.cluster == 1) {
    when(b.CreateICmpEQ(lane, b.getInt32(0)),
         [&] { b.CreateStore(e.toMemory(value, element), warpsPlace(item, element, warp)); });
    return;
  }
  value =
      movedBetweenThreads(value, [&](llvm::Value *part) { return machine.shuffleFrom(e, part, b.getInt32(0), b.getInt32(-1)); });
  when(b.CreateICmpULT(lane, b.getInt32(simtPlan.cluster)), [&] { // a block a lane
    llvm::Value *bytes = b.CreateMul(b.CreateTrunc(warp, b.getInt32Ty()), b.getInt32(lower::elementBytes(element)));
    llvm::Value *own = b.CreateAdd(b.CreateAdd(sharedAddress, b.getInt32(item)), bytes);
    machine.storeShared(e, machine.peerAddress(e, own, lane), e.toMemory(value, element), true);
  });
}

// Few warps' values are loaded by each thread. Of more, a lane loads one, or one of each 32: each thread would move 128 bytes of 32 warps.
void SimtEmitter::combineWarps(RowSums &sums, unsigned warps) {
  auto &b = e.b;
  uint64_t first = beginExchange(), bytes = uint64_t(exchangeItem) * simtPlan.cluster;
  auto forItems = [&](llvm::function_ref<void(Sum &, SmallVector<Lanes> &, uint64_t)> visit) {
    uint64_t at = first;
    for (Sum &sum : sums.sums)
      for (SmallVector<Lanes> &values : sum.partials) {
        visit(sum, values, at);
        at += bytes * values.size();
      }
  };
  llvm::Value *warp = b.CreateLShr(thread, e.i64(5)), *firstWarp = b.CreateAnd(warp, e.i64(-int64_t(warps)));
  forItems([&](Sum &sum, SmallVector<Lanes> &values, uint64_t at) {
    for (auto [i, value] : llvm::enumerate(values))
      tellWarps(at + i * bytes, lower::elementOf(sum.reduce.getOperands()[i]), warp, value);
  });
  endExchange(first);
  unsigned lanes = warps >= warpsByLanes ? std::min(warps, warpSize) : 1, held = warps / lanes;
  forItems([&](Sum &sum, SmallVector<Lanes> &values, uint64_t at) {
    std::vector<SmallVector<Lanes>> parts(held);
    for (unsigned i = 0; i < values.size(); ++i) {
      Type element = lower::elementOf(sum.reduce.getOperands()[i]);
      unsigned size = lower::elementBytes(element);
      if (lanes == 1) {
        auto *all = b.CreateAlignedLoad(e.vectorOf(e.memoryType(element), warps), warpsPlace(at + i * bytes, element, firstWarp),
                                        llvm::Align(std::min(warps * size, 16u)));
        for (unsigned w = 0; w < warps; ++w)
          parts[w].push_back(e.fromMemory(b.CreateExtractElement(all, uint64_t(w)), element));
        continue;
      }
      llvm::Value *own = b.CreateAdd(firstWarp, b.CreateAnd(thread, e.i64(lanes - 1)));
      for (unsigned w = 0; w < held; ++w) {
        llvm::Value *place = warpsPlace(at + i * bytes, element, b.CreateAdd(own, e.i64(w * lanes)));
        parts[w].push_back(e.fromMemory(b.CreateAlignedLoad(e.memoryType(element), place, llvm::Align(size)), element));
      }
    }
    for (unsigned distance = held / 2; distance; distance /= 2)
      for (unsigned w = 0; w < distance; ++w)
        combineAlways(sum.reduce.getCombine(), parts[w], parts[w + distance]);
    values = parts[0];
    if (lanes > 1)
      combineLanes(sum.reduce, values, lanes);
    for (Lanes &value : values)
      if (lanes > 1)
        value = movedBetweenThreads(
            value, [&](llvm::Value *part) { return machine.shuffleFrom(e, part, b.getInt32(0), b.getInt32(-1)); });
  });
}

void SimtEmitter::commitChunk(const Nest &nest, const ThreadMap &map, unsigned chunk, ArrayRef<Lanes> values) {
  const Points &p = pointsOf(map);
  Point point = pointAt(p, chunk, nest.shape);
  for (const Sink &sink : nest.sinks) {
    if (sink.kind != Sink::Reduce)
      commit(nest, sink, point, values.front(), p.first);
    values = values.drop_front(sink.kind == Sink::Reduce ? sink.op->getNumOperands() : 1);
  }
}

// What a nest loads at its own elements.
SmallVector<Value> SimtEmitter::loadsOf(const Nest &nest, const ThreadMap &map) const {
  auto isStored = [&](Value value) { return !plan.isVirtual(value); };
  SmallVector<Value> loads;
  for (const Sink &sink : nest.sinks)
    if (sink.kind != Sink::Copy || sink.value)
      for (const auto &[value, reach] : lower::pullOf(sink, isStored).tiles)
        if (value.getDefiningOp<tile::LoadOp>() && !isStored(value) && reach.ownElement &&
            llvm::equal(llvm::make_filter_range(tile::shapeOf(value.getType()), [](int64_t size) { return size != 1; }),
                        map.sizes))
          loads.push_back(value);
  return loads;
}

SimtEmitter::Sum SimtEmitter::sumOf(const Nest &nest, const Sink &sink, const ThreadMap &map, const ThreadMap::Rows &rows) {
  auto reduce = cast<tile::ReduceOp>(sink.op);
  bool alongRows = llvm::all_of(ArrayRef(nest.shape).drop_front(reduce.getAxis() + 1), [](int64_t size) { return size == 1; });
  ThreadMap::Lines lines;
  if (alongRows)
    lines.chunks = rows.chunksOfRow;
  else
    lines = *map.lines(nest.shape, reduce.getAxis());
  size_t count = alongRows ? rows.count : map.chunks / lines.chunks;
  return {&sink, reduce, lines, alongRows, std::vector<SmallVector<Lanes>>(count)};
}

// Values and places of several vectors before the first is updated: what they are loaded from answers while others are asked.
void SimtEmitter::mappedUpdates(const Nest &nest, const ThreadMap &map) {
  auto update = cast<tile::AtomicRmwOp>(nest.sinks[0].op);
  const Points &p = pointsOf(map);
  lower::AtomicOrder each = orderOf(update).each;
  int64_t batch = std::max<int64_t>(1, elementsAtOnce / int64_t(map.width));
  for (int64_t k = 0; k < map.chunks; k += batch) {
    SmallVector<std::pair<lower::Address, Lanes>> ready;
    for (int64_t next = k; next < std::min(k + batch, map.chunks); ++next) {
      lower::Evaluator::Vector vector(evaluator, map.width, next + 1 == map.chunks ? p.lastExists : nullptr);
      Point point = pointAt(p, next, nest.shape);
      Lanes values = e.splat(evaluator.value(update.getValue(), point), map.width);
      ready.emplace_back(evaluator.addresses.ofPlace(update.getPlace(), point), values);
    }
    lower::Evaluator::Vector vector(evaluator, map.width);
    for (auto &[where, values] : ready)
      lower::updateLanes(evaluator, update, where, values, p.first, each);
  }
}

void SimtEmitter::mappedNest(const Nest &nest, const ThreadMap &map, bool overwrites) {
  const Points &p = pointsOf(map);
  RowSums sums{map, map.rows().value_or(ThreadMap::Rows()), p.lastExists, {}};
  across.clear();
  for (const Sink &sink : nest.sinks) {
    if (sink.kind == Sink::Reduce)
      sums.sums.push_back(sumOf(nest, sink, map, sums.rows));
  }
  auto limit = [&](int64_t chunk) { return chunk + 1 == map.chunks ? p.lastExists : nullptr; };
  SmallVector<Value> loads = loadsOf(nest, map);
  bool copies = llvm::all_of(nest.sinks, [](const Sink &sink) { // as it is, in words
    return sink.kind == Sink::BufferStore && cast<tile::BufferStoreOp>(sink.op).getValue().getDefiningOp<tile::LoadOp>();
  });
  int64_t each = 0;
  for (Value load : loads)
    each += copies ? llvm::divideCeil(map.width * lower::elementBytes(lower::elementOf(load)), 4) : map.width;
  int64_t batch = std::max<int64_t>(1, elementsAtOnce / std::max<int64_t>(1, loads.empty() ? map.width : each));
  for (int64_t k = 0; k < map.chunks; ++k) {
    if (k % batch == 0) // no store stands between the loads that follow
      for (int64_t next = k; next < std::min(k + batch, map.chunks); ++next)
        for (Value load : loads) {
          lower::Evaluator::Vector vector(evaluator, map.width, limit(next));
          evaluator.value(load, pointAt(p, next, tile::shapeOf(load.getType())));
        }
    lower::Evaluator::Vector vector(evaluator, map.width, limit(k));
    SmallVector<Lanes> values = valuesOf(nest, pointAt(p, k, nest.shape)), reduced;
    if (map.copies() && overwrites)
      barrier(); // all copies have read what one of them overwrites
    commitChunk(nest, map, k, values);
    const Lanes *next = values.begin();
    for (const Sink &sink : nest.sinks) {
      unsigned count = sink.kind == Sink::Reduce ? sink.op->getNumOperands() : 1;
      for (unsigned i = 0; i < count; ++i, ++next)
        if (sink.kind == Sink::Reduce)
          reduced.push_back(e.splat(*next, map.width));
    }
    accumulate(sums, k, reduced);
  }
  across.clear();
  if (evaluator.failed)
    return;
  SmallVector<Sum *> alongOthers;
  RowSums alongRows{map, sums.rows, sums.lastExists, {}};
  for (Sum &sum : sums.sums)
    if (sum.alongRows)
      alongRows.sums.push_back(std::move(sum));
    else
      alongOthers.push_back(&sum);
  if (!alongRows.sums.empty())
    finishRows(nest, map, alongRows);
  if (!alongOthers.empty())
    finishLines(nest, map, alongOthers);
}

} // namespace tilery::cuda
