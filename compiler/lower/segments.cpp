// Flattened indices. A program that numbers the elements of a tensor of several dimensions through, and takes places from quotients and
// remainders (`i // width * stride + i % width`), counts up in memory as long as no quotient changes. A row of such a nest is walked in
// segments in which none does: one division a segment in place of one a lane, and vectors of neighbours in place of gathers. Comparisons end
// segments, too, so that a vector's lanes exist or not as one, and so do the places where reflected and clamped numbers turn: between them
// they are one of their operands.
#include "compiler/explain/findings.h"
#include "compiler/lower/segments.h"
#include "compiler/analysis/integer_op.h"
#include "compiler/analysis/magnitude.h"
#include "compiler/lower/loop.h"
#include "compiler/lower/nest.h"

using namespace mlir;

namespace tilery::lower {
namespace {
/// Vectors of the shortest segments whose places lie side by side anyhow: what finds a segment's end takes as long as divisions of so many.
constexpr int64_t leastVectors = 4;
} // namespace

std::optional<CountingSum> countingSum(Value sum) {
  auto add = sum.getDefiningOp<arith::AddIOp>();
  if (!add || analysis::integerOpOf(sum, analysis::Wrapping::any).exact || analysis::isExact(sum))
    return std::nullopt;
  for (auto [one, other] : {std::pair(add.getLhs(), add.getRhs()), std::pair(add.getRhs(), add.getLhs())}) {
    while (isa_and_present<tile::ExpandDimsOp, tile::BroadcastOp>(one.getDefiningOp()))
      one = one.getDefiningOp()->getOperand(0);
    Value number = givenNumber(other);
    if (auto range = one.getDefiningOp<tile::RangeOp>(); range && number && number.getType() == elementOf(sum))
      return CountingSum{number, int64_t(range.getStart()), int64_t(range.getEnd()) - 1};
  }
  return std::nullopt;
}

Point Segments::pointOf(const Steady &steady, const Index &inRow) {
  Point at;
  for (int loop : steady.loops)
    at.push_back(loop < 0 ? evaluator.indices.constant(0) : loop == int(dim) ? inRow : point[loop]);
  return at;
}

llvm::Value *Segments::divisorOf(const Steady &steady) {
  Operation *op = steady.result.getDefiningOp();
  if (!steady.moves || !isa<tile::DivOp, tile::RemOp>(op))
    return nullptr;
  return evaluator.linear(op->getOperand(1), pointOf(steady, evaluator.indices.constant(0))).base;
}

llvm::Value *Segments::longest() {
  llvm::Value *all = e.i64(size);
  for (const Steady &steady : values)
    if (llvm::Value *divisor = divisorOf(steady))
      all = e.b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, all, divisor);
  return all;
}

// Whether quotients stay for long, but for the first and the last one.
llvm::Value *Segments::areLong(unsigned shortest) {
  auto &b = e.b;
  llvm::Value *all = b.getTrue();
  bool gathers = llvm::any_of(values, [](const Steady &steady) { return steady.movesPlaces; });
  int64_t least = (gathers ? 1 : leastVectors) * int64_t(shortest);
  for (const Steady &steady : values) {
    if (std::optional<CountingSum> sum = countingSum(steady.result)) {
      llvm::Value *number = evaluator.scalar(sum->number);
      auto is = [&](auto predicate, int64_t bound) {
        return b.CreateICmp(predicate, number, llvm::ConstantInt::getSigned(number->getType(), bound));
      };
      unsigned bits = elementOf(steady.result).getIntOrFloatBitWidth();
      all = b.CreateAnd(all, is(llvm::CmpInst::ICMP_SLE, llvm::maxIntN(bits) - std::max<int64_t>(sum->most, 0)));
      all = b.CreateAnd(all, is(llvm::CmpInst::ICMP_SGE, llvm::minIntN(bits) - std::min<int64_t>(sum->least, 0)));
    }
    if (llvm::Value *divisor = divisorOf(steady))
      all = b.CreateAnd(all, b.CreateICmpSGE(divisor, e.i64(least)));
  }
  return all;
}

// How many elements from `at` on have the quotient, the answer or the side that it has.
llvm::Value *Segments::left(const Steady &steady, const Index &at) {
  auto &b = e.b;
  Operation *op = steady.result.getDefiningOp();
  Point here = pointOf(steady, at);
  auto [number, other] = numbersOf(op, here);
  if (!isa<tile::DivOp, tile::RemOp>(op)) {
    using Predicate = arith::CmpIPredicate;
    auto compare = dyn_cast<arith::CmpIOp>(op);
    Predicate predicate = compare ? compare.getPredicate() : Predicate::slt;
    // From which difference on, in the direction that it moves, the answer is another one.
    auto turn = [&](llvm::Value *difference, bool atZero) {
      int64_t changed = steady.moves > 0 ? (atZero ? 0 : 1) : (atZero ? -1 : 0);
      llvm::Value *left = steady.moves > 0 ? b.CreateSub(e.i64(changed), difference) : b.CreateSub(difference, e.i64(changed));
      return b.CreateSelect(b.CreateICmpSGT(left, e.i64(0)), left, e.i64(size));
    };
    bool isLess = llvm::is_contained({Predicate::slt, Predicate::sge, Predicate::ult, Predicate::uge}, predicate);
    llvm::Value *left = turn(b.CreateSub(number, other), isLess);
    bool isUnsigned = predicate > Predicate::sge; // in whose order the number jumps at zero
    return isUnsigned ? b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, left, turn(number, true)) : left;
  }
  llvm::Value *result = b.CreateSExtOrTrunc(evaluator.value(steady.result, here), b.getInt64Ty());
  llvm::Value *rest = isa<tile::DivOp>(op) ? b.CreateSub(number, b.CreateMul(result, other)) : result;
  llvm::Value *left = b.CreateSub(other, rest);
  auto mode = isa<tile::DivOp>(op) ? cast<tile::DivOp>(op).getMode() : cast<tile::RemOp>(op).getMode();
  // Truncated quotients of negative numbers end with a remainder of 0.
  if (mode != tile::IntDivMode::floor)
    left = b.CreateSelect(b.CreateICmpSLT(number, e.i64(0)), b.CreateSub(e.i64(1), rest), left);
  return b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, left, e.i64(1));
}

std::pair<llvm::Value *, llvm::Value *> Segments::numbersOf(Operation *op, ArrayRef<Index> here) {
  llvm::Value *number = evaluator.linear(op->getOperand(0), here).base;
  return {number, isa<math::AbsIOp>(op) ? e.i64(0) : evaluator.linear(op->getOperand(1), here).base};
}

llvm::Value *Segments::endFrom(const Index &first, llvm::Value *end) {
  auto &b = e.b;
  Evaluator::Vector single(evaluator, 1);
  for (const Steady &steady : values)
    if (steady.moves)
      end = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, end, b.CreateAdd(first.base, left(steady, first)));
  return end;
}

llvm::Value *Segments::areForeseen(const Index &first) {
  auto &b = e.b;
  Evaluator::Vector single(evaluator, 1);
  llvm::Value *all = b.getTrue();
  for (const Steady &steady : values) {
    if (!steady.chosen)
      continue;
    Operation *op = steady.result.getDefiningOp();
    Point here = pointOf(steady, first);
    llvm::Value *side;
    if (auto select = dyn_cast<arith::SelectOp>(op)) {
      side = evaluator.value(select.getCondition(), here);
    } else {
      auto [number, other] = numbersOf(op, here);
      side = b.CreateICmpSLT(number, other);
    }
    all = b.CreateAnd(all, steady.chosenIf ? side : b.CreateNot(side));
  }
  return all;
}

void Segments::know(Evaluator::Segment &segment, const Index &first, bool foreseen) {
  Evaluator::Vector single(evaluator, 1);
  for (const Steady &steady : values)
    if (steady.foreseen == foreseen)
      segment.add(steady, pointOf(steady, first));
}

SmallVector<Steady> NestEmitter::steadyInRow(RowPlaces *places) const {
  if (evaluator.threads || square || down || wholeVectors || !ofTile.empty() ||
      nest->shape[innerDim] < 2 * int64_t(std::max(lanes, leastSegment)) || lanes == 1)
    return {};
  return findSteady(evaluator.plan, *nest, int(innerDim), e.options.target.machine.maskedBits, nullptr, places);
}

// `body` walks the elements of a stretch, or the first of them, and returns where it has ended.
void NestEmitter::inSegments(ArrayRef<Steady> values, ArrayRef<KnownBound> bounds, Range row,
                             llvm::function_ref<llvm::Value *(Segments &, const Stretch &)> body) {
  auto &b = e.b;
  Segments segments(evaluator, values, point, innerDim, nest->shape[innerDim]);
  Range sure = surely(bounds, row);
  if (there)
    sure.to = b.CreateSelect(there, sure.to, sure.from);
  llvm::Function *function = b.GetInsertBlock()->getParent();
  auto block = [&] { return llvm::BasicBlock::Create(e.context(), "", function); };
  llvm::Value *any = b.CreateICmpSLT(row.from, row.to);
  llvm::Instruction *outside = cut();
  Loop loop(b, block(), block());
  loop.enter(llvm::isa<llvm::ConstantInt>(any) ? nullptr : any); // rows of a constant size have elements
  llvm::Value *start = loop.carry(row.from);
  for (Lanes &partial : partials)
    partial = loop.carry(partial);
  evaluator.levels.enter(outside);
  Index first{start, 0, nullptr, evaluator.levels.current(), 1, int(innerDim)};
  llvm::Value *isBefore = b.CreateICmpSLT(start, sure.from), *isBehind = b.CreateICmpSGE(start, sure.to);
  llvm::Value *end = b.CreateSelect(isBefore, sure.from, b.CreateSelect(isBehind, row.to, sure.to));
  end = segments.endFrom(first, b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, end, row.to));
  llvm::Value *holds = b.CreateAnd(b.CreateNot(b.CreateOr(isBefore, isBehind)), segments.areForeseen(first));
  {
    Evaluator::Segment known(evaluator, int(innerDim));
    segments.know(known, first, /*foreseen=*/false);
    end = body(segments, {first, end, holds});
  }
  evaluator.levels.leave();
  SmallVector<llvm::Value *> next{end};
  next.append(partials);
  loop.repeat(next, b.CreateICmpSLT(end, row.to));
  loop.leave();
}

void NestEmitter::innerSegments(ArrayRef<Steady> values, ArrayRef<KnownBound> bounds, const KnownBound *restriction) {
  auto &b = e.b;
  explain::way("segments");
  Range row{e.i64(0), e.i64(nest->shape[innerDim])};
  if (restriction)
    row = clamp(*restriction, nest->shape[innerDim]);
  Evaluator::Assumption written(evaluator, restriction ? ArrayRef<KnownBound>(*restriction) : ArrayRef<KnownBound>());
  inSegments(values, bounds, row, [&](Segments &segments, const Stretch &stretch) {
    Evaluator::Vector vectors(evaluator, lanes);
    llvm::Value *j = stretch.first.base;
    auto rest = [&](llvm::Value *to) {
      loop(
          j, to, lanes, false, {},
          [&](llvm::Value *at, ArrayRef<Lanes>) {
            llvm::Value *left = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, b.CreateSub(to, at), e.i64(lanes));
            llvm::Value *limit =
                b.CreateICmpSLT(e.iota(b.getInt32Ty(), lanes), e.splat(b.CreateTrunc(left, b.getInt32Ty()), lanes));
            body(at, 1, lanes, limit);
            return SmallVector<Lanes>();
          },
          &j);
    };
    {
      Evaluator::Segment known(evaluator, int(innerDim));
      segments.know(known, stretch.first, /*foreseen=*/true);
      Evaluator::Assumption hold(evaluator, bounds), rowsHold(evaluator, around);
      loop(
          j, b.CreateSelect(stretch.holds, stretch.end, j), lanes, true, {},
          [&](llvm::Value *at, ArrayRef<Lanes>) {
            body(at, 1, lanes, nullptr);
            return SmallVector<Lanes>();
          },
          &j);
      if (llvm::any_of(values, [](const Steady &steady) { return steady.foreseen; })) // else gathers
        rest(b.CreateSelect(stretch.holds, stretch.end, j));
    }
    rest(stretch.end);
    return stretch.end;
  });
}

// Partials are those of the elements' numbers in the row: chunks begin at their multiples, and of one that a segment begins or ends in some
// lanes count.
void NestEmitter::reduceInSegments(ArrayRef<Steady> values, ArrayRef<KnownBound> bounds) {
  auto &b = e.b;
  Range row{e.i64(0), e.i64(nest->shape[innerDim])};
  inSegments(values, bounds, row, [&](Segments &segments, const Stretch &stretch) {
    llvm::Value *start = stretch.first.base, *j = start;
    llvm::Value *within = b.CreateAnd(start, e.i64(RowReduction::chunk - 1)), *aligned = b.CreateICmpEQ(within, e.i64(0));
    llvm::Value *nextChunk = b.CreateAdd(b.CreateSub(start, within), e.i64(RowReduction::chunk));
    llvm::Value *end =
        b.CreateSelect(aligned, stretch.end, b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, stretch.end, nextChunk));
    auto walk = [&](llvm::Value *from, llvm::Value *to, bool whole, llvm::function_ref<Lanes(llvm::Value *)> limit) {
      SmallVector<Lanes> before(partials);
      partials = loop(
          from, to, RowReduction::chunk, whole, before,
          [&](llvm::Value *at, ArrayRef<Lanes> carried) {
            partials.assign(carried.begin(), carried.end());
            reduceChunk(at, limit);
            return SmallVector<Lanes>(partials);
          },
          &j);
    };
    {
      Evaluator::Segment known(evaluator, int(innerDim));
      segments.know(known, stretch.first, /*foreseen=*/true);
      Evaluator::Assumption hold(evaluator, bounds), rowsHold(evaluator, around);
      walk(start, b.CreateSelect(b.CreateAnd(stretch.holds, aligned), end, start), true, nullptr);
    }
    llvm::Value *done = j, *chunk = b.CreateAnd(done, e.i64(-RowReduction::chunk));
    walk(chunk, b.CreateSelect(b.CreateICmpSLT(done, end), end, chunk), false, [&](llvm::Value *at) {
      auto lane = [&](llvm::Value *place) {
        llvm::Value *number = b.CreateSub(place, at);
        number = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, number, e.i64(0));
        number = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, number, e.i64(lanes));
        return e.splat(b.CreateTrunc(number, b.getInt32Ty()), lanes);
      };
      llvm::Value *lanesHere = e.iota(b.getInt32Ty(), lanes);
      return b.CreateAnd(b.CreateICmpSGE(lanesHere, lane(done)), b.CreateICmpSLT(lanesHere, lane(end)));
    });
    return end;
  });
}

void Evaluator::Segment::add(const Steady &steady, const Point &first) {
  Linear at{nullptr, steady.step, nullptr, levelOf(first)};
  if (!steady.chosen)
    at.base = evaluator.e.b.CreateSExtOrTrunc(evaluator.value(steady.result, first), evaluator.e.b.getInt64Ty());
  evaluator.state.segment.push_back({steady.result, first, loop, at, steady.chosen, steady.foreseen});
}

} // namespace tilery::lower
