// follow-counter: a number that a loop carries and counts on by the loop's own step is the loop's number, a constant apart.
//
// Persistent kernels carry their tile's number twice (`tile_id_c += NUM_SMS` beside `for tile_id in range(start, tiles, NUM_SMS)`): where they
// store is only then seen to be where they have loaded. Whatever wraps, wraps in both.
//
// So is a tile that counts on by a constant (`offs_n += BLOCK_N`): it is its first value and a multiple of the loop's number. Accesses see
// through sums that are carried, but not what is divided, compared with data or loaded by them (pages of keys).
#include "compiler/analysis/index_polynomial.h"
#include "compiler/analysis/integer_op.h"
#include "compiler/analysis/same_value.h"
#include "compiler/analysis/sign.h"
#include "compiler/passes/passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tilery;
using namespace tilery::tile;

namespace {

bool isSameNumber(Value a, Value b) {
  std::optional<int64_t> x = analysis::constantOf(a), y = analysis::constantOf(b);
  return a.getType() == b.getType() && (x || y ? x == y : analysis::isSameValue(a, b));
}

/// What each turn hands on is the number it was given and the loop's step.
bool countsWith(scf::ForOp loop, unsigned carried) {
  Value argument = loop.getRegionIterArg(carried);
  auto sum = loop.getBody()->getTerminator()->getOperand(carried).getDefiningOp<arith::AddIOp>();
  if (!sum || argument.getType() != loop.getInductionVar().getType())
    return false;
  return (sum.getLhs() == argument && isSameNumber(sum.getRhs(), loop.getStep())) ||
         (sum.getRhs() == argument && isSameNumber(sum.getLhs(), loop.getStep()));
}

void follow(scf::ForOp loop) {
  for (unsigned i = 0; i < loop.getNumRegionIterArgs(); ++i) {
    Value argument = loop.getRegionIterArg(i);
    if (argument.use_empty() || !countsWith(loop, i))
      continue;
    std::optional<int64_t> apart =
        (analysis::polynomialOf(loop.getInitArgs()[i]) - analysis::polynomialOf(loop.getLowerBound())).constant();
    if (!apart)
      continue;
    auto b = OpBuilder::atBlockBegin(loop.getBody());
    Value number = loop.getInductionVar();
    if (*apart) {
      Value constant = arith::ConstantOp::create(b, loop.getLoc(), b.getIntegerAttr(number.getType(), *apart));
      number = arith::AddIOp::create(b, loop.getLoc(), number, constant);
    }
    argument.replaceAllUsesWith(number);
  }
}

/// No element is negative, whatever the launch.
bool isNotNegative(Value tile) {
  if (std::optional<int64_t> constant = analysis::constantOf(tile))
    return *constant >= 0;
  Operation *op = tile.getDefiningOp();
  if (auto range = dyn_cast_or_null<RangeOp>(op))
    return range.getStart() >= 0;
  if (isa_and_nonnull<ExpandDimsOp, BroadcastOp, ReshapeOp, PermuteOp, arith::ExtSIOp>(op))
    return isNotNegative(op->getOperand(0));
  if (auto overflow = dyn_cast_or_null<arith::ArithIntegerOverflowFlagsInterface>(op))
    return isa<arith::AddIOp, arith::MulIOp>(op) && overflow.hasNoSignedWrap() &&
           llvm::all_of(op->getOperands(), [](Value operand) { return isNotNegative(operand); });
  Value scalar = isa_and_nonnull<SplatOp>(op) ? op->getOperand(0) : tile;
  analysis::SignAnalysis signs;
  return !isa<RankedTensorType>(scalar.getType()) && signs.notNegative(scalar) && signs.assumptions().empty();
}

/// What each turn adds to a tile, where that is a constant multiple of the loop's step and no turn's sum wraps.
std::optional<int64_t> perStep(scf::ForOp loop, unsigned carried) {
  auto type = dyn_cast<RankedTensorType>(loop.getRegionIterArg(carried).getType());
  if (!type || type.getElementType() != loop.getInductionVar().getType())
    return std::nullopt;
  auto sum = loop.getYieldedValues()[carried].getDefiningOp<arith::AddIOp>();
  bool wraps = !sum || !bitEnumContainsAny(sum.getOverflowFlags(), arith::IntegerOverflowFlags::nsw);
  if (wraps || sum.getLhs() != loop.getRegionIterArg(carried))
    return std::nullopt;
  std::optional<int64_t> added = analysis::constantOf(sum.getRhs()), step = analysis::constantOf(loop.getStep());
  bool isMultiple = added && step && *added > 0 && *step > 0 && *added % *step == 0;
  return isMultiple ? std::optional(*added / *step) : std::nullopt;
}

// Neither the distance from the first number nor its multiple wraps: both are at most what a sum that does not wrap has reached.
void followTiles(scf::ForOp loop) {
  for (unsigned i = 0; i < loop.getNumRegionIterArgs(); ++i) {
    Value argument = loop.getRegionIterArg(i), result = loop.getResult(i), first = loop.getInitArgs()[i];
    std::optional<int64_t> factor = perStep(loop, i);
    bool byOnes = analysis::constantOf(loop.getStep()) == 1;
    if (!factor || (!result.use_empty() && !byOnes) || !isNotNegative(first) || !isNotNegative(loop.getLowerBound()))
      continue;
    auto counted = [&](OpBuilder b, Value number) -> Value {
      constexpr auto nsw = arith::IntegerOverflowFlags::nsw;
      Location loc = loop.getLoc();
      if (analysis::constantOf(loop.getLowerBound()) != 0)
        number = arith::SubIOp::create(b, loc, number, loop.getLowerBound(), nsw);
      Value each = arith::ConstantOp::create(b, loc, b.getIntegerAttr(number.getType(), *factor));
      Value moved = SplatOp::create(b, loc, argument.getType(), arith::MulIOp::create(b, loc, number, each, nsw).getResult());
      return arith::AddIOp::create(b, loc, moved, first, nsw);
    };
    argument.replaceAllUsesWith(counted(OpBuilder::atBlockBegin(loop.getBody()), loop.getInductionVar()));
    if (result.use_empty())
      continue;
    OpBuilder behind(loop->getContext());
    behind.setInsertionPointAfter(loop);
    Value end = arith::MaxSIOp::create(behind, loop.getLoc(), loop.getUpperBound(), loop.getLowerBound());
    result.replaceAllUsesWith(counted(behind, end));
  }
}

struct FollowCounter : PassWrapper<FollowCounter, OperationPass<KernelOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(FollowCounter)
  StringRef getArgument() const final { return "follow-counter"; }
  StringRef getDescription() const final { return "what counts beside a loop's number is computed from it"; }
  void runOnOperation() final {
    getOperation().walk(follow);
    getOperation().walk(followTiles);
  }
};

} // namespace

std::unique_ptr<Pass> tilery::createFollowCounter() { return std::make_unique<FollowCounter>(); }
