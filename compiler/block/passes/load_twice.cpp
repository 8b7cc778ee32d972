// load-twice: a tile that a kernel multiplies, and computes with besides (it scales it and multiplies that, too), is loaded once for each.
//
// Factors go to the tensor cores as the copy engine brings them; what threads compute with goes to their registers.
#include "compiler/block/recognise/kernel_work.h"
#include "compiler/block/passes/passes.h"
#include "compiler/ir/Tile.h"

using namespace mlir;

namespace tilery::block {
namespace {

/// True if all that follows from the use are factors of products, renumbered or not.
bool endsInProducts(OpOperand &use) {
  Operation *user = use.getOwner();
  if (isa<tile::DotOp>(user))
    return use.getOperandNumber() < 2;
  return isa<tile::PermuteOp, tile::ReshapeOp, tile::ExpandDimsOp, arith::BitcastOp>(user) &&
         llvm::all_of(user->getUses(), endsInProducts);
}
} // namespace

void runLoadTwice(tile::KernelOp kernel) {
  SmallVector<tile::LoadOp> loads;
  kernel.walk([&](tile::LoadOp load) {
    if (isa<RankedTensorType>(load.getType()) && !load.getIsVolatile() && !load->getParentOfType<tile::ContractOp>())
      loads.push_back(load);
  });
  for (tile::LoadOp load : loads) {
    SmallVector<OpOperand *> others;
    bool isMultiplied = false;
    for (OpOperand &use : load->getUses())
      if (endsInProducts(use))
        isMultiplied = true;
      else
        others.push_back(&use);
    if (others.empty() || !isMultiplied)
      continue;
    OpBuilder b(load);
    b.setInsertionPointAfter(load);
    Value again = b.clone(*load)->getResult(0);
    for (OpOperand *use : others)
      use->set(again);
  }
}

} // namespace tilery::block
