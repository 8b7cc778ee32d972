// Scans, and reductions along other dimensions than the last, of tiles whose elements threads hold: in lanes of vectors, then by shuffles
// within warps, then between warps through shared memory, then chunk by chunk.
#include "compiler/targets/cuda/simt/simt_sums.h"

using namespace mlir;

namespace tilery::cuda {
using lower::Index;
using lower::Lanes;
using lower::Nest;
using lower::Point;

/// Where a thread stands in the lines of a dimension. Numbers are i32.
struct SimtEmitter::LinePlace {
  const ThreadMap::Lines &lines;
  unsigned width; // lanes of a value: a line each
  llvm::Value *lane, *thread, *warp;
  llvm::Value *firstWarp, *line; // the first warp of the line, the line's number among those of a warp
};

SimtEmitter::LinePlace SimtEmitter::placeIn(const ThreadMap::Lines &lines, unsigned width) {
  auto &b = e.b;
  auto number = [&](unsigned n) { return b.getInt32(n); };
  llvm::Value *own = b.CreateTrunc(thread, b.getInt32Ty()), *lane = b.CreateAnd(own, number(31)), *warp = b.CreateLShr(own, 5);
  auto placeOf = [&](llvm::Value *at, unsigned step, unsigned count) {
    return b.CreateAnd(b.CreateUDiv(at, number(step)), number(count - 1));
  };
  llvm::Value *inLine = placeOf(lane, lines.threadStep, lines.threads), *warpInLine = placeOf(warp, lines.warpStep, lines.warps);
  llvm::Value *low = b.CreateAnd(lane, number(lines.threadStep - 1));
  llvm::Value *high = b.CreateUDiv(lane, number(lines.threadStep * lines.threads));
  return {lines,
          width,
          lane,
          inLine,
          warpInLine,
          b.CreateSub(warp, b.CreateMul(warpInLine, number(lines.warpStep))),
          b.CreateAdd(b.CreateMul(high, number(lines.threadStep)), low)};
}

Lanes SimtEmitter::fromThread(const LinePlace &place, Lanes value, int distance) {
  auto &b = e.b;
  llvm::Value *from = b.CreateAnd(b.CreateAdd(place.lane, b.getInt32(distance * int(place.lines.threadStep))), b.getInt32(31));
  return fromLane(value, from);
}

Lanes SimtEmitter::fromLane(Lanes value, llvm::Value *lane) {
  auto &b = e.b;
  auto move = [&](llvm::Value *part) { return machine.shuffleFrom(e, part, lane, b.getInt32(-1)); };
  unsigned lanes = e.lanesOf(value);
  if (lanes == 1)
    return movedBetweenThreads(value, move);
  Lanes result = llvm::PoisonValue::get(value->getType());
  for (uint64_t i = 0; i < lanes; ++i)
    result = b.CreateInsertElement(result, movedBetweenThreads(b.CreateExtractElement(value, i), move), i);
  return result;
}

SmallVector<Lanes> SimtEmitter::combined(Region &combine, ArrayRef<Lanes> left, ArrayRef<Lanes> right) {
  SmallVector<Lanes> result(left);
  combineAlways(combine, result, right);
  for (auto [value, like] : llvm::zip(result, left))
    value = e.splat(value, e.lanesOf(like));
  return result;
}

llvm::Value *SimtEmitter::placeBetween(const LinePlace &place, uint64_t item, Type element, unsigned warp) {
  auto &b = e.b;
  const ThreadMap::Lines &lines = place.lines;
  llvm::Value *number = b.CreateAdd(place.firstWarp, b.getInt32(warp * lines.warpStep));
  number = b.CreateAdd(b.CreateMul(number, b.getInt32(lines.perWarp())), place.line);
  return warpsPlace(item, element, b.CreateZExt(b.CreateMul(number, b.getInt32(place.width)), b.getInt64Ty()));
}

void SimtEmitter::tellLine(const LinePlace &place, uint64_t item, Type element, Lanes value) {
  auto &b = e.b;
  llvm::Value *warp = b.CreateAdd(place.firstWarp, b.CreateMul(place.warp, b.getInt32(place.lines.warpStep)));
  llvm::Value *number = b.CreateAdd(b.CreateMul(warp, b.getInt32(place.lines.perWarp())), place.line);
  llvm::Value *at = warpsPlace(item, element, b.CreateZExt(b.CreateMul(number, b.getInt32(place.width)), b.getInt64Ty()));
  b.CreateAlignedStore(e.toMemory(value, element), at, alignmentBetween(place, element));
}

Lanes SimtEmitter::toldBy(const LinePlace &place, uint64_t item, Type element, unsigned warp) {
  llvm::Type *type = e.vectorOf(e.memoryType(element), place.width);
  return e.fromMemory(e.b.CreateAlignedLoad(type, placeBetween(place, item, element, warp), alignmentBetween(place, element)),
                      element);
}

llvm::Align SimtEmitter::alignmentBetween(const LinePlace &place, Type element) const {
  return llvm::Align(std::min<uint64_t>(16, llvm::bit_floor(place.width * uint64_t(lower::elementBytes(element)))));
}

void SimtEmitter::writeTile(int buffer, ArrayRef<int64_t> shape, const Point &point, Lanes value, llvm::Value *only) {
  if (registerTiles.contains(buffer))
    return evaluator.writeStored(buffer, shape, point, value);
  lower::Address where = evaluator.addresses.ofStored(buffer, shape, point);
  where.exists = e.band(where.exists, only);
  evaluator.memory.store(where, value);
}

// -- reductions

// What threads have is combined in any order: the operation commutes, or picks one. Of a line within a warp its first thread writes it.
void SimtEmitter::finishLines(const Nest &nest, const ThreadMap &map, ArrayRef<Sum *> sums) {
  auto &b = e.b;
  const Points &p = pointsOf(map);
  bool meet = llvm::any_of(sums, [](const Sum *sum) { return sum->lines.warps > 1; });
  for (Sum *sum : sums)
    for (SmallVector<Lanes> &values : sum->partials) {
      LinePlace place = placeIn(sum->lines, map.width);
      for (unsigned distance = sum->lines.threads / 2; distance; distance /= 2) {
        SmallVector<Lanes> others;
        for (Lanes value : values)
          others.push_back(fromThread(place, value, distance));
        values = combined(sum->reduce.getCombine(), values, others);
      }
    }
  uint64_t area = meet ? beginExchange() : 0;
  auto bytesOf = [&](Sum &sum, unsigned operand) {
    return map.bytesBetweenWarps(sum.lines, 1, lower::elementBytes(lower::elementOf(sum.reduce.getOperands()[operand])));
  };
  auto forItems = [&](llvm::function_ref<void(Sum &, const LinePlace &, int64_t line, uint64_t item)> visit) {
    uint64_t item = area;
    for (Sum *sum : sums) {
      LinePlace place = placeIn(sum->lines, map.width);
      for (int64_t line = 0; line < int64_t(sum->partials.size()); ++line) {
        visit(*sum, place, line, item);
        for (unsigned i = 0; i < sum->reduce.getNumOperands(); ++i)
          item += bytesOf(*sum, i);
      }
    }
  };
  if (meet) {
    forItems([&](Sum &sum, const LinePlace &place, int64_t line, uint64_t item) {
      if (sum.lines.warps == 1)
        return;
      when(b.CreateICmpEQ(place.thread, b.getInt32(0)), [&] {
        for (auto [i, value] : llvm::enumerate(sum.partials[line])) {
          tellLine(place, item, lower::elementOf(sum.reduce.getOperands()[i]), value);
          item += bytesOf(sum, i);
        }
      });
    });
    endExchange(area);
  }
  forItems([&](Sum &sum, const LinePlace &place, int64_t line, uint64_t item) {
    if (sum.lines.warps > 1 && llvm::none_of(sum.sink->buffers, [&](int buffer) { return registerTiles.contains(buffer); }))
      return combineWarpsOf(nest, map, sum, line, item);
    llvm::Value *leads = b.CreateICmpEQ(b.CreateOr(place.thread, place.warp), b.getInt32(0));
    when(e.band(leads, p.first), [&] {
      lower::Evaluator::Region region(evaluator);
      SmallVector<Lanes> values = sum.partials[line];
      for (unsigned warp = 1; warp < sum.lines.warps; ++warp) {
        SmallVector<Lanes> others;
        uint64_t at = item;
        for (auto [i, operand] : llvm::enumerate(sum.reduce.getOperands())) {
          others.push_back(toldBy(place, at, lower::elementOf(operand), warp));
          at += bytesOf(sum, i);
        }
        values = combined(sum.reduce.getCombine(), values, others);
      }
      uint64_t axis = sum.reduce.getAxis();
      SmallVector<int64_t> shape(nest.shape);
      shape.erase(shape.begin() + axis);
      Point where = pointAt(p, sum.lines.chunkOf(line, 0), nest.shape);
      where.erase(where.begin() + axis);
      lower::Evaluator::Vector vector(evaluator, map.width);
      for (auto [buffer, value] : llvm::zip(sum.sink->buffers, values))
        writeTile(buffer, shape, where, value, nullptr);
    });
  });
}

// Each thread takes a number of the line that warps have told, or several: the line's own threads are few, and would take all of it.
void SimtEmitter::combineWarpsOf(const Nest &nest, const ThreadMap &map, Sum &sum, int64_t line, uint64_t item) {
  auto &b = e.b;
  constexpr unsigned warp = 32;
  const ThreadMap::Lines &lines = sum.lines;
  uint64_t ofWarp = lines.perWarp() * map.width,
           count = std::min<int64_t>(map.threads, map.vectors) / warp / lines.warps * ofWarp;
  auto number = [&](uint64_t n) { return b.getInt32(n); };
  for (uint64_t first = 0; first < count; first += map.threads) {
    llvm::Value *own = b.CreateAdd(b.CreateTrunc(thread, b.getInt32Ty()), number(first));
    when(first + map.threads > count ? b.CreateICmpULT(own, number(count)) : nullptr, [&] {
      lower::Evaluator::Region region(evaluator);
      lower::Evaluator::Vector single(evaluator, 1);
      llvm::Value *group = b.CreateUDiv(own, number(ofWarp)), *inWarp = b.CreateURem(own, number(ofWarp));
      llvm::Value *firstWarp = b.CreateMul(b.CreateUDiv(group, number(lines.warpStep)), number(lines.warpStep * lines.warps));
      firstWarp = b.CreateAdd(firstWarp, b.CreateURem(group, number(lines.warpStep)));
      SmallVector<Lanes> values;
      for (unsigned w = 0; w < lines.warps; ++w) {
        llvm::Value *told = b.CreateMul(b.CreateAdd(firstWarp, number(w * lines.warpStep)), number(ofWarp));
        llvm::Value *entry = b.CreateZExt(b.CreateAdd(told, inWarp), b.getInt64Ty());
        SmallVector<Lanes> others;
        uint64_t at = item;
        for (Value operand : sum.reduce.getOperands()) {
          Type element = lower::elementOf(operand);
          others.push_back(e.fromMemory(b.CreateLoad(e.memoryType(element), warpsPlace(at, element, entry)), element));
          at += map.bytesBetweenWarps(lines, 1, lower::elementBytes(element));
        }
        values = w ? combined(sum.reduce.getCombine(), values, others) : others;
      }
      llvm::Value *inLine = b.CreateUDiv(inWarp, number(map.width)), *lane = b.CreateURem(inWarp, number(map.width));
      llvm::Value *leader = b.CreateMul(b.CreateUDiv(inLine, number(lines.threadStep)), number(lines.threadStep * lines.threads));
      leader = b.CreateAdd(leader, b.CreateURem(inLine, number(lines.threadStep)));
      leader = b.CreateAdd(b.CreateMul(firstWarp, number(warp)), leader);
      llvm::Value *vector = b.CreateAdd(leader, number(lines.chunkOf(line, 0) * map.threads));
      Point where = pointWithout(nest.shape, sum.reduce.getAxis(), b.CreateAdd(b.CreateMul(vector, number(map.width)), lane));
      SmallVector<int64_t> shape(nest.shape);
      shape.erase(shape.begin() + sum.reduce.getAxis());
      for (auto [buffer, value] : llvm::zip(sum.sink->buffers, values))
        writeTile(buffer, shape, where, value, nullptr);
    });
  }
}

// Numbers of a tile's elements are below 2^31.
Point SimtEmitter::pointWithout(ArrayRef<int64_t> shape, unsigned axis, llvm::Value *element) {
  auto &b = e.b;
  Point point(shape.size());
  for (size_t d = shape.size(); d-- > 0;) {
    llvm::Value *index = d ? b.CreateURem(element, b.getInt32(shape[d])) : element;
    element = d ? b.CreateUDiv(element, b.getInt32(shape[d])) : element;
    point[d] = Index{b.CreateZExt(index, b.getInt64Ty()), 0, nullptr, 0, 1};
  }
  point.erase(point.begin() + axis);
  return point;
}

// -- scans

namespace {
using Values = SmallVector<Lanes>; // one an operand
/// What comes before an element: whether there is anything, where that is not known (null: it is).
struct Before {
  Values values; // none: there is nothing
  llvm::Value *exists = nullptr;
};
} // namespace

/// Of one scan: the order in which lanes, threads, warps and chunks come.
struct SimtEmitter::Scan {
  tile::ScanOp op;
  LinePlace place;
  int64_t order(int64_t i, int64_t count) const { return const_cast<tile::ScanOp &>(op).getReverse() ? count - 1 - i : i; }
};

void SimtEmitter::mappedScan(tile::ScanOp op, const ThreadMap &map) {
  auto &b = e.b;
  const Points &p = pointsOf(map);
  ArrayRef<int64_t> shape = tile::shapeOf(op.getOperands()[0].getType());
  ThreadMap::Lines lines = *map.lines(shape, op.getAxis());
  unsigned parts = lines.lanes;
  Scan scan{op, placeIn(lines, map.width / parts)};
  Region &combine = op.getCombine();
  std::vector<std::vector<Values>> elements(map.chunks, std::vector<Values>(parts));
  for (int64_t k = 0; k < map.chunks; ++k) {
    lower::Evaluator::Vector vector(evaluator, map.width);
    for (Value operand : op.getOperands()) {
      Lanes value = e.splat(evaluator.value(operand, pointAt(p, k, shape)), map.width);
      for (unsigned i = 0; i < parts; ++i)
        elements[k][i].push_back(parts == 1 ? value : b.CreateExtractElement(value, uint64_t(i)));
    }
  }
  std::vector<Values> totals;
  for (std::vector<Values> &own : elements) {
    for (unsigned i = 1; i < parts; ++i)
      own[scan.order(i, parts)] = combined(combine, own[scan.order(i - 1, parts)], own[scan.order(i, parts)]);
    totals.push_back(own[scan.order(parts - 1, parts)]);
  }
  std::vector<SmallVector<Lanes>> inWarp = scanWarp(scan, totals);
  std::vector<Before> before(map.chunks);
  if (lines.warps > 1 || lines.chunks > 1) {
    std::vector<Values> taken = takeTotals(scan, map, totals);
    scanChunks(scan, map, taken,
               [&](int64_t chunk, Values values, llvm::Value *exists) { before[chunk] = {std::move(values), exists}; });
  }
  llvm::Value *afterThread =
      lines.threads == 1 ? nullptr : b.CreateICmpNE(place(scan, scan.place.thread, lines.threads), b.getInt32(0));
  for (int64_t k = 0; k < map.chunks; ++k) {
    Before all = before[k];
    if (afterThread && all.values.empty()) {
      all = {inWarp[k], afterThread};
    } else if (afterThread) {
      Values both = combined(combine, all.values, inWarp[k]);
      for (auto [value, first, own] : llvm::zip(all.values, both, inWarp[k])) {
        Lanes here = all.exists ? b.CreateSelect(all.exists, first, own) : first;
        value = b.CreateSelect(afterThread, here, value);
      }
      all.exists = all.exists ? b.CreateOr(all.exists, afterThread) : nullptr;
    }
    std::vector<Values> &own = elements[k];
    for (Values &element : own)
      if (!all.values.empty()) {
        Values after = combined(combine, all.values, element);
        for (auto [value, with] : llvm::zip(element, after))
          value = all.exists ? b.CreateSelect(all.exists, with, value) : with;
      }
    lower::Evaluator::Vector vector(evaluator, map.width);
    for (auto [i, result] : llvm::enumerate(op.getResults())) {
      Lanes value = own[0][i];
      if (parts > 1) {
        value = llvm::PoisonValue::get(e.vectorOf(value->getType(), map.width));
        for (unsigned lane = 0; lane < parts; ++lane)
          value = b.CreateInsertElement(value, own[lane][i], uint64_t(lane));
      }
      writeTile(plan.storage.lookup(result), shape, pointAt(p, k, shape), value, p.first);
    }
  }
}

llvm::Value *SimtEmitter::place(const Scan &scan, llvm::Value *number, unsigned count) {
  return const_cast<tile::ScanOp &>(scan.op).getReverse() ? e.b.CreateSub(e.b.getInt32(count - 1), number) : number;
}

// Each thread's totals with those of the threads before it in its warp; returns those without its own.
std::vector<SmallVector<Lanes>> SimtEmitter::scanWarp(const Scan &scan, std::vector<SmallVector<Lanes>> &totals) {
  auto &b = e.b;
  tile::ScanOp op = scan.op;
  int sign = op.getReverse() ? 1 : -1;
  unsigned threads = scan.place.lines.threads;
  std::vector<Values> before;
  if (threads == 1)
    return before;
  llvm::Value *number = place(scan, scan.place.thread, threads);
  auto moved = [&](const Values &values, unsigned distance) {
    Values result;
    for (Lanes value : values)
      result.push_back(fromThread(scan.place, value, sign * int(distance)));
    return result;
  };
  for (Values &total : totals) {
    for (unsigned distance = 1; distance < threads; distance *= 2) {
      Values both = combined(op.getCombine(), moved(total, distance), total);
      llvm::Value *exists = b.CreateICmpUGE(number, b.getInt32(distance));
      for (auto [value, sum] : llvm::zip(total, both))
        value = b.CreateSelect(exists, sum, value);
    }
    before.push_back(moved(total, 1));
  }
  return before;
}

// By chunk and, in it, by warp in the line: what the warp's part of the line comes to.
std::vector<SmallVector<Lanes>> SimtEmitter::takeTotals(const Scan &scan, const ThreadMap &map,
                                                        ArrayRef<SmallVector<Lanes>> totals) {
  auto &b = e.b;
  tile::ScanOp op = scan.op;
  const ThreadMap::Lines &lines = scan.place.lines;
  unsigned last = scan.order(lines.threads - 1, lines.threads);
  std::vector<Values> taken;
  if (lines.warps == 1) {
    llvm::Value *cleared = b.CreateAnd(scan.place.lane, b.getInt32(~((lines.threads - 1) * lines.threadStep)));
    llvm::Value *lane = b.CreateOr(cleared, b.getInt32(last * lines.threadStep));
    for (const Values &total : totals) {
      Values &values = taken.emplace_back(total);
      for (Lanes &value : values)
        value = lines.threads == 1 ? value : fromLane(value, lane);
    }
    return taken;
  }
  uint64_t first = beginExchange();
  auto forItems = [&](llvm::function_ref<void(int64_t chunk, unsigned operand, Type element, uint64_t item)> visit) {
    uint64_t item = first;
    for (int64_t k = 0; k < map.chunks; ++k)
      for (auto [i, operand] : llvm::enumerate(op.getOperands())) {
        Type element = lower::elementOf(operand);
        visit(k, i, element, item);
        item += map.bytesBetweenWarps(lines, 1, lower::elementBytes(element));
      }
  };
  when(lines.threads == 1 ? nullptr : b.CreateICmpEQ(scan.place.thread, b.getInt32(last)), [&] {
    forItems([&](int64_t chunk, unsigned operand, Type element, uint64_t item) {
      tellLine(scan.place, item, element, totals[chunk][operand]);
    });
  });
  endExchange(first);
  taken.resize(map.chunks * lines.warps);
  forItems([&](int64_t chunk, unsigned, Type element, uint64_t item) {
    for (unsigned warp = 0; warp < lines.warps; ++warp)
      taken[chunk * lines.warps + warp].push_back(toldBy(scan.place, item, element, warp));
  });
  return taken;
}

void SimtEmitter::scanChunks(const Scan &scan, const ThreadMap &map, ArrayRef<SmallVector<Lanes>> taken,
                             llvm::function_ref<void(int64_t, SmallVector<Lanes>, llvm::Value *)> found) {
  auto &b = e.b;
  tile::ScanOp op = scan.op;
  const ThreadMap::Lines &lines = scan.place.lines;
  llvm::Value *number = place(scan, scan.place.warp, lines.warps);
  for (int64_t line = 0; line < map.chunks / lines.chunks; ++line) {
    Values running; // nothing yet
    for (int64_t i = 0; i < lines.chunks; ++i) {
      int64_t chunk = lines.chunkOf(line, scan.order(i, lines.chunks));
      Values own;
      for (unsigned w = 0; w < lines.warps; ++w) {
        if (own.empty())
          own = running;
        else
          for (auto [value, sum] : llvm::zip(own, running))
            value = b.CreateSelect(b.CreateICmpEQ(number, b.getInt32(w)), sum, value);
        const Values &total = taken[chunk * lines.warps + scan.order(w, lines.warps)];
        running = running.empty() ? total : combined(op.getCombine(), running, total);
      }
      if (!own.empty())
        found(chunk, own, i ? nullptr : b.CreateICmpNE(number, b.getInt32(0)));
    }
  }
}

} // namespace tilery::cuda
