// Masks of rows that are walked in segments. A comparison of numbers that count up, or stay, holds on one side of a place in the row, and what
// several say together between two places. Those are computed once a segment; a vector compares its lanes' positions with them.
#include "compiler/analysis/interval.h"
#include "compiler/analysis/magnitude.h"
#include "compiler/lower/evaluator.h"

using namespace mlir;

namespace tilery::lower {

/// Is an integer's size below 2^48, as far as what it is computed of says? Differences of such do not wrap, nor did the sums that they are.
static bool isSmall(Value value) {
  constexpr int64_t most = int64_t(1) << 48;
  auto interval = analysis::intervalOf(value);
  return analysis::magnitudeOf(value) <= 48 || (interval && interval->least > -most && interval->greatest < most);
}

/// In the current segment: from the element `from` on (i64, null: any), up to `to`, and only where `sure` (i1, null: yes) holds.
struct SegmentValues::Held {
  llvm::Value *from = nullptr, *to = nullptr, *sure = nullptr;
  Lanes others = nullptr; // what else must hold, lane by lane
  unsigned level = 0;     // where the three are known
};

// Whether the number can be computed where the segment begins: of nothing that lies in scratch memory, for what the nest itself defines is
// not there yet.
bool SegmentValues::isKnownAhead(Value number, ArrayRef<Index> point, llvm::SmallPtrSetImpl<const void *> &seen) {
  if (!isa<RankedTensorType>(number.getType()) || !seen.insert(number.getAsOpaquePointer()).second)
    return true;
  const Index *moved, *first;
  if (find(number, point, moved, first))
    return true;
  Operation *op = number.getDefiningOp();
  if (!op || !ev.plan.isVirtual(number))
    return false;
  if (isa<tile::SplatOp, tile::RangeOp>(op) || op->hasTrait<OpTrait::ConstantLike>())
    return true;
  if (isa<tile::ExpandDimsOp, tile::BroadcastOp, tile::PermuteOp>(op))
    return isKnownAhead(op->getOperand(0), ev.indices.operandPoint(op, point), seen);
  return isElementwise(op) && llvm::all_of(op->getOperands(), [&](Value operand) { return isKnownAhead(operand, point, seen); });
}

// Whether the comparison is one of numbers that stay, or of which one gains one on the other with each element.
bool SegmentValues::heldByComparison(arith::CmpIOp compare, ArrayRef<Index> point, const Index &start, Held &held) {
  using Predicate = arith::CmpIPredicate;
  auto &b = e.b;
  Predicate predicate = compare.getPredicate();
  llvm::SmallPtrSet<const void *, 16> seen;
  if (predicate < Predicate::slt || predicate > Predicate::sge || !isKnownAhead(compare.getLhs(), point, seen) ||
      !isKnownAhead(compare.getRhs(), point, seen))
    return false;
  Linear left = ev.linear(compare.getLhs(), point), right = ev.linear(compare.getRhs(), point);
  int64_t step = left.step - right.step;
  if (left.lanes || right.lanes || std::abs(step) > 1)
    return false;
  Point first(point);
  for (Index &index : first)
    if (index.loop == start.loop)
      index = start;
  left = ev.linear(compare.getLhs(), first), right = ev.linear(compare.getRhs(), first);
  held.level = std::max({held.level, left.level, right.level, start.level});
  AtLevel at(ev.levels, held.level);
  if (!step) {
    Lanes sides[] = {left.base, right.base};
    held.sure = e.band(held.sure, emitElementwise(e, compare, sides));
    return true;
  }
  // The element at which both are equal, or the one behind it.
  bool rises = step > 0, less = predicate == Predicate::slt || predicate == Predicate::sle;
  bool strict = predicate == Predicate::slt || predicate == Predicate::sgt, ends = rises == less;
  // What leaves 64 bits lies beyond any row's ends, as what is there instead.
  bool wraps = !isSmall(compare.getLhs()) || !isSmall(compare.getRhs());
  auto plus = [&](llvm::Value *x, llvm::Value *y) {
    return wraps ? b.CreateBinaryIntrinsic(llvm::Intrinsic::sadd_sat, x, y) : b.CreateAdd(x, y);
  };
  llvm::Value *subtracted = rises ? left.base : right.base, *other = rises ? right.base : left.base;
  llvm::Value *apart =
      wraps ? b.CreateBinaryIntrinsic(llvm::Intrinsic::ssub_sat, other, subtracted) : b.CreateSub(other, subtracted);
  llvm::Value *turn = plus(plus(apart, start.base), e.i64(strict != ends));
  auto narrow = [&](llvm::Value *&bound, llvm::Intrinsic::ID choose) {
    bound = bound ? b.CreateBinaryIntrinsic(choose, bound, turn) : turn;
  };
  if (ends)
    narrow(held.to, llvm::Intrinsic::smin);
  else
    narrow(held.from, llvm::Intrinsic::smax);
  return true;
}

void SegmentValues::holdTogether(Value condition, ArrayRef<Index> point, const Index &start, Held &held) {
  Operation *op = condition.getDefiningOp();
  if (op && ev.plan.isVirtual(condition) && isa<RankedTensorType>(condition.getType()) && !linear(condition, point)) {
    if (isa<arith::AndIOp>(op)) {
      for (Value side : op->getOperands())
        holdTogether(side, point, start, held);
      return;
    }
    if (isa<tile::ExpandDimsOp, tile::BroadcastOp, tile::PermuteOp>(op))
      return holdTogether(op->getOperand(0), ev.indices.operandPoint(op, point), start, held);
    if (auto compare = dyn_cast<arith::CmpIOp>(op)) {
      if (compare.getPredicate() == arith::CmpIPredicate::slt && ev.surelyBelow(compare.getLhs(), compare.getRhs(), point))
        return;
      if (heldByComparison(compare, point, start, held))
        return;
    }
  }
  Lanes answer = ev.value(condition, point);
  if (e.lanesOf(answer) != 1) {
    held.others = e.band(held.others, answer);
    return;
  }
  held.level = std::max(held.level, levelOf(point));
  AtLevel at(ev.levels, held.level);
  held.sure = e.band(held.sure, answer);
}

// Positions are those of all masks, and both ends those of all vectors.
Lanes SegmentValues::held(Operation *op, ArrayRef<Index> point, RowCondition *row) {
  constexpr int64_t beyond = 1 << 30; // of any row
  auto &b = e.b;
  const Index *found = ev.width() > 1 ? start() : nullptr;
  const Index *moved = nullptr;
  for (const Index &index : point) {
    if (found && index.loop == found->loop && index.step == 1 && !index.lanes && !moved)
      moved = &index;
    else if (!index.uniform())
      return nullptr;
  }
  if (!found || !moved)
    return nullptr;
  Index start = *found; // what is computed meanwhile may move it
  Held held;
  if (auto compare = dyn_cast<arith::CmpIOp>(op)) {
    if (!heldByComparison(compare, point, start, held))
      return nullptr;
  } else {
    for (Value side : op->getOperands())
      holdTogether(side, point, start, held);
  }
  if (row)
    *row = {std::exchange(held.sure, nullptr), held.level};
  if (!held.from && !held.to)
    return held.sure || held.others ? e.band(held.sure, held.others) : Lanes(b.getTrue());
  llvm::Type *type = b.getInt32Ty();
  auto lanes = [&](llvm::Value *bound) {
    bound = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, bound, e.i64(0));
    bound = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, bound, e.i64(beyond));
    return e.splat(b.CreateTrunc(bound, type), ev.width());
  };
  llvm::Value *from = nullptr, *to = nullptr;
  {
    AtLevel at(ev.levels, held.level);
    if (held.sure) // as a mask of its own it would be widened to lanes
      held.to = b.CreateSelect(held.sure, held.to ? held.to : e.i64(beyond), e.i64(0));
    from = held.from ? lanes(held.from) : nullptr;
    to = held.to ? lanes(held.to) : nullptr;
  }
  llvm::Value *position = b.CreateAdd(e.splat(b.CreateTrunc(moved->base, type), ev.width()), e.iota(type, ev.width()));
  Lanes result = held.others;
  if (from)
    result = e.band(result, b.CreateICmpSGE(position, from));
  if (to)
    result = e.band(result, b.CreateICmpSLT(position, to));
  if (held.sure && !llvm::isa<llvm::Constant>(result))
    conditions[result] = {held.sure, held.level};
  return result;
}

Lanes SegmentValues::withinRow(Value mask, ArrayRef<Index> at, RowCondition &row) {
  Value inner = mask;
  Point point(at);
  Operation *op = mask.getDefiningOp();
  for (; op && ev.plan.isVirtual(inner) && isa<tile::ExpandDimsOp, tile::BroadcastOp, tile::PermuteOp>(op);
       op = inner.getDefiningOp()) {
    point = ev.indices.operandPoint(op, point);
    inner = op->getOperand(0);
  }
  if (op && ev.plan.isVirtual(inner) && isa<arith::AndIOp>(op) && !linear(inner, point))
    if (Lanes lanes = held(op, point, &row))
      return lanes;
  Lanes all = ev.value(mask, at);
  if (e.lanesOf(all) != 1)
    return all;
  row = {all, levelOf(at)};
  return e.b.getTrue();
}

// Vectors of 64-bit numbers are two of registers each, and so are their masks.
Lanes SegmentValues::compared(arith::CmpIOp compare, ArrayRef<Index> point) {
  constexpr int64_t mostStep = 1 << 20; // times lanes in 32 bits
  auto &b = e.b;
  if (ev.known().segment.empty() || ev.width() == 1 || !elementOf(compare.getLhs()).isInteger(64) ||
      compare.getPredicate() > arith::CmpIPredicate::sge || !isSmall(compare.getLhs()) || !isSmall(compare.getRhs()))
    return nullptr;
  Linear left = ev.linear(compare.getLhs(), point), right = ev.linear(compare.getRhs(), point);
  int64_t step = left.step - right.step, beyond = std::abs(step) * ev.width();
  if (left.lanes || right.lanes || !step || std::abs(step) > mostStep)
    return nullptr;
  AtLevel at(ev.levels, std::max(left.level, right.level));
  llvm::Value *apart = b.CreateSub(right.base, left.base); // lane * step is compared with it
  apart = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, apart, e.i64(-beyond));
  apart = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, apart, e.i64(beyond));
  llvm::Value *lanes = e.iota(b.getInt32Ty(), ev.width());
  if (step != 1)
    lanes = b.CreateMul(lanes, e.splat(b.getInt32(step), ev.width()));
  Lanes sides[] = {lanes, e.splat(b.CreateTrunc(apart, b.getInt32Ty()), ev.width())};
  return emitElementwise(e, compare, sides);
}

void SegmentValues::add(RowCondition &row, Lanes mask, unsigned level) {
  if (ev.threads)
    return;
  RowCondition own{mask, level};
  if (e.lanesOf(mask) != 1)
    own = conditions.lookup(mask);
  if (!own.exists)
    return;
  row.level = std::max(row.level, own.level);
  AtLevel at(ev.levels, row.level);
  row.exists = e.band(row.exists, own.exists);
}

} // namespace tilery::lower
