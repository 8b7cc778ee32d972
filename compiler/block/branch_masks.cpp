// branch-masks: in a loop with products, selects by what indices are become branches that most steps take: where all lanes exist, nothing is
// selected. A causal program's mask then costs its last steps only.
#include "compiler/block/ir/Block.h"
#include "compiler/block/passes.h"
#include "compiler/block/schedule.h"

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
  if (!isa<arith::AddIOp>(op))
    return std::nullopt;
  std::optional<Span> x = spanOf(op->getOperand(0)), y = spanOf(op->getOperand(1));
  if (!x || !y)
    return std::nullopt;
  x->scalars.append(y->scalars);
  return Span{x->scalars, x->low + y->low, x->high + y->high};
}

/// Scalars that hold where all of a tile of conditions does.
class AllHold {
public:
  AllHold(OpBuilder &b, Location location) : b(b), location(location) {}

  /// Null: it is not known how to tell.
  Value of(Value tile) {
    Operation *op = tile.getDefiningOp();
    if (isa_and_nonnull<tile::BroadcastOp, tile::ExpandDimsOp, tile::ReshapeOp>(op))
      return of(op->getOperand(0));
    if (auto splat = dyn_cast_or_null<tile::SplatOp>(op))
      return splat.getValue();
    if (isa_and_nonnull<arith::AndIOp>(op)) {
      Value x = of(op->getOperand(0)), y = x ? of(op->getOperand(1)) : Value();
      return y ? both(x, y) : Value();
    }
    auto compare = dyn_cast_or_null<arith::CmpIOp>(op);
    return compare ? of(compare) : Value();
  }

private:
  Value of(arith::CmpIOp compare) {
    using P = arith::CmpIPredicate;
    P predicate = compare.getPredicate();
    Value less = compare.getLhs(), more = compare.getRhs();
    if (predicate == P::sge || predicate == P::sgt)
      std::swap(less, more);
    if (!llvm::is_contained({P::sge, P::sgt, P::sle, P::slt}, predicate))
      return {};
    unsigned bits = getElementTypeOrSelf(less.getType()).getIntOrFloatBitWidth();
    std::optional<Span> x = spanOf(less), y = spanOf(more);
    if (!x || !y || bits != 32)
      return {};
    // In 64 bits; what would wrap around in 32 is left to the lanes.
    bool strict = predicate == P::slt || predicate == P::sgt;
    Value xs = sum(*x), ys = sum(*y);
    Value holds = atMost(plus(xs, x->high + strict), plus(ys, y->low));
    for (auto &[base, span] : {std::pair(xs, *x), std::pair(ys, *y)}) {
      holds = both(holds, atMost(plus(base, span.high), number(std::numeric_limits<int32_t>::max())));
      holds = both(holds, atMost(number(std::numeric_limits<int32_t>::min()), plus(base, span.low)));
    }
    return holds;
  }

  Value number(int64_t value) { return arith::ConstantOp::create(b, location, b.getI64IntegerAttr(value)); }
  Value plus(Value x, int64_t y) { return y ? Value(arith::AddIOp::create(b, location, x, number(y))) : x; }
  Value both(Value x, Value y) { return arith::AndIOp::create(b, location, x, y); }
  Value atMost(Value x, Value y) { return arith::CmpIOp::create(b, location, arith::CmpIPredicate::sle, x, y); }
  Value sum(const Span &span) {
    Value sum = number(0);
    for (Value scalar : span.scalars)
      sum = arith::AddIOp::create(b, location, sum, arith::ExtSIOp::create(b, location, b.getI64Type(), scalar));
    return sum;
  }

  OpBuilder &b;
  Location location;
};

struct BranchMasks : PassWrapper<BranchMasks, OperationPass<tile::KernelOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(BranchMasks)
  StringRef getArgument() const final { return "branch-masks"; }
  StringRef getDescription() const final { return "loops with products select lanes in steps that need it only"; }
  void getDependentDialects(DialectRegistry &registry) const final { registry.insert<arith::ArithDialect, scf::SCFDialect>(); }

  void runOnOperation() final {
    std::optional<Schedule> schedule = Schedule::of(getOperation());
    if (!schedule || !schedule->branch)
      return;
    for (auto loop : getOperation().getBody().getOps<scf::ForOp>())
      if (!loop.getBody()->getOps<MmaStartOp>().empty())
        for (auto select : llvm::make_early_inc_range(loop.getBody()->getOps<arith::SelectOp>()))
          if (isa<RankedTensorType>(select.getCondition().getType()))
            branch(select);
  }

  static void branch(arith::SelectOp select) {
    OpBuilder b(select);
    Location location = select.getLoc();
    Value all = AllHold(b, location).of(select.getCondition());
    if (!all || matchPattern(all, m_Constant()))
      return;
    auto branch = scf::IfOp::create(b, location, select->getResultTypes(), all, /*withElse=*/true);
    select.replaceAllUsesWith(branch.getResult(0));
    b = branch.getThenBodyBuilder();
    scf::YieldOp::create(b, location, select.getTrueValue());
    b = branch.getElseBodyBuilder();
    auto end = scf::YieldOp::create(b, location, select.getResult());
    select->moveBefore(end);
  }
};
} // namespace

std::unique_ptr<Pass> createBranchMasks() { return std::make_unique<BranchMasks>(); }

} // namespace tilery::block
