#include "compiler/block/passes/near_exponentials.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tilery::block {
namespace {

bool isNumber(Value value) {
  auto splat = value.getDefiningOp<tile::SplatOp>();
  return splat || matchPattern(value, m_Constant());
}

/// The rows, times a number perhaps, that the tile is a difference from; null: it is none.
Value rowsBelow(Value tile) {
  auto difference = tile.getDefiningOp<arith::SubFOp>();
  Value rows = difference ? difference.getRhs() : Value();
  while (rows) {
    Operation *op = rows.getDefiningOp();
    if (isa_and_nonnull<tile::BroadcastOp, tile::ExpandDimsOp>(op))
      rows = op->getOperand(0);
    else if (isa_and_nonnull<arith::MulFOp>(op) && isNumber(op->getOperand(0)) != isNumber(op->getOperand(1)))
      rows = op->getOperand(isNumber(op->getOperand(0)));
    else
      break;
  }
  return rows && cast<RankedTensorType>(rows.getType()).getRank() == 1 ? rows : Value();
}

bool isExponential(Operation *op) { return isa_and_nonnull<math::ExpOp, math::Exp2Op>(op); }

/// A product takes it in 16 bits.
bool isRounded(Operation *op) {
  return llvm::any_of(op->getUsers(), [](Operation *user) {
    auto rounded = dyn_cast<arith::TruncFOp>(user);
    return rounded && getElementTypeOrSelf(rounded.getType()).getIntOrFloatBitWidth() == 16;
  });
}

bool isOfF32(Operation *op, int64_t rank) {
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  return type && type.getElementType().isF32() && type.getRank() == rank;
}

/// exp(x) is exp2(x log2(e)).
math::Exp2Op asPowerOfTwo(math::ExpOp op) {
  OpBuilder b(op);
  auto type = cast<RankedTensorType>(op.getType());
  Value scale = arith::ConstantOp::create(b, op.getLoc(), DenseElementsAttr::get(type, 1.44269504f));
  Value exponent = arith::MulFOp::create(b, op.getLoc(), op.getOperand(), scale);
  auto power = math::Exp2Op::create(b, op.getLoc(), exponent);
  op.replaceAllUsesWith(power.getResult());
  op.erase();
  return power;
}
} // namespace

bool isOfSoftmax(Operation *op) {
  auto isWeight = [](Operation *each) { return isOfF32(each, 2) && isRounded(each) && rowsBelow(each->getOperand(0)); };
  if (isWeight(op))
    return true;
  Value rows = isOfF32(op, 1) ? rowsBelow(op->getOperand(0)) : Value();
  return rows && llvm::any_of(*op->getBlock(), [&](Operation &each) {
           return isExponential(&each) && isWeight(&each) && rowsBelow(each.getOperand(0)) == rows;
         });
}

// Of powers of two: weights of 2^-22 beside factors of 2^-11 or 2^-8. With x the product is off by |x| 2^-24, too, so that a weight, at most
// 1 where a row's is 1, is off by no more than e^-x x 2^-24 < 2^-25 of that; what scales sums, by 2^-24 of how far the maximum has moved.
void computeNearly(tile::KernelOp kernel, ArrayRef<scf::ForOp> loops) {
  SmallVector<Operation *> near;
  kernel.walk([&](Operation *op) {
    bool inLoop = isa<math::Exp2Op>(op) && llvm::any_of(loops, [&](scf::ForOp loop) { return loop->isAncestor(op); });
    if (inLoop || (isExponential(op) && isOfSoftmax(op)))
      near.push_back(op);
  });
  for (Operation *op : near) {
    auto natural = dyn_cast<math::ExpOp>(op);
    auto power = natural ? asPowerOfTwo(natural) : cast<math::Exp2Op>(op);
    power.setFastmath(power.getFastmath() | arith::FastMathFlags::afn);
  }
}

} // namespace tilery::block
