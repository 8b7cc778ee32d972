// A branch that holds a wait is cut in front of it: what the pieces compute without effects, each computes for itself.
#include "compiler/passes/cut_branches.h"
#include "compiler/analysis/same_value.h"
#include "compiler/passes/role_pieces.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace tilery;
using namespace tilery::tile;

namespace {

/// What costs nothing and changes nothing may be computed twice.
bool isRemade(Operation *op) {
  return isPure(op) && op->getNumRegions() == 0 && llvm::none_of(op->getResultTypes(), llvm::IsaPred<RankedTensorType>);
}

/// In which piece each op of the block stands, counted from 0: they begin where something waits, but where one would use what another
/// one's ops leave.
llvm::DenseMap<Operation *, unsigned> piecesOf(Block &block) {
  SmallVector<Operation *> ops;
  SmallVector<bool> begins;
  llvm::DenseMap<Operation *, unsigned> number;
  for (Operation &op : block.without_terminator()) {
    number[&op] = ops.size();
    begins.push_back(!ops.empty() && holdsWait(op));
    ops.push_back(&op);
  }
  for (auto [i, op] : llvm::enumerate(ops))
    if (!isRemade(op))
      for (Operation *user : op->getUsers())
        std::fill(begins.begin() + i + 1, begins.begin() + number.lookup(block.findAncestorOpInBlock(*user)) + 1, false);
  unsigned piece = 0;
  for (auto [op, begin] : llvm::zip(ops, begins))
    number[op] = piece += begin;
  return number;
}

/// The pieces of one side as branches in front of `branch`.
void cutSide(scf::IfOp branch, Block &side, Value condition) {
  llvm::DenseMap<Operation *, unsigned> piece = piecesOf(side);
  unsigned count = 0;
  for (auto [op, number] : piece)
    count = std::max(count, number + 1);
  for (unsigned now = 0; now < count; ++now) {
    OpBuilder b(branch);
    auto part = scf::IfOp::create(b, branch.getLoc(), condition, /*withElseRegion=*/false);
    IRMapping same;
    b.setInsertionPointToStart(part.thenBlock());
    llvm::SmallPtrSet<Operation *, 16> wanted;
    for (Operation &op : llvm::reverse(side.without_terminator()))
      if (piece.lookup(&op) == now ||
          llvm::any_of(op.getUsers(), [&](Operation *user) { return wanted.contains(side.findAncestorOpInBlock(*user)); }))
        wanted.insert(&op);
    for (Operation &op : side.without_terminator())
      if (wanted.contains(&op))
        b.clone(op, same);
  }
}

void cut(scf::IfOp branch) {
  cutSide(branch, *branch.thenBlock(), branch.getCondition());
  if (Block *other = branch.elseBlock()) {
    OpBuilder b(branch);
    Value yes = arith::ConstantOp::create(b, branch.getLoc(), b.getBoolAttr(true));
    cutSide(branch, *other, arith::XOrIOp::create(b, branch.getLoc(), branch.getCondition(), yes));
  }
  branch.erase();
}

} // namespace

void tilery::cutBranchesAtWaits(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(block)) {
    for (Region &region : op.getRegions())
      for (Block &inner : region)
        cutBranchesAtWaits(inner);
    auto branch = dyn_cast<scf::IfOp>(op);
    if (branch && branch.getNumResults() == 0 && holdsWait(op))
      cut(branch);
  }
}

void tilery::joinBranches(Block &block) {
  scf::IfOp before;
  for (Operation &op : llvm::make_early_inc_range(block)) {
    for (Region &region : op.getRegions())
      for (Block &inner : region)
        joinBranches(inner);
    auto branch = dyn_cast<scf::IfOp>(op);
    bool isPlain = branch && branch.getNumResults() == 0 && !branch.elseBlock();
    if (isPlain && before && analysis::isSameValue(before.getCondition(), branch.getCondition())) {
      for (Operation *between = before->getNextNode(); between != branch; between = before->getNextNode())
        between->moveBefore(before); // it is pure
      Block &to = *before.thenBlock();
      to.getOperations().splice(to.getTerminator()->getIterator(), branch.thenBlock()->getOperations(),
                                branch.thenBlock()->begin(), branch.thenBlock()->getTerminator()->getIterator());
      branch.erase();
    } else if (isPlain) {
      before = branch;
    } else if (!isRemade(&op)) {
      before = {};
    }
  }
}
