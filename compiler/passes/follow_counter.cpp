// follow-counter: a number that a loop carries and counts on by the loop's own step is the loop's number, a constant apart.
//
// Persistent kernels carry their tile's number twice (`tile_id_c += NUM_SMS` beside `for tile_id in range(start, tiles, NUM_SMS)`): where they
// store is only then seen to be where they have loaded. Whatever wraps, wraps in both.
#include "compiler/analysis/index_polynomial.h"
#include "compiler/analysis/integer_op.h"
#include "compiler/analysis/same_value.h"
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

struct FollowCounter : PassWrapper<FollowCounter, OperationPass<KernelOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(FollowCounter)
  StringRef getArgument() const final { return "follow-counter"; }
  StringRef getDescription() const final { return "what counts beside a loop's number is computed from it"; }
  void runOnOperation() final { getOperation().walk(follow); }
};

} // namespace

std::unique_ptr<Pass> tilery::createFollowCounter() { return std::make_unique<FollowCounter>(); }
