// start-from-zero: a product's sums that start from a tile (a bias, what is in memory) start from zero, and the tile is added behind the
// last step: it need not be there before, and has no registers meanwhile. What a product clears is nothing that a loop has to carry.
#include "compiler/block/recognise/find_kernel.h"
#include "compiler/block/passes/passes.h"
#include "compiler/analysis/integer_op.h"
#include "compiler/ir/zero.h"
#include "compiler/passes/dead_carried.h"

using namespace mlir;

namespace tilery::block {
namespace {
void startCleared(tile::KernelOp kernel) {
  bool changed = false;
  kernel.walk([&](tile::DotOp dot) {
    if (!dot.getClear() || analysis::constantOf(dot.getClear()).value_or(0) == 0 || tile::isPlusZero(dot.getAcc()))
      return;
    OpBuilder builder(dot);
    dot.getAccMutable().assign(arith::ConstantOp::create(builder, dot.getLoc(), builder.getZeroAttr(dot.getType())));
    changed = true;
  });
  if (changed)
    removeDeadCarried(kernel);
}
} // namespace

void runStartFromZero(tile::KernelOp kernel) {
  startCleared(kernel);
  SmallVector<tile::ContractOp> products;
  kernel.walk([&](tile::ContractOp product) { products.push_back(product); });
  if (products.size() != 1 || tile::isPlusZero(products[0].getAcc()))
    return;
  tile::ContractOp product = products[0];
  Value start = product.getAcc(), sums = product.getResult();
  auto type = cast<RankedTensorType>(start.getType());
  OpBuilder builder(product);
  Location location = product.getLoc();
  product.getAccMutable().assign(arith::ConstantOp::create(builder, location, builder.getZeroAttr(type)));
  builder.setInsertionPointAfter(product);
  Operation *sum = isa<FloatType>(type.getElementType()) ? arith::AddFOp::create(builder, location, start, sums).getOperation()
                                                         : arith::AddIOp::create(builder, location, start, sums);
  sums.replaceAllUsesExcept(sum->getResult(0), sum);
  std::string why;
  if (findKernel(kernel, why))
    return;
  sum->getResult(0).replaceAllUsesWith(sums);
  sum->erase();
  product.getAccMutable().assign(start);
}

} // namespace tilery::block
