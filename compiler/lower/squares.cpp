// Tiles that are read across: their neighbours in memory lie along another dimension than the lanes of their nest. Squares of the two
// dimensions are loaded as they lie and transposed in registers, so that a line of memory is visited once for all of its elements in the
// square, not once for each.
#include "compiler/explain/findings.h"
#include "compiler/lower/nest.h"
#include "compiler/lower/square_reads.h"
#include "compiler/lower/turned.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;

namespace tilery::lower {
namespace {
/// Of constants a constant, so that code that never runs is not emitted.
llvm::Value *larger(llvm::IRBuilder<> &b, llvm::Value *x, llvm::Value *y) { return b.CreateSelect(b.CreateICmpSGT(x, y), x, y); }
} // namespace

std::optional<unsigned> NestEmitter::squareDim() {
  squareRows = 0;
  auto writes = [](const Sink &sink) { return sink.kind != Sink::Reduce && sink.kind != Sink::Update; };
  if (evaluator.threads || !ofTile.empty() || !llvm::all_of(nest->sinks, writes) || lanes < 2 ||
      nest->shape[innerDim] < int64_t(lanes))
    return std::nullopt;
  return readInSquares();
}

std::optional<unsigned> NestEmitter::readInSquares() {
  auto isStored = [&](Value value) { return !evaluator.plan.isVirtual(value); };
  auto found = readAcross(*nest, innerDim, isStored, segmented ? &segmented->counting : nullptr);
  if (!found || found->dim == innerDim)
    return std::nullopt;
  int64_t most = std::min<int64_t>(mostSquareRows, llvm::bit_floor(uint64_t(nest->shape[found->dim])));
  int64_t rows = std::min(most, std::max<int64_t>(std::min(lanes, mostSquareRows), squareLaneBytes / found->leastBytes));
  if (rows * found->leastBytes < squareLaneBytes / 2)
    return std::nullopt;
  squareRows = rows;
  return found->dim;
}

bool NestEmitter::columnsInSquares() {
  return !evaluator.threads && lanes >= 2 && lanes <= mostSquareRows && nest->shape[innerDim] >= int64_t(lanes) &&
         readInSquares() == down;
}

// Whether squares, which are not the order of the nest's elements, leave the same in memory: no two elements of a store lie in one place,
// as far as their order changes. Each step jumps over all that the smaller ones span. Segments of the outer dimension keep their order.
llvm::Value *NestEmitter::apartInSquares() {
  auto &b = e.b;
  llvm::Value *all = b.getTrue();
  for (const Sink &sink : nest->sinks) {
    if (sink.kind != Sink::Store)
      continue;
    auto access = cast<tile::StoreOp>(sink.op).getPlace().getDefiningOp<tile::AccessOp>();
    if (!access)
      return b.getFalse();
    SmallVector<std::pair<llvm::Value *, llvm::Value *>> steps; // and extents
    unsigned outer = std::min(*square, innerDim);
    for (unsigned d = outer; d < nest->shape.size(); ++d) {
      if (nest->shape[d] == 1)
        continue;
      bool inSegments = segmented && segmented->dim == d && d == outer;
      if (!access.isStrided(d) && !(inSegments && segmented->counting.contains(access.getSteps()[d])))
        return b.getFalse();
      llvm::Value *step = access.isStrided(d) ? evaluator.wide(access.getSteps()[d]) : e.i64(1);
      llvm::Value *extent =
          inSegments ? Segments(evaluator, segmented->values, point, d, nest->shape[d]).longest() : e.i64(nest->shape[d]);
      steps.push_back({larger(b, step, b.CreateNeg(step)), extent});
    }
    for (auto [i, step] : llvm::enumerate(steps)) {
      llvm::Value *span = e.i64(0);
      for (auto [k, other] : llvm::enumerate(steps)) {
        llvm::Value *smaller = b.CreateICmpSLE(other.first, step.first);
        if (k != i)
          span =
              b.CreateAdd(span, b.CreateSelect(smaller, b.CreateMul(other.first, b.CreateSub(other.second, e.i64(1))), e.i64(0)));
      }
      all = b.CreateAnd(all, b.CreateICmpSGT(step.first, span));
    }
  }
  return all;
}

// All elements, in squares where that is better.
void NestEmitter::elements() {
  square = squareDim();
  llvm::Value *apart = square ? apartInSquares() : nullptr;
  if (auto *known = llvm::dyn_cast_or_null<llvm::ConstantInt>(apart); known && known->isZero())
    square.reset();
  if (!square) {
    together = rowsTogether();
    return outer(0);
  }
  llvm::SaveAndRestore width(lanes, std::min(lanes, mostSquareRows));
  for (const Sink &sink : nest->sinks)
    if (sink.kind == Sink::Store && nest->shape[*square] > 1)
      explain::transposed(sink.op, nest->shape);
  explain::way("squares");
  explain::Aside edges;
  mayTakeSquares = apart;
  bool lastOuter = true; // else the order of rows is another, too
  for (unsigned d = *square + 1; d < nest->shape.size(); ++d)
    lastOuter &= d == innerDim || nest->shape[d] == 1;
  if (lastOuter)
    outer(0);
  else
    twice(apart, [&](bool apart) {
      llvm::SaveAndRestore<std::optional<unsigned>> taken(square, apart ? square : std::nullopt);
      outer(0);
    });
  square.reset();
}

void NestEmitter::squares() {
  if (!segmented)
    return squaresIn(nullptr);
  alongSegments([&](Range segment) { squaresIn(&segment); });
}

// Squares where all elements exist, row by row around them.
void NestEmitter::squaresIn(const Range *segment) {
  auto &b = e.b;
  unsigned dim = *square;
  SmallVector<KnownBound> bounds, around;
  llvm::SmallPtrSet<const void *, 16> seen;
  collectSinkBounds(bounds, seen);
  SmallVector<KnownBound> ofOthers;
  llvm::copy_if(bounds, std::back_inserter(ofOthers), [&](const KnownBound &bound) { return bound.loop != int(dim); });
  llvm::Value *may = e.band(surelyThere(ofOthers, around), mayTakeSquares);
  auto isSegmented = [&](unsigned dim) { return segment && segmented->dim == dim; };
  auto part = [&](unsigned dim) { return isSegmented(dim) ? *segment : Range{e.i64(0), e.i64(nest->shape[dim])}; };
  auto sure = [&](unsigned dim, int64_t step) { // and how far whole squares go
    Range range = part(dim);
    for (const KnownBound &bound : bounds)
      if (bound.loop == int(dim)) {
        Range own = clamp(bound, nest->shape[dim]);
        range.from = larger(b, range.from, own.from);
        range.to = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, range.to, own.to);
      }
    llvm::Value *size = larger(b, b.CreateSub(range.to, range.from), e.i64(0));
    range.to = b.CreateAdd(range.from, b.CreateAnd(size, e.i64(-step)));
    return range;
  };
  Range rows = sure(dim, std::max(squareRows, 1u)), columns = sure(innerDim, lanes);
  rows.to = b.CreateSelect(may, rows.to, rows.from);
  if (!squareRows) {
    rows.to = rows.from;
  } else {
    Evaluator::Assumption hold(evaluator, bounds);
    loop(rows.from, rows.to, squareRows, false, {}, [&](llvm::Value *row, ArrayRef<Lanes>) {
      SmallVector<llvm::Value *> at;
      for (unsigned i = 0; i < squareRows; ++i)
        at.push_back(i ? b.CreateAdd(row, e.i64(i), "", true, true) : row);
      unsigned level = evaluator.levels.current();
      loop(columns.from, columns.to, lanes, false, {}, [&](llvm::Value *j, ArrayRef<Lanes>) {
        Evaluator::Square scope(evaluator, at, segmented ? &segmented->counting : nullptr);
        for (llvm::Value *row : at) {
          point[dim] = Index{row, 0, nullptr, level, 1, int(dim)};
          body(j, 1, lanes, nullptr);
        }
        return SmallVector<Lanes>();
      });
      return SmallVector<Lanes>();
    });
  }
  // Where squares have taken whole rows, these are done.
  Range all = part(dim), whole = part(innerDim);
  KnownBound bound, ofColumns;
  bool restricted = restriction(dim, bound);
  if (restricted && !isSegmented(dim))
    all = clamp(bound, nest->shape[dim]);
  if (!isSegmented(innerDim) && restriction(innerDim, ofColumns))
    whole = clamp(ofColumns, nest->shape[innerDim]);
  llvm::Value *taken = b.CreateAnd(b.CreateICmpSLE(columns.from, whole.from), b.CreateICmpSGE(columns.to, whole.to));
  taken = b.CreateAnd(taken, b.CreateICmpSLE(rows.from, all.from));
  all.from = b.CreateSelect(taken, larger(b, all.from, rows.to), all.from);
  Evaluator::Assumption holds(evaluator, restricted ? ArrayRef<KnownBound>(bound) : ArrayRef<KnownBound>());
  loop(all.from, all.to, 1, false, {}, [&](llvm::Value *row, ArrayRef<Lanes>) {
    point[dim] = Index{row, 0, nullptr, evaluator.levels.current(), 1, int(dim)};
    llvm::Value *inSquares = b.CreateAnd(b.CreateICmpSLE(rows.from, row), b.CreateICmpSLT(row, rows.to));
    llvm::SaveAndRestore before(squaresEnd, b.CreateSelect(inSquares, columns.to, e.i64(0)));
    isSegmented(innerDim) ? restOfSegment(*segment, bounds) : inner();
    return SmallVector<Lanes>();
  });
  point[dim] = evaluator.indices.constant(0);
}

} // namespace tilery::lower
