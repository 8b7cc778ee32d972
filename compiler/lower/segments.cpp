// Flattened indices. A program that numbers the elements of a tensor of several dimensions through, and takes places from quotients and
// remainders (`i // width * stride + i % width`), counts up in memory as long as no quotient changes. A row of such a nest is walked in
// segments in which none does: one division a segment in place of one a lane, and vectors of neighbours in place of gathers. Comparisons end
// segments, too, so that a vector's lanes exist or not as one.
#include "compiler/analysis/integer_op.h"
#include "compiler/lower/loop.h"
#include "compiler/lower/nest.h"

using namespace mlir;

namespace tilery::lower {
using Kind = analysis::IntegerOp::Kind;
namespace {
/// Elements of the shortest segments, or a vector's: shorter ones cost more than what they save (notebook, "Flattened indices").
constexpr int64_t leastSegment = 8;
/// Each ends a segment of every quotient.
constexpr unsigned mostComparisons = 6;

/// What a nest's sinks compute along a dimension that changes at few places.
class SteadyFinder {
public:
  SteadyFinder(const Plan &plan, int dim) : plan(plan), dim(dim) {}
  SmallVector<Steady> found; // operands before what is computed of them
  bool addresses = false;    // one of them moves the place of an access from lane to lane

  void place(Value place, ArrayRef<int> loops) {
    if (auto access = place.getDefiningOp<tile::AccessOp>()) {
      for (auto [d, loop] : llvm::enumerate(loops)) {
        if (!access.isStrided(d))
          offset(access.getSteps()[d], {loop});
        if (access.getBound(d).size() == 1)
          expression(access.getBound(d)[0], {loop});
      }
      if (access.getResidual())
        expression(access.getResidual(), loops);
    } else if (auto pointers = place.getDefiningOp<tile::PointerAccessOp>()) {
      offset(pointers.getPtrs(), loops);
      if (pointers.getMask())
        expression(pointers.getMask(), loops);
    }
  }

  void expression(Value value, ArrayRef<int> loops) {
    Operation *op = value.getDefiningOp();
    if (!isa<RankedTensorType>(value.getType()) || !op || !plan.isVirtual(value) ||
        !seen.insert({op, SmallVector<int>(loops)}).second)
      return;
    operands(op, loops);
    if (isa<tile::DivOp, tile::RemOp>(op))
      division(op, loops);
    else if (auto compare = dyn_cast<arith::CmpIOp>(op))
      comparison(compare, loops);
  }

  void operands(Operation *op, ArrayRef<int> loops) {
    if (auto load = dyn_cast<tile::LoadOp>(op)) {
      place(load.getPlace(), loops);
      if (load.getOther())
        expression(load.getOther(), loops);
    } else if (std::optional<SmallVector<int>> inner = loopsOfOperand(op, loops)) {
      expression(op->getOperand(0), *inner);
    } else if (isElementwise(op)) {
      for (Value operand : op->getOperands())
        expression(operand, loops);
    }
  }

private:
  void offset(Value value, ArrayRef<int> loops) {
    size_t before = found.size();
    expression(value, loops);
    addresses |= llvm::any_of(ArrayRef(found).drop_front(before), [](const Steady &d) { return d.moves; });
  }

  // What lanes along the dimension add within a segment; nothing: it is not known.
  std::optional<int64_t> stepOf(Value value, ArrayRef<int> loops) const {
    if (!llvm::is_contained(loops, dim))
      return 0;
    for (const Steady &steady : found)
      if (steady.result == value && steady.loops == loops)
        return steady.step();
    analysis::IntegerOp op = analysis::integerOpOf(value);
    if (!op.op || (!plan.isVirtual(value) && op.kind != Kind::constant))
      return std::nullopt;
    auto both = [&](auto combine) -> std::optional<int64_t> {
      auto x = stepOf(op.lhs, loops), y = stepOf(op.rhs, loops);
      return x && y ? std::optional(combine(*x, *y)) : std::nullopt;
    };
    switch (op.kind) {
    case Kind::constant:
    case Kind::splat:
      return 0;
    case Kind::range:
      return 1;
    case Kind::extend:
      return stepOf(op.lhs, loops);
    case Kind::add:
      return both([](int64_t x, int64_t y) { return x + y; });
    case Kind::subtract:
      return both([](int64_t x, int64_t y) { return x - y; });
    case Kind::multiply: {
      auto x = stepOf(op.lhs, loops), y = stepOf(op.rhs, loops);
      return x && y && !*x && !*y ? std::optional<int64_t>(0) : std::nullopt;
    }
    case Kind::reindex: {
      auto inner = loopsOfOperand(op.op, loops);
      return inner ? stepOf(op.lhs, *inner) : std::nullopt;
    }
    default:
      return std::nullopt;
    }
  }

  void division(Operation *op, ArrayRef<int> loops) {
    auto mode = isa<tile::DivOp>(op) ? cast<tile::DivOp>(op).getMode() : cast<tile::RemOp>(op).getMode();
    auto step = stepOf(op->getOperand(0), loops), ofDivisor = stepOf(op->getOperand(1), loops);
    if (llvm::is_contained(loops, dim) && mode != tile::IntDivMode::unsigned_ && (step == 0 || step == 1) && ofDivisor == 0)
      found.push_back({op->getResult(0), SmallVector<int>(loops), *step});
  }

  void comparison(arith::CmpIOp op, ArrayRef<int> loops) {
    using Predicate = arith::CmpIPredicate;
    bool ordered = llvm::is_contained({Predicate::slt, Predicate::sle, Predicate::sgt, Predicate::sge}, op.getPredicate());
    auto left = stepOf(op.getLhs(), loops), right = stepOf(op.getRhs(), loops);
    if (ordered && left && right && std::abs(*left - *right) == 1 && comparisons++ < mostComparisons)
      found.push_back({op.getResult(), SmallVector<int>(loops), *left - *right});
  }

  unsigned comparisons = 0;
  const Plan &plan;
  int dim;
  std::set<std::pair<Operation *, SmallVector<int>>> seen;
};
} // namespace

SmallVector<Steady> NestEmitter::steadyInRow() const {
  if (!evaluator.readsSquares() || square || !ofTile.empty() ||
      nest->shape[innerDim] < 2 * std::max<int64_t>(lanes, leastSegment) || lanes == 1)
    return {};
  SteadyFinder finder(evaluator.plan, int(innerDim));
  SmallVector<int> loops;
  for (unsigned d = 0; d < nest->shape.size(); ++d)
    loops.push_back(int(d));
  for (const Sink &sink : nest->sinks) {
    if (sink.kind == Sink::Store) {
      auto store = cast<tile::StoreOp>(sink.op);
      finder.place(store.getPlace(), loops);
      finder.expression(store.getValue(), loops);
    } else if (sink.kind == Sink::Copy && sink.value) {
      finder.expression(sink.value, loops);
    } else if (sink.kind == Sink::Define) {
      finder.operands(sink.op, loops);
    } else {
      return {};
    }
  }
  return finder.addresses ? finder.found : SmallVector<Steady>();
}

Point NestEmitter::pointOf(const Steady &steady, const Index &inRow) {
  Point at;
  for (int loop : steady.loops)
    at.push_back(loop < 0 ? evaluator.constant(0) : loop == int(innerDim) ? inRow : point[loop]);
  return at;
}

// Whether quotients stay for long, but for the first and the last one.
llvm::Value *NestEmitter::areSegmentsLong(ArrayRef<Steady> values) {
  auto &b = e.b;
  llvm::Value *all = b.getTrue();
  for (const Steady &steady : values) {
    Operation *op = steady.result.getDefiningOp();
    if (!steady.moves || isa<arith::CmpIOp>(op))
      continue;
    llvm::Value *divisor = evaluator.linear(op->getOperand(1), pointOf(steady, evaluator.constant(0))).base;
    all = b.CreateAnd(all, b.CreateICmpSGE(divisor, e.i64(std::max<int64_t>(lanes, leastSegment))));
  }
  return all;
}

// How many elements from `at` on have the quotient, or the answer, that it has.
llvm::Value *NestEmitter::leftInSegment(const Steady &steady, const Index &at) {
  auto &b = e.b;
  Operation *op = steady.result.getDefiningOp();
  Point here = pointOf(steady, at);
  llvm::Value *number = evaluator.linear(op->getOperand(0), here).base, *left;
  llvm::Value *other = evaluator.linear(op->getOperand(1), here).base;
  if (auto compare = dyn_cast<arith::CmpIOp>(op)) {
    auto predicate = compare.getPredicate();
    // From which difference on, in the direction that it moves, the answer is another one.
    bool atZero = predicate == arith::CmpIPredicate::slt || predicate == arith::CmpIPredicate::sge;
    int64_t changed = steady.moves > 0 ? (atZero ? 0 : 1) : (atZero ? -1 : 0);
    llvm::Value *difference = b.CreateSub(number, other);
    left = steady.moves > 0 ? b.CreateSub(e.i64(changed), difference) : b.CreateSub(difference, e.i64(changed));
    return b.CreateSelect(b.CreateICmpSGT(left, e.i64(0)), left, e.i64(nest->shape[innerDim]));
  }
  llvm::Value *result = b.CreateSExtOrTrunc(evaluator.value(steady.result, here), b.getInt64Ty());
  llvm::Value *rest = isa<tile::DivOp>(op) ? b.CreateSub(number, b.CreateMul(result, other)) : result;
  left = b.CreateSub(other, rest);
  auto mode = isa<tile::DivOp>(op) ? cast<tile::DivOp>(op).getMode() : cast<tile::RemOp>(op).getMode();
  // Truncated quotients of negative numbers end with a remainder of 0.
  if (mode != tile::IntDivMode::floor)
    left = b.CreateSelect(b.CreateICmpSLT(number, e.i64(0)), b.CreateSub(e.i64(1), rest), left);
  return b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, left, e.i64(1));
}

void NestEmitter::innerSegments(ArrayRef<Steady> values, const KnownBound *restriction) {
  auto &b = e.b;
  Range row{e.i64(0), e.i64(nest->shape[innerDim])};
  if (restriction)
    row = clamp(*restriction, nest->shape[innerDim]);
  Evaluator::Assumption holds(evaluator, restriction ? ArrayRef<KnownBound>(*restriction) : ArrayRef<KnownBound>());
  llvm::Function *function = b.GetInsertBlock()->getParent();
  auto block = [&] { return llvm::BasicBlock::Create(e.context(), "", function); };
  llvm::Value *any = b.CreateICmpSLT(row.from, row.to);
  llvm::Instruction *outside = cut();
  Loop segments(b, block(), block());
  segments.enter(any);
  llvm::Value *start = segments.carry(row.from);
  evaluator.enterLoop(outside);
  llvm::Value *end = row.to;
  {
    Evaluator::Segment segment(evaluator, int(innerDim));
    Index first{start, 0, nullptr, evaluator.level(), 1, int(innerDim)};
    Evaluator::Vector single(evaluator, 1);
    for (const Steady &steady : values) {
      if (steady.moves)
        end = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, end, b.CreateAdd(start, leftInSegment(steady, first)));
      segment.add(steady.result, pointOf(steady, first), steady.step());
    }
    Evaluator::Vector vectors(evaluator, lanes);
    llvm::Value *j = start;
    loop(
        start, end, lanes, true, {},
        [&](llvm::Value *at, ArrayRef<Lanes>) {
          body(at, 1, lanes, nullptr);
          return SmallVector<Lanes>();
        },
        &j);
    loop(j, end, lanes, false, {}, [&](llvm::Value *at, ArrayRef<Lanes>) {
      llvm::Value *left = b.CreateTrunc(b.CreateSub(end, at), b.getInt32Ty());
      body(at, 1, lanes, b.CreateICmpSLT(e.iota(b.getInt32Ty(), lanes), e.splat(left, lanes)));
      return SmallVector<Lanes>();
    });
  }
  evaluator.leaveLoop();
  segments.repeat({end}, b.CreateICmpSLT(end, row.to));
  segments.leave();
}

void Evaluator::Segment::add(Value tile, const Point &first, int64_t step) {
  unsigned level = levelOf(first);
  llvm::Value *start = evaluator.e.b.CreateSExtOrTrunc(evaluator.value(tile, first), evaluator.e.b.getInt64Ty());
  evaluator.state.segment.push_back({tile, first, loop, Linear{start, step, nullptr, level}});
}

std::optional<Linear> Evaluator::inSegment(Value tile, ArrayRef<Index> point) {
  for (const InSegment &known : state.segment) {
    if (known.tile != tile)
      continue;
    const Index *moved = nullptr, *first = nullptr;
    bool there = true;
    for (auto [index, start] : llvm::zip_equal(point, known.first)) {
      bool moves = start.loop == known.loop;
      there &= moves ? index.loop == known.loop && !index.lanes : index.uniform() && index.base == start.base;
      if (moves)
        std::tie(moved, first) = std::pair(&index, &start);
    }
    if (!there)
      continue;
    Linear result = known.at;
    if (!result.step)
      return result;
    result.level = moved->level;
    AtLevel at(*this, result.level);
    result.base = e.b.CreateAdd(result.base, e.b.CreateSub(moved->base, first->base));
    result.step = moved->step;
    return result;
  }
  return std::nullopt;
}

} // namespace tilery::lower
