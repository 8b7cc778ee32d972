// Reductions along an outer dimension: the sums so far of some vectors of columns stay in registers while their rows are walked. Lanes are
// combined in increasing index, as TileReduce.td has it.
#include "compiler/explain/findings.h"
#include "compiler/lower/nest.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;

namespace tilery::lower {
// The dimension that all reductions go along, if it is an outer one and elements may come in any order: nothing is stored to memory, where
// one element may lie over another.
std::optional<unsigned> NestEmitter::reducedDown() const {
  std::optional<unsigned> down;
  for (const Sink &sink : nest->sinks) {
    if (sink.kind == Sink::Store || sink.kind == Sink::BufferStore || sink.kind == Sink::Update)
      return std::nullopt;
    if (sink.kind != Sink::Reduce)
      continue;
    unsigned axis = cast<tile::ReduceOp>(sink.op).getAxis();
    if (axis == innerDim || (down && *down != axis))
      return std::nullopt;
    down = axis;
  }
  return down && nest->shape[*down] > 1 ? down : std::nullopt;
}

void NestEmitter::innerColumns(ArrayRef<KnownBound> bounds, ArrayRef<KnownBound> rowBounds) {
  explain::way("down columns");
  auto &b = e.b;
  unsigned operands = 0;
  for (const Sink &sink : nest->sinks)
    if (sink.kind == Sink::Reduce)
      operands += sink.op->getNumOperands();
  // These hold sums, of 16 registers half; one line after the other of a row is what processors fetch ahead.
  constexpr unsigned most = 8, mostSquares = 2; // each of them is a body for every row
  inSquares = columnsInSquares();
  unsigned together = std::max(1u, std::min(inSquares ? mostSquares : most, most / operands));
  int64_t size = nest->shape[innerDim];
  auto columns = [&](llvm::Value *j, int64_t multiple, unsigned width, unsigned count, Lanes limit) {
    this->columns(j, multiple, width, count, limit, rowBounds);
  };
  bool wide = lanes > 1 && size >= int64_t(lanes);
  if (!wide || bounds.empty()) {
    int64_t done = 0;
    for (unsigned count = wide ? together : 1; count; count /= 2) {
      int64_t step = int64_t(lanes) * count, whole = (size - done) / step * step;
      if (whole == step)
        columns(e.i64(done), lanes, lanes, count, nullptr);
      else if (whole)
        loop(e.i64(done), e.i64(done + whole), step, false, {}, [&](llvm::Value *j, ArrayRef<Lanes>) {
          columns(j, lanes, lanes, count, nullptr);
          return SmallVector<Lanes>();
        });
      done += whole;
    }
    if (done < size)
      columns(e.i64(done), 1, size - done, 1, nullptr);
    return;
  }
  Range sure{e.i64(0), e.i64(size)};
  for (const KnownBound &bound : bounds) {
    Range own = clamp(bound, size);
    sure.from = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, sure.from, own.from);
    sure.to = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, sure.to, own.to);
  }
  llvm::Value *j = e.i64(0);
  auto masked = [&](llvm::Value *to) {
    loop(
        j, to, lanes, false, {},
        [&](llvm::Value *at, ArrayRef<Lanes>) {
          llvm::Value *left = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, b.CreateSub(e.i64(size), at), e.i64(lanes));
          Lanes limit = b.CreateICmpSLT(e.iota(b.getInt32Ty(), lanes), e.splat(b.CreateTrunc(left, b.getInt32Ty()), lanes));
          columns(at, 1, lanes, 1, limit);
          return SmallVector<Lanes>();
        },
        &j);
  };
  if (auto *fixed = llvm::dyn_cast<llvm::ConstantInt>(sure.from); !fixed || !fixed->isZero())
    masked(sure.from);
  {
    Evaluator::Assumption hold(evaluator, bounds);
    for (unsigned count : {together, 1u})
      loop(
          j, sure.to, int64_t(lanes) * count, true, {},
          [&](llvm::Value *at, ArrayRef<Lanes>) {
            columns(at, 1, lanes, count, nullptr);
            return SmallVector<Lanes>();
          },
          &j);
  }
  masked(e.i64(size));
}

// `count` vectors of columns from j on, all rows: those that are surely there without masks.
void NestEmitter::columns(llvm::Value *j, int64_t multiple, unsigned width, unsigned count, Lanes limit,
                          ArrayRef<KnownBound> rowBounds) {
  auto &b = e.b;
  int64_t rows = nest->shape[*down];
  auto vectors = [&](llvm::function_ref<void(unsigned)> each) {
    for (unsigned i = 0; i < count; ++i)
      each(i);
  };
  SmallVector<llvm::Value *> at;
  vectors([&](unsigned i) { at.push_back(i ? b.CreateAdd(j, e.i64(int64_t(i) * lanes), "", true, true) : j); });
  SmallVector<Lanes> sums;
  vectors([&](unsigned) {
    for (const Sink &sink : nest->sinks)
      if (sink.kind == Sink::Reduce)
        for (Value operand : sink.op->getOperands()) {
          llvm::Constant *identity = identityOf(e, cast<tile::ReduceOp>(sink.op));
          sums.push_back(e.splat(identity ? identity : llvm::Constant::getNullValue(e.valueType(elementOf(operand))), width));
        }
  });
  unsigned each = sums.size() / count;
  auto walk = [&](llvm::Value *&from, llvm::Value *to, unsigned together = 1) {
    sums = loop(
        from, to, together, together > 1, sums,
        [&](llvm::Value *row, ArrayRef<Lanes> before) {
          SmallVector<Lanes> now(before);
          SmallVector<llvm::Value *> rows{row};
          while (rows.size() < together)
            rows.push_back(b.CreateAdd(row, e.i64(rows.size()), "", true, true));
          std::optional<Evaluator::Square> square;
          if (together > 1)
            square.emplace(evaluator, rows);
          vectors([&](unsigned i) { // not interleaved: what a row's vectors share is computed by the first one
            for (llvm::Value *row : rows) {
              point[*down] = Index{row, 0, nullptr, evaluator.levels.current(), 1, int(*down)};
              llvm::SaveAndRestore current(columnSums, llvm::MutableArrayRef<Lanes>(now).slice(i * each, each));
              body(at[i], multiple, width, limit);
            }
          });
          return now;
        },
        &from);
  };
  bool squares = inSquares && width == lanes && !limit;
  llvm::Value *row = e.i64(0);
  Range sure{e.i64(0), e.i64(rows)};
  for (const KnownBound &bound : rowBounds) {
    Range own = clamp(bound, rows);
    sure.from = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, sure.from, own.from);
    sure.to = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, sure.to, own.to);
  }
  if (!rowBounds.empty() || squares) {
    if (auto *fixed = llvm::dyn_cast<llvm::ConstantInt>(sure.from); !fixed || !fixed->isZero())
      walk(row, sure.from);
    Evaluator::Assumption hold(evaluator, rowBounds);
    if (squares)
      walk(row, sure.to, squareRows);
    walk(row, sure.to);
  }
  walk(row, e.i64(rows));
  point[*down] = evaluator.indices.constant(0);
  SmallVector<int64_t> shape(nest->shape);
  shape.erase(shape.begin() + *down);
  ArrayRef<Lanes> left = sums;
  vectors([&](unsigned i) {
    Evaluator::Vector vector(evaluator, width, limit);
    Point where(point);
    where[innerDim] = nest->shape[innerDim] == 1
                          ? evaluator.indices.constant(0)
                          : Index{at[i], width == 1 ? 0 : 1, nullptr, evaluator.levels.current(), multiple};
    where.erase(where.begin() + *down);
    for (const Sink &sink : nest->sinks)
      if (sink.kind == Sink::Reduce)
        for (int buffer : sink.buffers) {
          evaluator.memory.store(evaluator.addresses.ofStored(buffer, shape, where), left.front());
          left = left.drop_front();
        }
  });
}

void NestEmitter::accumulateColumns(const Sink &sink, ArrayRef<Lanes> values) {
  auto reduce = cast<tile::ReduceOp>(sink.op);
  unsigned n = values.size(), width = evaluator.width();
  SmallVector<Lanes> before(columnSums.take_front(n)), after, now(values);
  for (Lanes &value : now)
    value = e.splat(value, width);
  if (!emitCombine(e, reduce.getCombine(), before, now, after, [&](Value v) { return evaluator.scalar(v); })) {
    evaluator.failed = true;
    return;
  }
  bool known = identityOf(e, reduce);
  for (auto [sum, fresh, combined] : llvm::zip(columnSums, now, after)) {
    sum = e.splat(combined, width);
    if (!known)
      sum = e.b.CreateSelect(e.b.CreateICmpEQ(point[*down].base, e.i64(0)), fresh, sum);
  }
  columnSums = columnSums.drop_front(n);
}

} // namespace tilery::lower
