#include "compiler/block/passes/exchange_access.h"

using namespace mlir;

namespace tilery::block {

tile::AccessOp exchanged(OpBuilder &builder, tile::AccessOp access) {
  Location location = access.getLoc();
  SmallVector<Value> steps(llvm::reverse(access.getSteps())), bounds;
  SmallVector<int32_t> kinds(llvm::reverse(access.getBoundKinds()));
  for (unsigned d : {1, 0})
    llvm::append_range(bounds, access.getBound(d));
  ArrayRef<int64_t> shape = access.getType().getShape();
  Value residual = access.getResidual();
  if (residual && isa<RankedTensorType>(residual.getType())) {
    auto mask = RankedTensorType::get({shape[1], shape[0]}, builder.getI1Type());
    residual = tile::PermuteOp::create(builder, location, mask, residual, ArrayRef<int64_t>{1, 0});
  }
  auto type = tile::AccessType::get(builder.getContext(), {shape[1], shape[0]}, access.getType().getElementType());
  return tile::AccessOp::create(builder, location, type, access.getBase(), access.getOffset(), steps, bounds, residual, kinds);
}

} // namespace tilery::block
