#include "compiler/ir/zero.h"
#include "compiler/ir/Tile.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilery;

static Value scalarOf(Value value) {
  auto splat = value.getDefiningOp<tile::SplatOp>();
  return splat ? splat.getValue() : value;
}

bool tile::isZero(Value value) {
  value = scalarOf(value);
  return matchPattern(value, m_AnyZeroFloat()) || matchPattern(value, m_Zero());
}
bool tile::isPlusZero(Value value) {
  value = scalarOf(value);
  return matchPattern(value, m_PosZeroFloat()) || matchPattern(value, m_Zero());
}
