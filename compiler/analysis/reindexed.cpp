#include "compiler/analysis/reindexed.h"

using namespace mlir;

namespace tilery::analysis {

int operandDim(Operation *op, int dim) {
  ArrayRef<int64_t> from = tile::shapeOf(op->getOperand(0).getType()), to = tile::shapeOf(op->getResult(0).getType());
  if (dim < 0)
    return dim;
  if (auto permute = dyn_cast<tile::PermuteOp>(op))
    return int(permute.getOrder()[dim]);
  if (auto expand = dyn_cast<tile::ExpandDimsOp>(op))
    return dim == int(expand.getAxis()) ? -1 : dim - (dim > int(expand.getAxis()));
  if (isa<tile::BroadcastOp>(op))
    return from[dim] == 1 ? -1 : dim;
  if (to[dim] == 1)
    return -1;
  auto ones = [](ArrayRef<int64_t> shape) { return llvm::make_filter_range(shape, [](int64_t size) { return size != 1; }); };
  if (!llvm::equal(ones(from), ones(to)))
    return -2;
  int64_t number = llvm::count_if(to.take_front(dim), [](int64_t size) { return size != 1; });
  for (auto [d, size] : llvm::enumerate(from))
    if (size != 1 && number-- == 0)
      return int(d);
  return -2;
}

} // namespace tilery::analysis
