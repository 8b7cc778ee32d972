// split-reductions: lanes that lie flat in front of a reduction are reduced along the dimensions that they had before:
//
//   reduce (reshape x : 64x32 -> 2048) axis 0    becomes    reduce (reduce x axis 1) axis 0
//
// Rows are combined where they lie, in registers; a tile of one long line has no such layout.
#include "compiler/block/passes/passes.h"
#include "compiler/ir/Tile.h"
#include "compiler/ir/commutes.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace tilery::block {
namespace {

/// The dimensions of `from` that are dimension `axis` of `to`, first and behind the last; equal: it is no group of several.
std::pair<size_t, size_t> groupOf(ArrayRef<int64_t> from, ArrayRef<int64_t> to, size_t axis) {
  size_t behind = to.size() - axis - 1;
  if (from.size() <= to.size() || from.take_front(axis) != to.take_front(axis) || from.take_back(behind) != to.take_back(behind))
    return {axis, axis};
  return {axis, from.size() - behind};
}

void split(tile::ReduceOp reduce) {
  size_t axis = reduce.getAxis();
  auto reshape = reduce.getNumOperands() == 1 ? reduce->getOperand(0).getDefiningOp<tile::ReshapeOp>() : tile::ReshapeOp();
  if (!reshape || !tile::commutes(reduce))
    return;
  Value tile = reshape.getValue();
  Type element = getElementTypeOrSelf(tile.getType());
  auto [first, end] = groupOf(tile::shapeOf(tile.getType()), tile::shapeOf(reshape.getType()), axis);
  OpBuilder builder(reduce);
  for (size_t d = end; d-- > first;) {
    SmallVector<int64_t> shape(tile::shapeOf(tile.getType()));
    shape.erase(shape.begin() + d);
    Type result = shape.empty() ? element : RankedTensorType::get(shape, element);
    auto part = tile::ReduceOp::create(builder, reduce.getLoc(), TypeRange(result), ValueRange(tile), d);
    IRMapping copies;
    reduce.getCombine().cloneInto(&part.getCombine(), copies);
    tile = part.getResult(0);
  }
  if (first == end)
    return;
  reduce.getResult(0).replaceAllUsesWith(tile);
  reduce.erase();
  if (reshape->use_empty())
    reshape.erase();
}
} // namespace

void runSplitReductions(tile::KernelOp kernel) {
  SmallVector<tile::ReduceOp> reductions;
  kernel.walk([&](tile::ReduceOp op) { reductions.push_back(op); });
  llvm::for_each(reductions, split);
}

} // namespace tilery::block
