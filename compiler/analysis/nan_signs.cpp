#include "compiler/analysis/nan_signs.h"
#include "compiler/ir/Tile.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace tilery::analysis {
namespace {
constexpr unsigned mostUsers = 64; // that are looked at

bool isArithmetic(Operation *op) {
  return isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp, arith::CmpFOp, arith::MaxNumFOp, arith::MinNumFOp,
             arith::MaximumFOp, arith::MinimumFOp, math::AbsFOp, math::FmaOp, math::SqrtOp, math::RsqrtOp, math::ExpOp,
             math::Exp2Op>(op);
}

/// Of what a reduction combines, an operand of its block or what comes out; those that yield nothing else take NaNs of any sign.
bool combinesByArithmetic(tile::ReduceOp reduce) {
  for (Operation &op : reduce.getCombine().front().without_terminator())
    if (!isArithmetic(&op))
      return false;
  return llvm::all_of(reduce.getCombine().front().getTerminator()->getOperands(),
                      [](Value value) { return !isa<BlockArgument>(value); });
}

bool tells(Value value, unsigned &left) {
  for (Operation *user : value.getUsers()) {
    if (!left--)
      return true;
    if (isArithmetic(user))
      continue;
    if (auto reduce = dyn_cast<tile::ReduceOp>(user)) {
      // a dimension of one element is passed on as it is
      if (!combinesByArithmetic(reduce) || tile::shapeOf(value.getType())[reduce.getAxis()] == 1)
        return true;
      continue;
    }
    bool passes = isa<tile::BroadcastOp, tile::ExpandDimsOp, tile::ReshapeOp, tile::PermuteOp, tile::SplatOp, arith::ExtFOp,
                      arith::TruncFOp, arith::SelectOp>(user);
    if (!passes || tells(user->getResult(0), left))
      return true;
  }
  return false;
}
} // namespace

bool tellsNaNSign(Value value) {
  unsigned left = mostUsers;
  return tells(value, left);
}

} // namespace tilery::analysis
