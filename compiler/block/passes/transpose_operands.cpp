// transpose-operands: a factor whose elements are converted behind an exchange of its dimensions is converted before it: so it is the same tile as
// another product's, and goes through shared memory as it lies in registers. Computed second factors of 32 bits become what their exchanged
// tiles are, exchanged: the tensor cores want those along k.
#include "compiler/block/recognise/find_product.h"
#include "compiler/block/ir/gpu.h"
#include "compiler/block/passes/passes.h"
#include "compiler/ir/Tile.h"
#include "mlir/IR/Dominance.h"

using namespace mlir;

namespace tilery::block {
namespace {
void exchangeWide(tile::KernelOp kernel) {
  llvm::DenseMap<Value, Value> exchanged;
  kernel.walk([&](tile::DotOp dot) {
    auto type = dyn_cast<RankedTensorType>(dot.getB().getType());
    if (!type || type.getRank() != 2 || !type.getElementType().isF32() || multipliesByWarps(dot) || loadOf(dot.getB()) ||
        dot.getB().getDefiningOp<tile::PermuteOp>())
      return;
    Value &turned = exchanged[dot.getB()];
    if (!turned) {
      OpBuilder builder(dot);
      builder.setInsertionPointAfterValue(dot.getB());
      auto along = RankedTensorType::get({type.getDimSize(1), type.getDimSize(0)}, type.getElementType());
      Value lines = tile::PermuteOp::create(builder, dot.getLoc(), along, dot.getB(), ArrayRef<int64_t>{1, 0});
      turned = tile::PermuteOp::create(builder, dot.getLoc(), type, lines, ArrayRef<int64_t>{1, 0});
    }
    dot.getBMutable().assign(turned);
  });
}

void convertBefore(tile::KernelOp kernel) {
  SmallVector<arith::TruncFOp> conversions;
  kernel.walk([&](arith::TruncFOp op) {
    bool isFactor = llvm::all_of(op->getUsers(), [&](Operation *user) {
      auto dot = dyn_cast<tile::DotOp>(user);
      return dot && dot.getA() == op.getResult();
    });
    if (isFactor && op.getIn().getDefiningOp<tile::PermuteOp>())
      conversions.push_back(op);
  });
  DominanceInfo dominance(kernel);
  for (arith::TruncFOp op : conversions) {
    auto turn = op.getIn().getDefiningOp<tile::PermuteOp>();
    OpBuilder builder(op);
    Type element = getElementTypeOrSelf(op.getType());
    Value converted;
    for (Operation *user : turn.getValue().getUsers())
      if (auto same = dyn_cast<arith::TruncFOp>(user); same && getElementTypeOrSelf(same.getType()) == element &&
                                                       same.getRoundingmode() == op.getRoundingmode() &&
                                                       dominance.properlyDominates(same.getResult(), op))
        converted = same;
    if (!converted) {
      auto type = RankedTensorType::get(tile::shapeOf(turn.getValue().getType()), element);
      converted =
          arith::TruncFOp::create(builder, op.getLoc(), type, turn.getValue(), op.getRoundingmodeAttr(), op.getFastmathAttr());
    }
    Value turned = tile::PermuteOp::create(builder, op.getLoc(), op.getType(), converted, turn.getOrder());
    op.replaceAllUsesWith(turned);
    op.erase();
    if (turn->use_empty())
      turn.erase();
  }
}
} // namespace

void runTransposeOperands(tile::KernelOp kernel) {
  convertBefore(kernel);
  exchangeWide(kernel);
}

} // namespace tilery::block
