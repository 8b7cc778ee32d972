// The code of loops that run for a few vectors of elements at a time.
#include "compiler/lower/element_loops.h"
#include "compiler/analysis/integer_op.h"
#include "compiler/explain/findings.h"
#include "compiler/lower/explain_plan.h"
#include "compiler/lower/interleave.h"
#include "compiler/lower/loop.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;

namespace tilery::lower {
namespace {
bool isTile(Value value) { return isa<RankedTensorType>(value.getType()); }

/// Of the yields of a loop and of those within it: what the block's code computes.
void addYields(scf::ForOp loop, Nest &nest) {
  loop.walk([&](scf::YieldOp yield) {
    for (Value value : yield.getOperands())
      if (isTile(value))
        nest.sinks.push_back({Sink::Copy, yield, value, {}});
  });
}

/// And of what they define on the way.
void addDefined(scf::ForOp loop, const Plan &plan, Nest &nest) {
  loop.walk([&](scf::ForOp each) {
    if (auto steps = plan.steps.find(each.getBody()); steps != plan.steps.end())
      for (const Step &step : steps->second)
        llvm::copy_if(step.nest.sinks, std::back_inserter(nest.sinks),
                      [](const Sink &sink) { return sink.kind == Sink::Define; });
  });
}
} // namespace

ElementLoop::ElementLoop(KernelEmitter &kernel, scf::ForOp loop)
    : kernel(kernel), evaluator(kernel.evaluator), e(kernel.e), loop(loop) {
  shape = tile::shapeOf(llvm::find_if(loop.getInitArgs(), isTile).operator*().getType());
  whole.shape.assign(shape.begin(), shape.end());
  addYields(loop, whole);
  std::tie(lanes, sideBySide) = kernel.nests.widthOf(whole); // masks of 64-bit numbers are none
  addDefined(loop, kernel.plan, whole);
  innerDim = shape.size() - 1;
  while (innerDim && shape[innerDim] == 1)
    --innerDim;
  int64_t width = std::min<int64_t>(lanes, shape[innerDim]);
  if (width < int64_t(lanes) || ShapedType::getNumElements(shape) <= 2 * int64_t(lanes))
    explainNarrow(whole, kernel.plan, width, std::exchange(lanes, width));
  int64_t most = kernel.plan.elementLoops.lookup(loop);
  for (rowDim = innerDim; rowDim && (rowDim == innerDim || shape[rowDim] == 1);)
    --rowDim;
  // A loop that counts by whole tiles reads nothing twice, as windows do: four vectors side by side first, since rows lie apart in memory,
  // and less of each would be read than is fetched ahead with it.
  bool isWindow = analysis::constantOf(loop.getStep()) == 1;
  int64_t beside = isWindow ? 1 : std::min<int64_t>(4, llvm::bit_floor(uint64_t(shape[innerDim] / lanes)));
  while (rowDim != innerDim && rows * 2 * beside <= most && shape[rowDim] % (rows * 2) == 0)
    rows *= 2;
  columns = std::min(most / rows, shape[innerDim] / lanes);
  masksAreDear = loop.walk([&](tile::LoadOp load) {
                       bool narrow = isTile(load) && elementBytes(elementOf(load)) * 8 < e.options.target.machine.maskedBits;
                       return narrow ? WalkResult::interrupt() : WalkResult::advance();
                     })
                     .wasInterrupted();
}

bool ElementLoop::emit() {
  explain::say(loop, "a loop that keeps its tiles in registers, " + std::to_string(rows * columns) + " vectors of " +
                         std::to_string(lanes) + " elements at a time");
  Evaluator::Body scope(evaluator);
  corner.assign(shape.size(), evaluator.indices.constant(0));
  outer(0);
  return !evaluator.failed;
}

void ElementLoop::outer(unsigned dim) {
  if (dim == shape.size())
    return inner();
  if (shape[dim] == 1 && dim != innerDim)
    corner[dim].loop = int(dim);
  if (shape[dim] == 1 || dim == innerDim)
    return outer(dim + 1);
  auto &b = e.b;
  int64_t step = dim == rowDim ? rows : 1;
  Loop loop(b, kernel.newBlock("elements"), kernel.newBlock());
  loop.enter();
  llvm::Value *at = loop.carry(e.i64(0));
  corner[dim] = Index{at, 0, nullptr, evaluator.levels.current(), step, int(dim)};
  outer(dim + 1);
  llvm::Value *next = b.CreateAdd(at, e.i64(step), "", true, true);
  loop.repeat(next, b.CreateICmpSLT(next, e.i64(shape[dim])));
  loop.leave();
}

void ElementLoop::inner() {
  SmallVector<Steady> values;
  bool isRow = ShapedType::getNumElements(shape) == shape[innerDim];
  if (isRow && lanes > 1 && shape[innerDim] >= 2 * int64_t(lanes))
    values = findSteady(kernel.plan, whole, int(innerDim), evaluator.e.options.target.machine.maskedBits, loop);
  if (values.empty())
    return inOrder();
  Segments segments(evaluator, values, corner, innerDim, shape[innerDim]);
  constexpr unsigned least = 4; // parts of vectors, too: each round would gather otherwise
  kernel.nests.twice(segments.areLong(least), [&](bool areLong) { areLong ? inSegments(segments) : inOrder(); });
}

// Rows of flattened indices (segments.cpp). What a round compares with its own numbers is a mask; choices are made lane by lane.
void ElementLoop::inSegments(Segments &segments) {
  auto &b = e.b;
  Evaluator::Region region(evaluator);
  llvm::Value *size = e.i64(shape[innerDim]);
  Loop walk(b, kernel.newBlock("segments"), kernel.newBlock());
  walk.enter();
  llvm::Value *start = walk.carry(e.i64(0)), *j = start;
  Index first{start, 0, nullptr, evaluator.levels.current(), 1, int(innerDim)};
  llvm::Value *end = segments.endFrom(first, size);
  Evaluator::Segment known(evaluator, int(innerDim));
  segments.know(known, first, /*foreseen=*/false);
  auto blocks = [&](int64_t count, bool whole) {
    int64_t step = count * lanes;
    auto runs = [&](llvm::Value *at) { return b.CreateICmpSLE(b.CreateAdd(at, e.i64(whole ? step : 1)), end); };
    Loop loop(b, kernel.newBlock("elements"), kernel.newBlock());
    loop.enter(runs(j));
    llvm::Value *at = loop.carry(j);
    llvm::Value *left = b.CreateTrunc(b.CreateSub(end, at), b.getInt32Ty());
    llvm::SaveAndRestore rest(limit, whole ? nullptr : b.CreateICmpSLT(e.iota(b.getInt32Ty(), lanes), e.splat(left, lanes)));
    block(at, count, lanes);
    llvm::Value *next = b.CreateAdd(at, e.i64(step), "", true, true);
    loop.repeat(next, runs(next));
    loop.leave();
    j = loop.after(0);
  };
  // What finds places and conditions serves all vectors of a block, and those of a sum wait for each other.
  int64_t tiles = std::max<int64_t>(1, llvm::count_if(loop.getInitArgs(), isTile));
  int64_t beside = std::min<int64_t>(4, e.options.target.machine.vectorRegisters / 4 / tiles);
  for (int64_t count = std::max(columns, beside); count; count /= 2)
    blocks(count, true);
  blocks(1, false);
  walk.repeat(end, b.CreateICmpSLT(end, size));
  walk.leave();
}

void ElementLoop::inOrder() {
  auto &b = e.b;
  int64_t size = shape[innerDim], done = 0;
  for (int64_t count = columns; count; count /= 2) {
    int64_t step = count * lanes, many = (size - done) / step;
    if (many == 1) {
      block(e.i64(done), count, lanes);
    } else if (many) {
      Loop loop(b, kernel.newBlock("elements"), kernel.newBlock());
      loop.enter();
      llvm::Value *at = loop.carry(e.i64(done));
      block(at, count, lanes);
      llvm::Value *next = b.CreateAdd(at, e.i64(step), "", true, true);
      loop.repeat(next, b.CreateICmpSLT(next, e.i64(done + many * step)));
      loop.leave();
    }
    done += many * step;
  }
  if (done < size)
    block(e.i64(done), 1, size - done);
}

void ElementLoop::block(llvm::Value *first, unsigned blockColumns, unsigned width) {
  Evaluator::Region region(evaluator);
  this->blockColumns = blockColumns;
  this->width = width;
  corner[innerDim] = Index{first, 0, nullptr, evaluator.levels.current(), 1, int(innerDim)};
  points.clear();
  for (int64_t row = 0; row < rows; ++row)
    for (unsigned column = 0; column < blockColumns; ++column) {
      Point &point = points.emplace_back(corner);
      auto moved = [&](Index &index, int64_t by) {
        if (by)
          index.base = e.b.CreateAdd(index.base, e.i64(by), "", true, true);
      };
      if (rows > 1)
        moved(point[rowDim], row);
      moved(point[innerDim], int64_t(column) * width);
      if (shape[innerDim] == 1)
        point[innerDim] = evaluator.indices.constant(0);
      else
        point[innerDim].step = width > 1;
    }
  SmallVector<Vectors> results = run(loop, vectorsOf(llvm::filter_to_vector(loop.getInitArgs(), isTile), all()));
  held.clear();
  for (auto [result, value] : llvm::zip_equal(llvm::make_filter_range(loop.getResults(), isTile), results))
    for (auto [point, lanes] : llvm::zip_equal(points, value)) {
      Evaluator::Vector vector(evaluator, width, limit);
      evaluator.memory.store(evaluator.addresses.ofStored(kernel.plan.storage.lookup(result), shape, point), lanes);
    }
}

SmallVector<ElementLoop::Vectors> ElementLoop::run(scf::ForOp loop, ArrayRef<Vectors> init) {
  Evaluator::Region region(evaluator);
  size_t before = held.size();
  SmallVector<llvm::Value *> flat;
  for (const Vectors &vectors : init)
    flat.append(vectors);
  auto parts = [&](ArrayRef<llvm::Value *> all) {
    SmallVector<Vectors> result;
    for (; !all.empty(); all = all.drop_front(points.size()))
      result.emplace_back(all.take_front(points.size()));
    return result;
  };
  SmallVector<llvm::Value *> last = kernel.forLoop(loop, flat, [&](ArrayRef<llvm::Value *> carried) {
    for (auto [argument, lanes] : llvm::zip_equal(llvm::make_filter_range(loop.getRegionIterArgs(), isTile), parts(carried)))
      hold(argument, lanes);
    SmallVector<llvm::Value *> next;
    for (const Vectors &vectors : body(loop))
      next.append(vectors);
    return next;
  });
  held.truncate(before);
  return parts(last);
}

SmallVector<ElementLoop::Vectors> ElementLoop::body(scf::ForOp loop) {
  Evaluator::Region region(evaluator);
  if (auto steps = kernel.plan.steps.find(loop.getBody()); steps != kernel.plan.steps.end())
    for (const Step &step : steps->second) {
      if (auto nested = dyn_cast_if_present<scf::ForOp>(step.op)) {
        SmallVector<Vectors> results = run(nested, compute(llvm::filter_to_vector(nested.getInitArgs(), isTile)));
        for (auto [result, lanes] : llvm::zip_equal(llvm::make_filter_range(nested.getResults(), isTile), results))
          hold(result, lanes);
      } else if (step.op) {
        evaluator.failed |= !kernel.single(step.op);
      } else {
        for (const Sink &sink : step.nest.sinks)
          if (sink.kind == Sink::Define)
            hold(sink.value, compute(sink.value)[0]);
      }
    }
  return compute(llvm::filter_to_vector(loop.getBody()->getTerminator()->getOperands(), isTile));
}

llvm::Value *ElementLoop::within(ArrayRef<KnownBound> bounds, const Point &first, int64_t across, int64_t down) {
  auto &b = e.b;
  llvm::Value *all = nullptr;
  for (const KnownBound &bound : bounds) {
    unsigned dim = bound.loop;
    int64_t extent = dim == innerDim ? across : dim == rowDim ? down : 1;
    llvm::Value *at = first[dim].base, *lo = evaluator.wide(bound.lo);
    if (auto *fixed = llvm::dyn_cast<llvm::ConstantInt>(lo); !fixed || fixed->getValue().isStrictlyPositive())
      all = e.band(all, b.CreateICmpSLE(lo, at));
    all = e.band(all, b.CreateICmpSLE(b.CreateAdd(at, e.i64(extent)), evaluator.wide(bound.hi)));
  }
  return all ? all : b.getTrue();
}

SmallVector<ElementLoop::Vectors> ElementLoop::vectorsOf(ArrayRef<Value> values, ArrayRef<size_t> which) {
  SmallVector<Vectors> results(values.size(), Vectors(which.size()));
  auto vector = [&](size_t number) {
    size_t i = which[number];
    Evaluator::Vector vector(evaluator, width, limit);
    for (auto &[tile, lanes] : held)
      evaluator.provide(tile, points[i], lanes[i]);
    for (auto [value, result] : llvm::zip_equal(values, results)) {
      Operation *def = value.getDefiningOp();
      bool own = def && loop->isProperAncestor(def) && !isHeld(value); // stored for others, computed here
      result[number] = e.splat(own ? evaluator.define(value, points[i]) : evaluator.value(value, points[i]), width);
    }
  };
  size_t count = which.size(), together = std::min<size_t>(sideBySide, count);
  for (size_t i = 0; i < count; i += together)
    emitInterleaved(e.b, std::min(together, count - i), [&](unsigned k) { vector(i + k); });
  return results;
}

SmallVector<ElementLoop::Vectors> ElementLoop::either(llvm::Value *condition,
                                                      llvm::function_ref<SmallVector<Vectors>(bool)> side) {
  Evaluator::Region region(evaluator);
  SmallVector<SmallVector<Vectors>> sides;
  SmallVector<llvm::BasicBlock *> ends;
  kernel.nests.twice(condition, [&](bool holds) {
    sides.push_back(side(holds));
    ends.push_back(e.b.GetInsertBlock());
  });
  if (sides.size() == 1)
    return sides[0];
  for (auto [first, second] : llvm::zip_equal(sides[0], sides[1]))
    for (auto [lanes, others] : llvm::zip_equal(first, second)) {
      llvm::PHINode *both = e.b.CreatePHI(lanes->getType(), 2);
      both->addIncoming(lanes, ends[0]);
      both->addIncoming(others, ends[1]);
      lanes = both;
    }
  return sides[0];
}

SmallVector<ElementLoop::Vectors> ElementLoop::assuming(bool holds, ArrayRef<KnownBound> bounds, ArrayRef<Value> values,
                                                        ArrayRef<size_t> which) {
  Evaluator::Assumption known(evaluator, holds ? bounds : ArrayRef<KnownBound>());
  SmallVector<Vectors> results = vectorsOf(values, which);
  // Else the additions of both sides become one behind them, and no product is fused.
  for (Vectors &vectors : results)
    for (Lanes &lanes : vectors)
      if (holds && lanes->getType()->isFPOrFPVectorTy())
        lanes = e.b.CreateArithmeticFence(lanes, lanes->getType());
  return results;
}

SmallVector<ElementLoop::Vectors> ElementLoop::byColumns(ArrayRef<KnownBound> bounds, ArrayRef<Value> values) {
  SmallVector<Vectors> results(values.size(), Vectors(points.size()));
  for (unsigned column = 0; column < blockColumns; ++column) {
    SmallVector<size_t> which;
    for (size_t i = column; i < points.size(); i += blockColumns)
      which.push_back(i);
    SmallVector<Vectors> own =
        either(within(bounds, points[column], width, rows), [&](bool holds) { return assuming(holds, bounds, values, which); });
    for (auto [result, lanes] : llvm::zip_equal(results, own))
      for (auto [i, value] : llvm::zip_equal(which, lanes))
        result[i] = value;
  }
  return results;
}

SmallVector<ElementLoop::Vectors> ElementLoop::compute(ArrayRef<Value> values) {
  SmallVector<KnownBound> bounds;
  llvm::SmallPtrSet<const void *, 16> seen;
  auto loops = llvm::to_vector(llvm::map_range(llvm::seq<int>(0, int(shape.size())), [](int d) { return d; }));
  for (Value value : values)
    if (!isHeld(value))
      kernel.nests.collectBounds(value, loops, bounds, seen);
  return either(within(bounds, corner, int64_t(blockColumns) * width, rows), [&](bool holds) {
    bool apart = !holds && masksAreDear && blockColumns > 1;
    return apart ? byColumns(bounds, values) : assuming(holds, bounds, values, all());
  });
}

} // namespace tilery::lower
