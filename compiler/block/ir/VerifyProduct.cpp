// Verifiers of the ops in BlockProduct.td.
#include "compiler/block/ir/gpu.h"
#include "compiler/block/ir/uses.h"
#include "compiler/block/forms/fragments.h"
#include "compiler/block/forms/memory.h"

using namespace mlir;
using namespace tilery;
using namespace tilery::block;

namespace {
struct Operand {
  ArrayRef<int64_t> shape;
  Type element;
  LayoutAttr layout;
  bool isShared;
};
} // namespace

static Operand operandOf(Value value) {
  if (auto shared = dyn_cast<SharedType>(value.getType()))
    return {shared.getShape(), shared.getElementType(), shared.getLayout(), true};
  auto tensor = cast<RankedTensorType>(value.getType());
  return {tensor.getShape(), tensor.getElementType(), layoutOf(tensor), false};
}

static LogicalResult checkShapes(Operation *op, const Operand &a, const Operand &b, RankedTensorType result, Type c) {
  if (auto pending = dyn_cast<PendingType>(c))
    c = pending.getTile();
  if (c != result)
    return op->emitOpError() << "adds to " << c << ", but gives " << result;
  ArrayRef<int64_t> sum = result.getShape();
  if (a.shape.size() != 2 || b.shape.size() != 2 || sum.size() != 2)
    return op->emitOpError("multiplies tiles of rank 2");
  if (a.shape[1] != b.shape[0] || a.shape[0] != sum[0] || b.shape[1] != sum[1])
    return op->emitOpError() << "shapes do not match: " << a.shape[0] << "x" << a.shape[1] << " times " << b.shape[0] << "x"
                             << b.shape[1] << " into " << sum[0] << "x" << sum[1];
  for (Type type : {a.element, b.element})
    if (isa<FloatType>(type) != isa<FloatType>(result.getElementType()) || !type.isIntOrFloat())
      return op->emitOpError("mixes floats and integers");
  return success();
}

/// Factors are f16, bf16; fp8, int8 and tf32 with both of them k-major.
static LogicalResult checkForm(MmaStartOp op, const Operand &a, const Operand &b, RankedTensorType result) {
  Type sum = result.getElementType();
  unsigned bytes = tile::elementBytes(a.element);
  bool half =
      a.element == b.element && (a.element.isF16() || a.element.isBF16()) && (sum.isF32() || (a.element.isF16() && sum.isF16()));
  bool fp8 =
      llvm::all_of(ArrayRef<Type>{a.element, b.element}, [](Type type) { return isa<Float8E4M3FNType, Float8E5M2Type>(type); }) &&
      (sum.isF32() || sum.isF16());
  bool int8 = a.element.isInteger(8) && b.element.isInteger(8) && sum.isInteger(32);
  bool tf32 = a.element.isF32() && b.element.isF32() && sum.isF32() && op.getPrecision() == tile::Precision::tf32;
  if (!half && !fp8 && !int8 && !tf32)
    return op.emitOpError() << "has no form for " << a.element << " times " << b.element << " into " << sum
                            << (a.element.isF32() ? " (f32 needs precision tf32)" : "");
  const layout::ProductForm &form = formOf(op);
  if (result.getDimSize(0) % form.rows || result.getDimSize(1) % form.columns || a.shape[1] * bytes % form.depthBytes)
    return op.emitOpError() << "has no form for " << result.getDimSize(0) << "x" << result.getDimSize(1) << "x" << a.shape[1]
                            << ": m is a multiple of " << form.rows << ", n of " << form.columns << ", k of " << form.depthBytes
                            << " bytes";
  if (b.layout && !form.reads(b.layout.getLayout().transposed(), bytes))
    return op.emitOpError() << "cannot read b (k x n) as it lies in shared memory: " << b.layout;
  if (a.isShared && a.layout && !form.reads(a.layout.getLayout(), bytes))
    return op.emitOpError() << "cannot read a (m x k) as it lies in shared memory: " << a.layout;
  std::optional<layout::Rows> factor, sums;
  if (!a.isShared && a.layout && !(factor = form.orderOfFactor(a.layout.getLayout(), 8 * bytes)))
    return op.emitOpError() << "cannot read a from registers that hold it so: " << a.layout;
  LayoutAttr layout = layoutOf(result);
  if (layout && !(sums = form.orderOfSums(layout.getLayout())))
    return op.emitOpError() << "gives a sum that lies in registers otherwise than " << layout;
  if (layout && a.layout && (a.isShared ? layout::Rows::InOrder : *factor) != *sums)
    return op.emitOpError() << "gives a sum whose rows lie in registers otherwise than those of a: " << layout;
  return success();
}

/// Each product goes on to one place: it is waited for, continued, or carried on.
static LogicalResult checkOnce(Value product, Operation *op) {
  PathUses uses = usesOnPaths(product, [](OpOperand &use) { return !isa<MmaSettleOp>(use.getOwner()); });
  if (uses.least == 1 && uses.most == 1)
    return success();
  return op->emitOpError() << (uses.most > 1 ? "gives a product that is used more than once on some path"
                                             : "gives a product that nothing waits for on some path");
}

LogicalResult MmaStartOp::verify() {
  Operand a = operandOf(getA()), b = operandOf(getB());
  RankedTensorType result = getType().getTile();
  if (failed(checkShapes(*this, a, b, result, getC().getType())) || failed(checkForm(*this, a, b, result)))
    return failure();
  for (Value product : flowOf(getResult())) {
    auto argument = dyn_cast<BlockArgument>(product);
    if (failed(checkOnce(product, argument ? argument.getOwner()->getParentOp() : product.getDefiningOp())))
      return failure();
  }
  return success();
}

LogicalResult MmaWaitOp::verify() {
  if (getType() != getProduct().getType().getTile())
    return emitOpError() << "gives " << getProduct().getType().getTile() << ", not " << getType();
  return success();
}

LogicalResult MmaOp::verify() {
  return checkShapes(*this, operandOf(getA()), operandOf(getB()), cast<RankedTensorType>(getType()), getC().getType());
}
