#include "compiler/analysis/same_value.h"
#include "compiler/analysis/remembered.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

using namespace tilery::analysis;

static bool areComputedAlike(Operation *x, Operation *y) {
  return x && y && isPure(x) && isPure(y) && x->getNumRegions() == 0 && x->getNumResults() == 1 &&
         OperationEquivalence::isEquivalentTo(
             x, y, [](Value p, Value q) { return success(isSameValue(p, q)); }, nullptr, OperationEquivalence::IgnoreLocations);
}

bool tilery::analysis::isSameValue(Value a, Value b) {
  static thread_local Remembered<bool, const void *> remembered;
  return a == b ||
         remembered.of(a, b.getAsOpaquePointer(), [&] { return areComputedAlike(a.getDefiningOp(), b.getDefiningOp()); });
}
