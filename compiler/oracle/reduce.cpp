// Ops of TileReduce.td, in the order that their description states.
#include "compiler/oracle/float_ops.h"

using namespace mlir;

namespace tilery::oracle {
namespace {

using Slice = SmallVector<Tile, 2>; ///< one tile an operand

// Tiles cut across `axis`: slice i holds the lanes with index i there, as tiles of the remaining shape.
class Axis {
public:
  Axis(ArrayRef<int64_t> shape, int64_t axis) : count(shape[axis]), inner(sizeOf(shape.drop_front(axis + 1))), rest(shape) {
    rest.erase(rest.begin() + axis);
  }
  int64_t lane(int64_t slice, int64_t i) const { return (i / inner * count + slice) * inner + i % inner; }
  Tile cut(const Tile &tile, int64_t slice) const {
    Tile result(tile.element, rest);
    for (int64_t i = 0; i < result.size(); ++i)
      copyLane(result, i, tile, lane(slice, i));
    return result;
  }
  void paste(Tile &to, int64_t slice, const Tile &from) const {
    for (int64_t i = 0; i < from.size(); ++i)
      copyLane(to, lane(slice, i), from, i);
  }
  int64_t count, inner;
  Shape rest;
};

// The region applied to every lane of two slices.
class Combine {
public:
  Combine(Interpreter &in, Block &block) : in(in), block(block), lanewise(isLanewise(block)) {}
  Slice operator()(const Slice &left, const Slice &right) {
    if (lanewise || left[0].size() == 1)
      return apply(left, right);
    Slice result = left;
    for (Tile &tile : result) {
      tile.ranges.clear();
      tile.undefined.clear();
    }
    for (int64_t i = 0; i < left[0].size(); ++i) {
      Slice one = apply(lane(left, i), lane(right, i));
      for (auto [to, from] : llvm::zip_equal(result, one))
        copyLane(to, i, from, 0);
    }
    return result;
  }

private:
  static Slice lane(const Slice &slice, int64_t i) {
    Slice result;
    for (const Tile &tile : slice)
      copyLane(result.emplace_back(tile.element, ArrayRef<int64_t>()), 0, tile, i);
    return result;
  }
  Slice apply(const Slice &left, const Slice &right) {
    size_t n = left.size();
    for (size_t i = 0; i < n; ++i) {
      in.set(block.getArgument(i), left[i]);
      in.set(block.getArgument(n + i), right[i]);
    }
    Operation *yield = in.runBlock(block);
    Slice result;
    for (size_t i = 0; i < n; ++i) {
      const Tile &value = in.tile(yield->getOperand(i));
      Tile &to = result.emplace_back(value.element, left[i].shape); // a region that ignores its arguments yields one lane
      for (int64_t lane = 0; lane < to.size(); ++lane)
        copyLane(to, lane, value, laneOf(value, lane));
    }
    return result;
  }
  Interpreter &in;
  Block &block;
  bool lanewise;
};

bool roundsFloats(Block &block) {
  bool found = false;
  block.walk([&](Operation *op) {
    if (isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp, math::FmaOp>(op) ||
        (op->getDialect() && isa<math::MathDialect>(op->getDialect())))
      found = true;
  });
  return found;
}

// A code generator may keep the partials apart in another way: float results get the interval that allows it. Of the first `count` slices.
void allowOrder(const Axis &axis, Block &block, ArrayRef<const Tile *> inputs, Slice &result, bool reverse, int64_t count) {
  auto ops = block.without_terminator();
  if (inputs.size() != 1 || !llvm::hasSingleElement(ops) || !isa<arith::AddFOp, arith::MulFOp>(*ops.begin()))
    return;
  auto rangeOf = isa<arith::AddFOp>(*ops.begin()) ? sumRange : productRange;
  const Tile &x = *inputs[0];
  for (int64_t i = 0; i < result[0].size(); ++i) {
    SmallVector<Interval> values;
    for (int64_t k = 0; k < count; ++k)
      values.push_back(x.range(axis.lane(reverse ? axis.count - 1 - k : k, i)));
    result[0].setRange(i, rangeOf(x.element, values));
  }
}

void reduce(Interpreter &in, tile::ReduceOp op) {
  SmallVector<const Tile *> inputs;
  for (Value operand : op.getOperands())
    inputs.push_back(&in.tile(operand));
  Axis axis(inputs[0]->shape, op.getAxis());
  Block &block = op.getCombine().front();
  Combine combine(in, block);
  auto slice = [&](int64_t index) {
    Slice result;
    for (const Tile *input : inputs)
      result.push_back(axis.cut(*input, index));
    return result;
  };
  bool isLast = size_t(op.getAxis()) + 1 == inputs[0]->shape.size();
  bool orderIsFree = in.run.options.shadow && roundsFloats(block);
  bool forced = std::exchange(in.run.forceRounding, in.run.forceRounding || orderIsFree);
  std::vector<Slice> partials;
  for (int64_t i = 0; i < axis.count; ++i) {
    if (int64_t(partials.size()) < (isLast ? 64 : 1))
      partials.push_back(slice(i));
    else
      partials[i % partials.size()] = combine(partials[i % partials.size()], slice(i));
  }
  for (size_t s = 32; s > 0; s /= 2)
    for (size_t j = 0; j < s && j + s < partials.size(); ++j)
      partials[j] = combine(partials[j], partials[j + s]);
  in.run.forceRounding = forced;
  if (orderIsFree)
    allowOrder(axis, block, inputs, partials[0], false, axis.count);
  for (auto [result, tile] : llvm::zip_equal(op.getResults(), partials[0]))
    in.set(result, std::move(tile));
}

void scan(Interpreter &in, tile::ScanOp op) {
  SmallVector<const Tile *> inputs;
  Slice results, carried;
  for (Value operand : op.getOperands()) {
    inputs.push_back(&in.tile(operand));
    results.emplace_back(inputs.back()->element, inputs.back()->shape);
  }
  Axis axis(inputs[0]->shape, op.getAxis());
  Block &block = op.getCombine().front();
  Combine combine(in, block);
  bool orderIsFree = in.run.options.shadow && roundsFloats(block);
  bool forced = std::exchange(in.run.forceRounding, in.run.forceRounding || orderIsFree);
  for (int64_t step = 0; step < axis.count; ++step) {
    int64_t index = op.getReverse() ? axis.count - 1 - step : step;
    Slice current;
    for (const Tile *input : inputs)
      current.push_back(axis.cut(*input, index));
    carried = step == 0 ? std::move(current) : combine(carried, current);
    Slice allowed = carried;
    if (orderIsFree)
      allowOrder(axis, block, inputs, allowed, op.getReverse(), step + 1);
    for (auto [result, tile] : llvm::zip_equal(results, allowed))
      axis.paste(result, index, tile);
  }
  in.run.forceRounding = forced;
  for (auto [result, tile] : llvm::zip_equal(op.getResults(), results))
    in.set(result, std::move(tile));
}

void histogram(Interpreter &in, tile::HistogramOp op) {
  const Tile &value = in.tile(op.getValue());
  Tile result(elementOf(op.getType()), tile::shapeOf(op.getType()));
  in.requireDecided(value);
  if (op.getMask())
    in.requireDecided(in.tile(op.getMask()));
  for (int64_t i = 0; i < value.size(); ++i) {
    int64_t bin = asSigned(value.element, value.lanes[i]);
    if (bin >= 0 && bin < result.size() && (!op.getMask() || in.tile(op.getMask()).lanes[i]))
      result.lanes[bin] = wrap(result.element, result.lanes[bin] + 1);
  }
  in.set(op.getResult(), std::move(result));
}

} // namespace

void addReduceHandlers(Handlers &table) {
  table.add<tile::ReduceOp>(reduce);
  table.add<tile::ScanOp>(scan);
  table.add<tile::HistogramOp>(histogram);
}

} // namespace tilery::oracle
