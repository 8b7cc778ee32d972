// Products of a warp's threads, as products of tiles.
#include "compiler/ir/warp.h"
#include "compiler/passes/thread_conversion.h"

using namespace mlir;
using namespace tilery;
using namespace tilery::tile;

// Parts are powers of two: joined in pairs, they become dimensions of 2, which a permutation puts where rows and columns have them.
bool ThreadConversion::convertWarpDot(WarpDotOp op) {
  Location loc = op.getLoc();
  int64_t warps = ShapedType::getNumElements(box) / warpLanes, w = op.getPerWord(), depth = op.getDepth();
  if (ShapedType::getNumElements(box) % warpLanes || box.size() != threadDims)
    return refuse(op, "a product of a warp stands where single threads have been taken apart: move it out of the loop");
  // [warps, 8, 4, parts...]: the bits of a part's number, the lowest one last.
  auto joined = [&](auto &&self, SmallVector<Value> parts) -> Value {
    if (parts.size() == 1)
      return parts[0];
    SmallVector<Value> pairs;
    for (size_t half = parts.size() / 2, i = 0; i < half; ++i) {
      auto type = cast<RankedTensorType>(parts[i].getType());
      SmallVector<int64_t> shape(type.getShape());
      shape.push_back(2);
      pairs.push_back(
          JoinOp::create(builder, loc, RankedTensorType::get(shape, type.getElementType()), parts[i], parts[i + half]));
    }
    return self(self, pairs);
  };
  auto gathered = [&](ValueRange values) {
    SmallVector<Value> parts;
    for (Value value : values)
      parts.push_back(ReshapeOp::create(builder, loc, RankedTensorType::get({warps, 8, 4}, value.getType()),
                                        grouped(lookup(value), warpLanes)));
    return joined(joined, parts);
  };
  auto arranged = [&](Value tile, ArrayRef<int64_t> order, ArrayRef<int64_t> shape) -> Value {
    auto type = cast<RankedTensorType>(tile.getType());
    SmallVector<int64_t> permuted;
    for (int64_t d : order)
      permuted.push_back(type.getDimSize(d));
    tile = PermuteOp::create(builder, loc, RankedTensorType::get(permuted, type.getElementType()), tile, order);
    return ReshapeOp::create(builder, loc, RankedTensorType::get(shape, type.getElementType()), tile);
  };
  // Joining a half with the other takes the highest bit first, so the dimensions behind the lanes are the bits from the highest on.
  auto merged = [&](Value tile, ArrayRef<int64_t> parts) -> Value {
    SmallVector<int64_t> shape{warps, 8, 4};
    llvm::append_range(shape, parts);
    return ReshapeOp::create(builder, loc, RankedTensorType::get(shape, getElementTypeOrSelf(tile)), tile);
  };
  int64_t chunks = depth / (4 * w);
  Value a = arranged(merged(gathered(op.getA()), {chunks, 2, w}), {0, 4, 1, 3, 2, 5}, {warps, 16, depth});
  Value b = arranged(merged(gathered(op.getB()), {chunks, w}), {0, 3, 2, 4, 1}, {warps, depth, 8});
  Value c = arranged(merged(gathered(op.getC()), {2, 2}), {0, 3, 1, 2, 4}, {warps, 16, 8});
  Value sums = DotOp::create(builder, loc, c.getType(), a, b, c, Value(), Precision::tf32, op.getAUnsigned(), op.getBUnsigned(),
                             ValueRange());
  Type sum = op.getC()[0].getType();
  sums = ReshapeOp::create(builder, loc, RankedTensorType::get({warps, 2, 8, 4, 2}, sum), sums);
  Type half = RankedTensorType::get({warps, 8, 4, 2}, sum), quarter = RankedTensorType::get({warps, 8, 4}, sum);
  sums = PermuteOp::create(builder, loc, RankedTensorType::get({warps, 8, 4, 2, 2}, sum), sums, ArrayRef<int64_t>{0, 2, 3, 1, 4});
  auto columns = SplitOp::create(builder, loc, half, half, sums); // of the second column are those with i % 2
  for (auto [j, column] : llvm::enumerate(columns.getResults())) {
    auto rows = SplitOp::create(builder, loc, quarter, quarter, column);
    for (auto [i, row] : llvm::enumerate(rows.getResults()))
      map.map(op.getResult()[2 * i + j], ungrouped(row, loc));
  }
  return true;
}
