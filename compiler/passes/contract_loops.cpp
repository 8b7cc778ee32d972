// contract-loops: for k: acc = dot(a(k), b(k), acc) -> one contraction over all of K.
#include "compiler/ir/partial_sums.h"
#include "compiler/ir/zero.h"
#include "compiler/passes/dead_carried.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/separable.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace tilery;
using namespace tilery::tile;

namespace {

/// The dot that alone updates a carried accumulator: acc = dot(a, b, acc), or acc = acc + dot(a, b, 0).
DotOp accumulation(BlockArgument acc, Value yielded) {
  if (!acc.hasOneUse())
    return {};
  auto plain = [](DotOp dot) { return dot && (!dot.getClear() || matchPattern(dot.getClear(), m_Zero())); };
  auto dot = yielded.getDefiningOp<DotOp>();
  if (plain(dot) && dot.getAcc() == acc && dot.getResult().hasOneUse())
    return dot;
  Operation *sum = yielded.getDefiningOp();
  if (!sum || !isa<arith::AddFOp, arith::AddIOp>(sum) || !yielded.hasOneUse())
    return {};
  for (unsigned side : {0, 1}) {
    dot = sum->getOperand(side).getDefiningOp<DotOp>();
    if (plain(dot) && sum->getOperand(1 - side) == acc && isZero(dot.getAcc()) && dot.getResult().hasOneUse())
      return dot;
  }
  return {};
}

/// True if the loop does nothing but read global memory and compute.
bool onlyLoads(scf::ForOp loop) {
  WalkResult result = loop.getBody()->walk([](Operation *op) {
    if (isMemoryEffectFree(op) || op->hasTrait<OpTrait::HasRecursiveMemoryEffects>())
      return WalkResult::advance();
    auto load = dyn_cast<LoadOp>(op);
    return load && !load.getIsVolatile() ? WalkResult::advance() : WalkResult::interrupt();
  });
  return !result.wasInterrupted();
}

/// What the dot's factors are computed from in the loop. The accumulators themselves are read by nothing that they need.
SetVector<Operation *> neededOf(DotOp dot, scf::ForOp loop) {
  SetVector<Operation *> needed;
  SmallVector<Value> work = {dot.getA(), dot.getB()};
  while (!work.empty()) {
    Operation *op = work.pop_back_val().getDefiningOp();
    if (!op || !loop->isProperAncestor(op))
      continue;
    while (op->getParentOp() != loop)
      op = op->getParentOp();
    if (needed.insert(op))
      op->walk([&](Operation *each) { work.append(each->operand_begin(), each->operand_end()); });
  }
  return needed;
}

struct ContractLoops : PassWrapper<ContractLoops, OperationPass<KernelOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ContractLoops)
  StringRef getArgument() const final { return "contract-loops"; }
  StringRef getDescription() const final { return "loops of dots become one contraction over all of K"; }

  void runOnOperation() final {
    removeDeadCarried(getOperation());
    SmallVector<scf::ForOp> loops;
    getOperation().walk([&](scf::ForOp loop) { loops.push_back(loop); });
    for (scf::ForOp loop : loops)
      contract(loop);
  }

  void contract(scf::ForOp loop) {
    if (!loop.getNumResults() || !onlyLoads(loop))
      return;
    SmallVector<DotOp> dots;
    for (unsigned i = 0; i < loop.getNumResults(); ++i) {
      dots.push_back(accumulation(loop.getRegionIterArg(i), loop.getYieldedValues()[i]));
      if (!dots.back() || dots.back()->getParentOp() != loop)
        return;
    }
    SmallVector<SetVector<Operation *>> needs;
    for (DotOp dot : dots) {
      needs.push_back(neededOf(dot, loop));
      // A product of products is no sum over all of K: its loop computes both, and what products share once.
      if (llvm::any_of(needs.back(), [](Operation *op) { return isa<DotOp>(op); }))
        return;
    }
    OpBuilder b(loop);
    SeparableAnalysis math(b, loop.getLoc());
    Value lower = math.scalar(loop.getLowerBound()), step = math.materialise(math.scalar(loop.getStep()));
    Value span = math.sub(math.scalar(loop.getUpperBound()), lower);
    auto c = constantOf(step);
    Value steps = c ? math.ceilDiv(span, *c)
                    : DivOp::create(b, loop.getLoc(), math.materialise(math.add(span, math.sub(step, math.constant(1)))), step,
                                    IntDivMode::trunc)
                          .getResult();
    steps = math.max(steps, math.constant(0));
    for (auto [i, dot] : llvm::enumerate(dots)) {
      b.setInsertionPoint(loop);
      auto contract =
          ContractOp::create(b, dot.getLoc(), dot.getType(), steps, loop.getInitArgs()[i], dot.getPrecision(), dot.getAUnsigned(),
                             dot.getBUnsigned(), loop->getAttrOfType<IntegerAttr>("tile.num_stages"),
                             /*live=*/ValueRange());
      // Sums that the program adds itself have all bits of their type.
      bool addsApart = !isa<DotOp>(loop.getYieldedValues()[i].getDefiningOp()) && hasPartialSums(dot.getA().getType());
      setPartialSums(contract, addsApart ? shapeOf(dot.getA().getType()).back() : partialSums(dot));
      Block &body = contract.getBody().emplaceBlock();
      Value s = body.addArgument(b.getI64Type(), loop.getLoc());
      b.setInsertionPointToEnd(&body);
      SeparableAnalysis inner(b, loop.getLoc());
      IRMapping map;
      Value wide = inner.materialise(inner.add(lower, inner.mul(s, step))), iv = wide;
      if (!loop.getInductionVar().getType().isInteger(64))
        iv = arith::TruncIOp::create(b, loop.getLoc(), loop.getInductionVar().getType(), iv, arith::IntegerOverflowFlags::nsw);
      map.map(loop.getInductionVar(), iv);
      for (Operation &op : loop.getBody()->without_terminator())
        if (auto extend = dyn_cast<arith::ExtSIOp>(op);
            extend && extend.getIn() == loop.getInductionVar() && extend.getType().isInteger(64))
          map.map(extend.getResult(), wide);
        else if (needs[i].contains(&op))
          b.clone(op, map);
      YieldOp::create(b, dot.getLoc(), ValueRange{map.lookupOrDefault(dot.getA()), map.lookupOrDefault(dot.getB())});
      loop.getResult(i).replaceAllUsesWith(contract.getResult());
    }
    loop.erase();
  }
};
} // namespace

std::unique_ptr<Pass> tilery::createContractLoops() { return std::make_unique<ContractLoops>(); }
