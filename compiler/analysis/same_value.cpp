#include "compiler/analysis/same_value.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

bool tilery::analysis::isSameValue(Value a, Value b) {
  if (a == b)
    return true;
  Operation *x = a.getDefiningOp(), *y = b.getDefiningOp();
  return x && y && isPure(x) && isPure(y) && x->getNumRegions() == 0 && x->getNumResults() == 1 &&
         OperationEquivalence::isEquivalentTo(
             x, y, [](Value p, Value q) { return success(isSameValue(p, q)); }, nullptr, OperationEquivalence::IgnoreLocations);
}
