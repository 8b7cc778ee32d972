#include "compiler/ir/zero.h"
#include "compiler/ir/Tile.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

bool tilery::tile::isZero(Value value) {
  if (auto splat = value.getDefiningOp<SplatOp>())
    value = splat.getValue();
  return matchPattern(value, m_AnyZeroFloat()) || matchPattern(value, m_Zero());
}
