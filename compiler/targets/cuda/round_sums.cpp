// Both compilers order the operands of sums by the ranks of LLVM's reassociation: of what reads memory or may trap, the place in the
// program; of everything else, one more than its operands'. What is ranked here are the ops they make these instructions of.
#include "compiler/targets/cuda/round_sums.h"
#include "compiler/lower/codegen.h"

using namespace mlir;

namespace tilery::cuda {
namespace {
bool isReindexed(Operation *op) {
  return isa_and_present<tile::SplatOp, tile::ExpandDimsOp, tile::BroadcastOp, tile::ReshapeOp, tile::PermuteOp>(op);
}

bool isProduct(Value value) {
  Operation *op = value.getDefiningOp();
  while (isReindexed(op))
    op = op->getOperand(0).getDefiningOp();
  return isa_and_present<arith::MulFOp>(op);
}

class Ranks {
public:
  void visit(Block &block) {
    now = (now | 0xffff) + 1; // after all that stands before the block, however deep its expressions are
    for (Value argument : block.getArguments())
      ranks[argument] = ++now;
    for (Operation &op : block)
      visit(&op);
  }

private:
  llvm::DenseMap<Value, uint64_t> ranks;
  uint64_t now = 0;

  void visit(Operation *op) {
    if (auto sum = dyn_cast<arith::AddFOp>(op); sum && isProduct(sum.getLhs()) && isProduct(sum.getRhs()))
      if (ranks.lookup(sum.getRhs()) < ranks.lookup(sum.getLhs()))
        sum->setOperands({sum.getRhs(), sum.getLhs()});
    if (op->getNumRegions())
      return visitRegions(op);
    uint64_t rank = rankOf(op);
    for (Value result : op->getResults())
      ranks[result] = rank;
  }

  /// A loop's results are what its head carries; others meet behind the branches.
  void visitRegions(Operation *op) {
    bool loops = isa<LoopLikeOpInterface, tile::ContractOp>(op);
    uint64_t head = now | 0xffff;
    for (Region &region : op->getRegions())
      for (Block &block : region)
        visit(block);
    now = (now | 0xffff) + 1;
    for (Value result : op->getResults())
      ranks[result] = loops ? ++head : ++now;
  }

  uint64_t rankOf(Operation *op) {
    uint64_t operands = 0;
    for (Value operand : op->getOperands())
      operands = std::max(operands, ranks.lookup(operand));
    if (isReindexed(op) || isa<arith::NegFOp>(op) || op->hasTrait<OpTrait::ConstantLike>())
      return operands;
    if (isa<arith::DivFOp, tile::DivOp, tile::RemOp>(op))
      return ++now;
    if (isa<math::ExpOp>(op))
      return operands + 2;                            // exp2 of a product
    bool root = isa<math::SqrtOp, math::RsqrtOp>(op); // may not be computed elsewhere
    if ((lower::isElementwise(op) && !root) || isa<tile::ProgramIdOp, tile::RangeOp, tile::AccessOp, tile::PointerAccessOp>(op))
      return operands + 1;
    return ++now + 1; // what it gives is one of several results, or bits
  }
};
} // namespace

void roundSums(tile::KernelOp kernel) {
  Ranks ranks;
  for (Block &block : kernel.getBody())
    ranks.visit(block);
}

} // namespace tilery::cuda
