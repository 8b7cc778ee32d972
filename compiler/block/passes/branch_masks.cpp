// branch-masks: in a loop with products, what indices or numbers say to do to some lanes becomes a branch that most steps do not take: where
// all lanes exist, nothing is selected, nothing added, and where a factor is 1 nothing multiplied. A causal program's mask then costs its last
// steps only.
#include "compiler/analysis/interval.h"
#include "compiler/block/ir/Block.h"
#include "compiler/block/passes/passes.h"
#include "compiler/block/price/schedule.h"
#include "compiler/ir/zero.h"

using namespace mlir;

namespace tilery::block {
namespace {

/// Integers of a tile: a sum of scalars, and from `low` to `high` more.
struct Span {
  SmallVector<Value> scalars;
  int64_t low = 0, high = 0;
};

std::optional<Span> spanOf(Value tile) {
  Operation *op = tile.getDefiningOp();
  if (!op || !getElementTypeOrSelf(tile.getType()).isSignlessInteger())
    return std::nullopt;
  if (auto range = dyn_cast<tile::RangeOp>(op))
    return Span{{}, int64_t(range.getStart()), int64_t(range.getStart()) + tile::shapeOf(tile.getType())[0] - 1};
  if (auto splat = dyn_cast<tile::SplatOp>(op))
    return Span{{splat.getValue()}, 0, 0};
  if (DenseElementsAttr constant; matchPattern(tile, m_Constant(&constant)) && constant.isSplat()) {
    int64_t value = constant.getSplatValue<APInt>().getSExtValue();
    return Span{{}, value, value};
  }
  if (isa<tile::BroadcastOp, tile::ExpandDimsOp, tile::ReshapeOp>(op))
    return spanOf(op->getOperand(0));
  if (isa<arith::ExtSIOp>(op)) { // of what does not wrap around: no sum with a scalar
    std::optional<Span> of = spanOf(op->getOperand(0));
    bool exact = of && (of->scalars.empty() || (of->scalars.size() == 1 && of->low == 0 && of->high == 0));
    return exact ? of : std::nullopt;
  }
  if (!isa<arith::AddIOp>(op))
    return std::nullopt;
  std::optional<Span> x = spanOf(op->getOperand(0)), y = spanOf(op->getOperand(1));
  if (!x || !y)
    return std::nullopt;
  x->scalars.append(y->scalars);
  return Span{x->scalars, x->low + y->low, x->high + y->high};
}

/// Scalars that hold where all of a tile of conditions does, or none.
class AllHold {
public:
  AllHold(OpBuilder &b, Location location) : b(b), location(location) {}

  /// Null: it is not known how to tell.
  Value of(Value tile, bool wanted) {
    Operation *op = tile.getDefiningOp();
    if (isa_and_nonnull<tile::BroadcastOp, tile::ExpandDimsOp, tile::ReshapeOp>(op))
      return of(op->getOperand(0), wanted);
    if (auto splat = dyn_cast_or_null<tile::SplatOp>(op))
      return wanted ? splat.getValue() : negated(splat.getValue());
    if (isa_and_nonnull<arith::AndIOp, arith::OrIOp>(op)) {
      Value x = of(op->getOperand(0), wanted), y = of(op->getOperand(1), wanted);
      if (isa<arith::AndIOp>(op) == wanted) // both have to
        return x && y ? both(x, y) : Value();
      return x && y ? Value(arith::OrIOp::create(b, location, x, y)) : x ? x : y;
    }
    if (isa_and_nonnull<arith::XOrIOp>(op) && matchPattern(op->getOperand(1), m_One()))
      return of(op->getOperand(0), !wanted);
    auto compare = dyn_cast_or_null<arith::CmpIOp>(op);
    return compare ? of(compare, wanted) : Value();
  }

  Value both(Value x, Value y) { return arith::AndIOp::create(b, location, x, y); }

private:
  Value of(arith::CmpIOp compare, bool wanted) {
    using P = arith::CmpIPredicate;
    P predicate = wanted ? compare.getPredicate() : arith::invertPredicate(compare.getPredicate());
    Value less = compare.getLhs(), more = compare.getRhs();
    if (predicate == P::sge || predicate == P::sgt)
      std::swap(less, more);
    if (!llvm::is_contained({P::sge, P::sgt, P::sle, P::slt}, predicate))
      return {};
    unsigned bits = getElementTypeOrSelf(less.getType()).getIntOrFloatBitWidth();
    std::optional<Span> x = spanOf(less), y = spanOf(more);
    if (!x || !y || (bits != 32 && bits != 64))
      return {};
    // In 64 bits; what would wrap around is left to the lanes.
    bool strict = predicate == P::slt || predicate == P::sgt;
    Value xs = sum(*x), ys = sum(*y);
    Value holds = atMost(plus(xs, x->high + strict), plus(ys, y->low));
    for (auto &[base, span] : {std::pair(xs, *x), std::pair(ys, *y)})
      if (!(holds = bits == 32 ? fits32(holds, base, span) : fits64(holds, span)))
        return {};
    return holds;
  }

  Value fits32(Value holds, Value base, const Span &span) {
    holds = both(holds, atMost(plus(base, span.high), number(std::numeric_limits<int32_t>::max())));
    return both(holds, atMost(number(std::numeric_limits<int32_t>::min()), plus(base, span.low)));
  }

  /// Few scalars, each so small that no sum of them wraps around; null: they are not known to be few.
  Value fits64(Value holds, const Span &span) {
    constexpr int64_t few = 4, small = int64_t(1) << 60;
    if (span.scalars.size() > few || span.low < -small || span.high > small)
      return {};
    for (Value scalar : span.scalars)
      if (auto interval = analysis::intervalOf(scalar); !interval || interval->least < -small || interval->greatest > small) {
        Value wide = widened(scalar);
        holds = both(both(holds, atMost(wide, number(small))), atMost(number(-small), wide));
      }
    return holds;
  }

  Value number(int64_t value) { return arith::ConstantOp::create(b, location, b.getI64IntegerAttr(value)); }
  Value plus(Value x, int64_t y) { return y ? Value(arith::AddIOp::create(b, location, x, number(y))) : x; }
  Value negated(Value x) {
    return arith::XOrIOp::create(b, location, x, arith::ConstantOp::create(b, location, b.getBoolAttr(true)));
  }
  Value atMost(Value x, Value y) { return arith::CmpIOp::create(b, location, arith::CmpIPredicate::sle, x, y); }
  Value widened(Value x) { return x.getType().isInteger(64) ? x : arith::ExtSIOp::create(b, location, b.getI64Type(), x); }
  Value sum(const Span &span) {
    Value sum = number(0);
    for (Value scalar : span.scalars)
      sum = arith::AddIOp::create(b, location, sum, widened(scalar));
    return sum;
  }

  OpBuilder &b;
  Location location;
};

/// One of its operands is what the op gives where all (`wanted`) or no conditions hold, or one that is a scalar.
struct Plain {
  Value same, conditions;
  bool wanted = true;
  Operation *choice = nullptr; // what the other operand is
};

bool isConstantTile(Value value) {
  if (auto splat = value.getDefiningOp<tile::SplatOp>())
    value = splat.getValue();
  return matchPattern(value, m_Constant());
}

std::optional<Plain> plainOf(Operation *op) {
  if (auto select = dyn_cast_or_null<arith::SelectOp>(op)) {
    if (!isa<RankedTensorType>(select.getCondition().getType()))
      return std::nullopt;
    bool wanted = !isConstantTile(select.getTrueValue());
    return Plain{wanted ? select.getTrueValue() : select.getFalseValue(), select.getCondition(), wanted};
  }
  if (isa_and_nonnull<arith::AddFOp>(op)) // a choice of 0 and something else to the sums of a product
    for (unsigned which : {0u, 1u}) {
      auto choice = op->getOperand(1 - which).getDefiningOp<arith::SelectOp>();
      if (!choice || !isa<RankedTensorType>(choice.getCondition().getType()) || !op->getOperand(which).getDefiningOp<MmaWaitOp>())
        continue;
      for (bool wanted : {true, false})
        if (tile::isPlusZero(wanted ? choice.getTrueValue() : choice.getFalseValue()))
          return Plain{op->getOperand(which), choice.getCondition(), wanted, choice};
    }
  if (isa_and_nonnull<arith::MulFOp>(op)) { // with 1, where a scalar says so
    auto splat = op->getOperand(1).getDefiningOp<tile::SplatOp>();
    auto choice = splat ? splat.getValue().getDefiningOp<arith::SelectOp>() : arith::SelectOp();
    if (choice && matchPattern(choice.getTrueValue(), m_OneFloat()))
      return Plain{op->getOperand(0), choice.getCondition()};
  }
  return std::nullopt;
}

/// The last of a chain of such ops, each of which alone takes what the one before gives, becomes one branch around all of them.
void branch(Operation *last) {
  OpBuilder b(last);
  Location location = last->getLoc();
  AllHold hold(b, location);
  SmallVector<Operation *> chain; // from the last
  Value same = last->getResult(0), all;
  for (Operation *op = last; op;) {
    std::optional<Plain> plain = plainOf(op);
    bool isOwn = plain && op->getBlock() == last->getBlock() && (op == last || op->hasOneUse());
    bool isScalar = isOwn && !isa<RankedTensorType>(plain->conditions.getType());
    Value holds = !isOwn ? Value() : isScalar ? plain->conditions : hold.of(plain->conditions, plain->wanted);
    if (!holds || matchPattern(holds, m_Constant()))
      break;
    all = all ? hold.both(all, holds) : holds;
    chain.push_back(op);
    if (plain->choice && plain->choice->hasOneUse() && plain->choice->getBlock() == last->getBlock())
      chain.push_back(plain->choice);
    same = plain->same;
    op = same.getDefiningOp();
  }
  if (chain.empty())
    return;
  auto branch = scf::IfOp::create(b, location, last->getResultTypes(), all, /*withElse=*/true);
  last->getResult(0).replaceAllUsesWith(branch.getResult(0));
  b = branch.getThenBodyBuilder();
  scf::YieldOp::create(b, location, same);
  b = branch.getElseBodyBuilder();
  auto end = scf::YieldOp::create(b, location, last->getResult(0));
  for (Operation *op : llvm::reverse(chain))
    op->moveBefore(end);
}
} // namespace

void runBranchMasks(tile::KernelOp kernel) {
  std::optional<Schedule> schedule = Schedule::of(kernel);
  if (!schedule || !schedule->branch)
    return;
  for (auto loop : kernel.getBody().getOps<scf::ForOp>())
    if (!loop.getBody()->getOps<MmaStartOp>().empty()) {
      SmallVector<Operation *> ops;
      for (Operation &op : llvm::reverse(*loop.getBody()))
        if (plainOf(&op))
          ops.push_back(&op);
      for (Operation *op : ops)
        if (op->getBlock() == loop.getBody()) // no part of a later one's branch
          branch(op);
    }
}

} // namespace tilery::block
