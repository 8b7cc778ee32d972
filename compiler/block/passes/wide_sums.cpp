// wide-sums: a product whose result is f16 or bf16 is one of f32 that is rounded once, which is what such products are: the tensor cores'
// sums are f32 here, and what starts from a zero has no other rounding.
#include "compiler/block/passes/passes.h"
#include "compiler/ir/Tile.h"
#include "compiler/ir/zero.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace tilery::block {
namespace {
void widen(Operation *product, OpOperand &acc) {
  auto narrow = dyn_cast<RankedTensorType>(acc.get().getType());
  if (!narrow || (!narrow.getElementType().isF16() && !narrow.getElementType().isBF16()))
    return;
  OpBuilder builder(product);
  Location location = product->getLoc();
  auto wide = RankedTensorType::get(narrow.getShape(), builder.getF32Type());
  if (tile::isPlusZero(acc.get()))
    acc.set(arith::ConstantOp::create(builder, location, builder.getZeroAttr(wide)));
  else
    acc.set(arith::ExtFOp::create(builder, location, wide, acc.get()));
  Value result = product->getResult(0);
  result.setType(wide);
  builder.setInsertionPointAfter(product);
  Value rounded = arith::TruncFOp::create(builder, location, narrow, result);
  result.replaceAllUsesExcept(rounded, rounded.getDefiningOp());
}
} // namespace

void runWideSums(tile::KernelOp kernel) {
  kernel.walk([](Operation *op) {
    if (auto dot = dyn_cast<tile::DotOp>(op))
      widen(op, dot.getAccMutable());
    else if (auto contract = dyn_cast<tile::ContractOp>(op))
      widen(op, contract.getAccMutable());
  });
}

} // namespace tilery::block
