#include "compiler/ir/zero.h"
#include "compiler/ir/Tile.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilery;

/// What every lane is, if shapes alone are made of it.
static Value scalarOf(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<tile::SplatOp, tile::BroadcastOp, tile::ExpandDimsOp, tile::ReshapeOp, tile::PermuteOp>(op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

bool tile::isZero(Value value) {
  value = scalarOf(value);
  return matchPattern(value, m_AnyZeroFloat()) || matchPattern(value, m_Zero());
}
bool tile::isPlusZero(Value value) {
  value = scalarOf(value);
  return matchPattern(value, m_PosZeroFloat()) || matchPattern(value, m_Zero());
}
