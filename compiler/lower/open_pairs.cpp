#include "compiler/lower/open_pairs.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace tilery::lower {
namespace {

bool isOfPairs(tile::ReduceOp reduce) {
  ArrayRef<int64_t> shape = tile::shapeOf(reduce.getOperands()[0].getType());
  return shape.size() > 1 && shape[reduce.getAxis()] == 2;
}

/// All that takes the results spreads them over their pairs again.
bool isSpread(tile::ReduceOp reduce) {
  auto spreads = [](Operation *user) {
    auto isBroadcast = [](Operation *next) { return isa<tile::BroadcastOp>(next); };
    return isa<tile::ExpandDimsOp>(user) && !user->use_empty() && llvm::all_of(user->getUsers(), isBroadcast);
  };
  return llvm::all_of(reduce->getUsers(), spreads);
}

/// Elements 0 and 1 along `axis`.
std::pair<Value, Value> halves(OpBuilder &b, Location loc, Value tile, uint64_t axis) {
  auto type = cast<RankedTensorType>(tile.getType());
  SmallVector<int64_t> order, shape;
  for (int64_t d = 0; d < type.getRank(); ++d)
    if (uint64_t(d) != axis) {
      order.push_back(d);
      shape.push_back(type.getDimSize(d));
    }
  Type half = RankedTensorType::get(shape, type.getElementType());
  if (axis + 1 != uint64_t(type.getRank())) {
    order.push_back(axis);
    shape.push_back(2);
    tile = tile::PermuteOp::create(b, loc, RankedTensorType::get(shape, type.getElementType()), tile, order);
  }
  auto split = tile::SplitOp::create(b, loc, half, half, tile);
  return {split.getLhs(), split.getRhs()};
}

void open(tile::ReduceOp reduce) {
  OpBuilder b(reduce);
  Location loc = reduce.getLoc();
  Block &block = reduce.getCombine().front();
  unsigned count = reduce.getNumOperands();
  ArrayRef<int64_t> shape = tile::shapeOf(reduce.getResult(0).getType());
  IRMapping mapping;
  for (auto [i, operand] : llvm::enumerate(reduce.getOperands())) {
    auto [left, right] = halves(b, loc, operand, reduce.getAxis());
    mapping.map(block.getArgument(i), left);
    mapping.map(block.getArgument(count + i), right);
  }
  auto tileOf = [&](Value value) -> Value {
    if (Value known = mapping.lookupOrNull(value))
      return known;
    Value splat = tile::SplatOp::create(b, loc, RankedTensorType::get(shape, value.getType()), value);
    mapping.map(value, splat);
    return splat;
  };
  for (Operation &op : block.without_terminator()) {
    if (op.hasTrait<OpTrait::ConstantLike>()) { // becomes a splat where it is used
      mapping.map(op.getResult(0), tile::SplatOp::create(b, loc, RankedTensorType::get(shape, op.getResult(0).getType()),
                                                         b.clone(op)->getResult(0)));
      continue;
    }
    for (Value operand : op.getOperands())
      tileOf(operand);
    Operation *copy = b.clone(op, mapping);
    for (auto [result, own] : llvm::zip(copy->getResults(), op.getResults())) {
      result.setType(RankedTensorType::get(shape, result.getType()));
      mapping.map(own, result);
    }
  }
  for (auto [result, yielded] : llvm::zip(reduce.getResults(), block.getTerminator()->getOperands()))
    result.replaceAllUsesWith(tileOf(yielded));
  reduce.erase();
}

} // namespace

void openPairs(tile::KernelOp kernel, Pairs which) {
  SmallVector<tile::ReduceOp> pairs;
  kernel.walk([&](tile::ReduceOp reduce) {
    if (isOfPairs(reduce) && (which == Pairs::all || isSpread(reduce)))
      pairs.push_back(reduce);
  });
  for (tile::ReduceOp reduce : pairs)
    open(reduce);
}

} // namespace tilery::lower
