#include "compiler/cpu/check_types.h"
#include "compiler/ir/dtype_of.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace tilery::cpu {
namespace {

bool computes(Operation *op) {
  if (isa<arith::ConstantOp, arith::SelectOp, arith::BitcastOp>(op))
    return false;
  if (isa<tile::YieldOp>(op))
    return isa<tile::ContractOp>(op->getParentOp()); // the operands of its product
  return isa<arith::ArithDialect, math::MathDialect>(op->getDialect()) ||
         isa<tile::DotOp, tile::FpToIntOp, tile::SortOp, tile::AtomicRmwOp>(op);
}

/// The first 8-bit float among the element types.
std::optional<DType> float8Among(TypeRange types) {
  for (Type type : types)
    if (std::optional<DType> dtype = dtypeOf(getElementTypeOrSelf(type)); dtype && isFloat8(*dtype))
      return dtype;
  return std::nullopt;
}

} // namespace

LogicalResult checkTypes(ModuleOp module, StringRef target) {
  WalkResult result = module.walk([&](Operation *op) -> WalkResult {
    if (!computes(op))
      return WalkResult::advance();
    std::optional<DType> dtype = float8Among(op->getOperandTypes());
    if (!dtype)
      dtype = float8Among(op->getResultTypes());
    if (!dtype)
      return WalkResult::advance();
    return op->emitError() << target << " cannot compute with " << dtypeName(*dtype) << " yet";
  });
  return failure(result.wasInterrupted());
}

} // namespace tilery::cpu
