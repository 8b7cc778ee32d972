// Nests whose vectors lie along another dimension than their last one: neighbours of what they store lie there. Where a program takes that
// dimension apart by quotients and remainders (an image to channels last, `y % c + c * x + y // c * apart`), they do so in segments, which
// are walked one after the other.
#include "compiler/explain/findings.h"
#include "compiler/lower/loop.h"
#include "compiler/lower/nest.h"
#include "compiler/lower/turned.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;

namespace tilery::lower {

// The dimension along which the nest's only store has neighbours, if that is the other one of two: vectors along the last would be
// scattered, each lane to a line of its own.
std::optional<unsigned> NestEmitter::storedAcross() const {
  if (nest->sinks.size() != 1 || nest->sinks[0].kind != Sink::Store || nest->shape[innerDim] == 1)
    return std::nullopt;
  auto store = cast<tile::StoreOp>(nest->sinks[0].op);
  std::optional<unsigned> along = store.getIsVolatile() ? std::nullopt : neighbourDim(store.getPlace());
  if (!along || *along == innerDim || nest->shape[*along] < int64_t(lanes) || lanes == 1)
    return std::nullopt;
  auto access = store.getPlace().getDefiningOp<tile::AccessOp>();
  bool two = llvm::count_if(nest->shape, [](int64_t size) { return size != 1; }) == 2;
  return two && access.isStrided(innerDim) && !access.getResidual() ? along : std::nullopt;
}

// Vectors along `along`, where no element lies where another one does: the last one that is written would be another.
void NestEmitter::turned(unsigned along) {
  auto &b = e.b;
  auto access = cast<tile::StoreOp>(nest->sinks[0].op).getPlace().getDefiningOp<tile::AccessOp>();
  llvm::Value *step = evaluator.wide(access.getSteps()[innerDim]), *size = e.i64(nest->shape[along]);
  llvm::Value *apart = b.CreateICmpUGE(b.CreateBinaryIntrinsic(llvm::Intrinsic::abs, step, b.getFalse()), size);
  twice(apart, [&](bool apart) {
    llvm::SaveAndRestore vectors(innerDim, apart ? along : innerDim);
    elements();
  });
}

void NestEmitter::alongStore() {
  std::optional<unsigned> along = storedAcross();
  along ? turned(*along) : elements();
}

std::optional<SegmentedSquares> NestEmitter::segmentedSquares() const {
  if (evaluator.threads || !ofTile.empty() || lanes < 2)
    return std::nullopt;
  tile::AccessOp first;
  for (const Sink &sink : nest->sinks) {
    auto store = sink.kind == Sink::Store ? cast<tile::StoreOp>(sink.op) : tile::StoreOp();
    auto access = store && !store.getIsVolatile() ? store.getPlace().getDefiningOp<tile::AccessOp>() : tile::AccessOp();
    if (!access || access.getResidual())
      return std::nullopt;
    first = first ? first : access;
  }
  SmallVector<unsigned> dims;
  for (auto [d, size] : llvm::enumerate(nest->shape))
    if (size != 1)
      dims.push_back(d);
  if (dims.size() < 2)
    return std::nullopt;
  unsigned inner = dims.pop_back_val(), outer = dims.pop_back_val();
  std::optional<SegmentedSquares> found = segmentedAlong(first, outer, inner);
  return found ? found : segmentedAlong(first, inner, outer);
}

// Whether one of the two dimensions has the store's neighbours, and segments of `dim` are what they lie in, or what is read across.
std::optional<SegmentedSquares> NestEmitter::segmentedAlong(tile::AccessOp store, unsigned dim, unsigned other) const {
  SegmentedSquares found;
  RowPlaces places;
  found.values = findSteady(evaluator.plan, *nest, int(dim), e.options.target.machine.maskedBits, nullptr, &places);
  auto alongDim = [&](int loop) { return loop < 0 || loop == int(dim); };
  auto isKnown = [&](const Steady &steady) { return !steady.foreseen && llvm::all_of(steady.loops, alongDim); };
  if (places.counting.empty() || !llvm::all_of(found.values, isKnown))
    return std::nullopt;
  std::optional<unsigned> neighbours = neighbourDim(store, &places.counting);
  if (!neighbours || nest->shape[*neighbours] < int64_t(lanes))
    return std::nullopt;
  bool inSegments = *neighbours == dim;
  if (inSegments ? dim > other : *neighbours != other) // the order of segments is that of elements
    return std::nullopt;
  auto isStored = [&](Value value) { return !evaluator.plan.isVirtual(value); };
  if (!inSegments) {
    auto across = readAcross(*nest, other, isStored, &places.counting);
    if (!across || across->dim != dim)
      return std::nullopt;
  }
  found.dim = dim, found.vectors = *neighbours, found.rows = inSegments ? other : dim;
  found.counting = std::move(places.counting);
  return found;
}

void NestEmitter::inSegmentedSquares(const SegmentedSquares &found) {
  auto &b = e.b;
  Segments segments(evaluator, found.values, point, found.dim, nest->shape[found.dim]);
  llvm::Value *may = segments.areLong(std::max(std::min(lanes, mostSquareRows), leastSegment));
  {
    llvm::SaveAndRestore vectors(innerDim, found.vectors);
    llvm::SaveAndRestore<std::optional<unsigned>> rows(square, found.rows);
    llvm::SaveAndRestore known(segmented, &found);
    may = b.CreateAnd(may, apartInSquares());
  }
  twice(may, [&](bool may) {
    explain::Aside rare(!may);
    if (!may)
      return alongStore();
    llvm::SaveAndRestore vectors(innerDim, found.vectors);
    llvm::SaveAndRestore known(segmented, &found);
    std::optional<unsigned> across = readInSquares();
    squareRows = across == found.rows ? squareRows : 0;
    llvm::SaveAndRestore<std::optional<unsigned>> rows(square, found.rows);
    llvm::SaveAndRestore width(lanes, squareRows ? std::min(lanes, mostSquareRows) : lanes);
    for (const Sink &sink : nest->sinks)
      if (squareRows)
        explain::transposed(sink.op, nest->shape);
    explain::way(squareRows ? "segments in squares" : "segments");
    explain::Aside edges(squareRows != 0);
    mayTakeSquares = b.getTrue();
    outer(0);
  });
}

void NestEmitter::alongSegments(llvm::function_ref<void(Range)> body) {
  auto &b = e.b;
  unsigned dim = segmented->dim;
  Segments segments(evaluator, segmented->values, point, dim, nest->shape[dim]);
  Range all{e.i64(0), e.i64(nest->shape[dim])};
  KnownBound bound;
  if (restriction(dim, bound))
    all = clamp(bound, nest->shape[dim]);
  llvm::Function *function = b.GetInsertBlock()->getParent();
  auto block = [&] { return llvm::BasicBlock::Create(e.context(), "", function); };
  llvm::Value *any = b.CreateICmpSLT(all.from, all.to);
  llvm::Instruction *outside = cut();
  Loop loop(b, block(), block());
  loop.enter(any);
  llvm::Value *start = loop.carry(all.from);
  evaluator.levels.enter(outside);
  Index first{start, 0, nullptr, evaluator.levels.current(), 1, int(dim)};
  llvm::Value *end = segments.endFrom(first, all.to);
  {
    Evaluator::Segment known(evaluator, int(dim));
    segments.know(known, first, /*foreseen=*/false);
    body({start, end});
  }
  evaluator.levels.leave();
  loop.repeat(end, b.CreateICmpSLT(end, all.to));
  loop.leave();
}

void NestEmitter::restOfSegment(Range segment, ArrayRef<KnownBound> bounds) {
  auto &b = e.b;
  SmallVector<KnownBound> own;
  Range sure = segment;
  for (const KnownBound &bound : bounds) {
    if (bound.loop != int(innerDim))
      continue;
    own.push_back(bound);
    Range there = clamp(bound, nest->shape[innerDim]);
    if (auto *fixed = llvm::dyn_cast<llvm::ConstantInt>(there.from); !fixed || !fixed->isZero())
      sure.from = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, sure.from, there.from);
    sure.to = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, sure.to, there.to);
  }
  if (llvm::Value *exists = surelyThere(bounds, around))
    sure.to = b.CreateSelect(exists, sure.to, sure.from);
  KnownBound bound;
  Evaluator::Assumption holds(evaluator, restriction(innerDim, bound) ? ArrayRef<KnownBound>(bound) : ArrayRef<KnownBound>());
  auto masked = [&](llvm::Value *from, llvm::Value *to) {
    loop(from, to, lanes, false, {}, [&](llvm::Value *at, ArrayRef<Lanes>) {
      llvm::Value *left = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, b.CreateSub(to, at), e.i64(lanes));
      body(at, 1, lanes, b.CreateICmpSLT(e.iota(b.getInt32Ty(), lanes), e.splat(b.CreateTrunc(left, b.getInt32Ty()), lanes)));
      return SmallVector<Lanes>();
    });
  };
  llvm::Value *j = segment.from;
  if (sure.from != segment.from) {
    j = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, sure.from, segment.to);
    masked(segment.from, j);
  }
  j = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, j, squaresEnd);
  {
    Evaluator::Assumption hold(evaluator, own), rowsHold(evaluator, around);
    loop(
        j, sure.to, lanes, true, {},
        [&](llvm::Value *at, ArrayRef<Lanes>) {
          body(at, 1, lanes, nullptr);
          return SmallVector<Lanes>();
        },
        &j);
  }
  masked(j, segment.to);
}

} // namespace tilery::lower
