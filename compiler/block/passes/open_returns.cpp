// open-returns: programs that return early (`if start >= length: return`) have all their work in a branch; passes look for it in the kernel's
// body. So the branch becomes an op that ends the program, until there are roles' programs to put it in.
#include "compiler/block/ir/Block.h"
#include "compiler/block/passes/passes.h"
#include "compiler/ir/Tile.h"

using namespace mlir;

namespace tilery::block {
namespace {

bool isEmpty(Region &region) { return region.empty() || region.front().without_terminator().empty(); }

/// Numbers, and reads of them.
bool isScalar(Operation &op) {
  auto isTile = [](Type type) { return isa<RankedTensorType>(type); };
  bool reads = isa<tile::LoadOp>(op) || isMemoryEffectFree(&op);
  return reads && llvm::none_of(op.getResultTypes(), isTile) && llvm::none_of(op.getOperandTypes(), isTile);
}

/// The branch that all products stand in, if it is the last thing that the kernel does.
scf::IfOp returningBranch(tile::KernelOp kernel) {
  Block &body = kernel.getBody().front();
  auto branch = dyn_cast_or_null<scf::IfOp>(body.getTerminator()->getPrevNode());
  if (!branch || branch.getNumResults() || isEmpty(branch.getThenRegion()) == isEmpty(branch.getElseRegion()))
    return {};
  unsigned inside = 0;
  branch->walk([&](tile::DotOp) { ++inside; });
  auto touchesTiles = [&](Operation &op) {
    return &op != branch && !isa<tile::ReturnOp, ReturnIfOp>(op) && !isScalar(op) && !isMemoryEffectFree(&op);
  };
  auto hasProduct = [&](Operation &op) {
    return &op != branch && op.walk([](tile::DotOp) { return WalkResult::interrupt(); }).wasInterrupted();
  };
  return inside > 1 && llvm::none_of(body, touchesTiles) && llvm::none_of(body, hasProduct) ? branch : scf::IfOp();
}
} // namespace

/// A branch around all of a kernel's products that nothing stands behind, as an early return leaves it, becomes `block.return_if` and the
/// code that the branch held. Leaves kernels with fewer than two products alone, and those that touch tiles before.
void runOpenReturns(tile::KernelOp kernel) {
  while (scf::IfOp branch = returningBranch(kernel)) {
    OpBuilder b(branch);
    Value ends = branch.getCondition();
    bool whereItHolds = !isEmpty(branch.getThenRegion());
    if (whereItHolds)
      ends = arith::XOrIOp::create(b, branch.getLoc(), ends, arith::ConstantOp::create(b, branch.getLoc(), b.getBoolAttr(true)));
    ReturnIfOp::create(b, branch.getLoc(), ends);
    Block &held = (whereItHolds ? branch.getThenRegion() : branch.getElseRegion()).front();
    held.getTerminator()->erase();
    branch->getBlock()->getOperations().splice(branch->getIterator(), held.getOperations());
    branch.erase();
  }
}

} // namespace tilery::block
