// Ops of TileShape.td: they move lanes.
#include "compiler/oracle/interpreter.h"
#include <cmath>

using namespace mlir;

namespace tilery::oracle {

// result lane i = source lane from(coordinates of i), or 0 where that is negative.
template <typename F> static Tile gather(const Tile &source, ArrayRef<int64_t> shape, F from) {
  Tile result(source.element, shape);
  Shape at(shape.size(), 0);
  for (int64_t i = 0; i < result.size(); ++i) {
    if (int64_t lane = from(at); lane >= 0)
      copyLane(result, i, source, lane);
    for (int d = int(shape.size()) - 1; d >= 0 && ++at[d] == shape[d]; --d)
      at[d] = 0;
  }
  return result;
}

static int64_t linear(ArrayRef<int64_t> shape, ArrayRef<int64_t> at) {
  int64_t lane = 0;
  for (auto [extent, index] : llvm::zip_equal(shape, at))
    lane = lane * extent + index;
  return lane;
}

static void setReshaped(Interpreter &in, Operation *op) {
  Tile result = in.tile(op->getOperand(0));
  result.shape.assign(tile::shapeOf(op->getResult(0).getType()).begin(), tile::shapeOf(op->getResult(0).getType()).end());
  in.set(op->getResult(0), std::move(result));
}

static void broadcast(Interpreter &in, tile::BroadcastOp op) {
  const Tile &value = in.tile(op.getValue());
  in.set(op.getResult(), gather(value, tile::shapeOf(op.getType()), [&](ArrayRef<int64_t> at) {
           Shape from(at);
           for (auto [index, extent] : llvm::zip_equal(from, value.shape))
             index = extent == 1 ? 0 : index;
           return linear(value.shape, from);
         }));
}

static void permute(Interpreter &in, tile::PermuteOp op) {
  const Tile &value = in.tile(op.getValue());
  in.set(op.getResult(), gather(value, tile::shapeOf(op.getType()), [&](ArrayRef<int64_t> at) {
           Shape from(at.size());
           for (auto [index, dim] : llvm::zip_equal(at, op.getOrder()))
             from[dim] = index;
           return linear(value.shape, from);
         }));
}

static void cat(Interpreter &in, tile::CatOp op) {
  const Tile &lhs = in.tile(op.getLhs()), &rhs = in.tile(op.getRhs());
  int64_t axis = op.getAxis(), split = lhs.shape[axis];
  Tile result = gather(lhs, tile::shapeOf(op.getType()),
                       [&](ArrayRef<int64_t> at) { return at[axis] < split ? linear(lhs.shape, at) : -1; });
  Tile tail = gather(rhs, result.shape, [&](ArrayRef<int64_t> at) {
    Shape from(at);
    return (from[axis] -= split) < 0 ? -1 : linear(rhs.shape, from);
  });
  for (int64_t i = 0, inner = sizeOf(ArrayRef(result.shape).drop_front(axis + 1)); i < result.size(); ++i)
    if (i / inner % result.shape[axis] >= split)
      copyLane(result, i, tail, i);
  in.set(op.getResult(), std::move(result));
}

static void join(Interpreter &in, tile::JoinOp op) {
  const Tile &lhs = in.tile(op.getLhs()), &rhs = in.tile(op.getRhs());
  Tile result(lhs.element, tile::shapeOf(op.getType()));
  for (int64_t i = 0; i < result.size(); ++i)
    copyLane(result, i, i % 2 ? rhs : lhs, i / 2);
  in.set(op.getResult(), std::move(result));
}

static void split(Interpreter &in, tile::SplitOp op) {
  const Tile &value = in.tile(op.getValue());
  for (int64_t side : {0, 1}) {
    Tile result(value.element, ArrayRef(value.shape).drop_back());
    for (int64_t i = 0; i < result.size(); ++i)
      copyLane(result, i, value, 2 * i + side);
    in.set(op->getResult(side), std::move(result));
  }
}

static void take(Interpreter &in, tile::TakeOp op) {
  const Tile &value = in.tile(op.getValue()), &indices = in.tile(op.getIndices());
  in.requireDecided(indices);
  int64_t axis = op.getAxis();
  in.set(op.getResult(), gather(value, indices.shape, [&](ArrayRef<int64_t> at) -> int64_t {
           Shape from(at);
           from[axis] = asSigned(indices.element, indices.lanes[linear(indices.shape, at)]);
           return from[axis] < 0 || from[axis] >= value.shape[axis] ? -1 : linear(value.shape, from);
         }));
}

static void extract(Interpreter &in, tile::ExtractOp op) {
  const Tile &value = in.tile(op.getValue());
  Shape at;
  for (Value index : op.getIndices())
    at.push_back(in.decide(index));
  bool inside = llvm::all_of(llvm::zip_equal(at, value.shape),
                             [](auto pair) { return std::get<0>(pair) >= 0 && std::get<0>(pair) < std::get<1>(pair); });
  in.set(op.getResult(), gather(value, {}, [&](ArrayRef<int64_t>) { return inside ? linear(value.shape, at) : -1; }));
}

static void sort(Interpreter &in, tile::SortOp op) {
  const Tile &value = in.tile(op.getValue());
  int64_t axis = op.getAxis(), n = value.shape[axis], inner = sizeOf(ArrayRef(value.shape).drop_front(axis + 1));
  Element e = value.element;
  bool descending = op.getDescending(), isUnsigned = op.getIsUnsigned();
  auto before = [&](int64_t a, int64_t b) {
    uint64_t x = value.lanes[a], y = value.lanes[b];
    if (e.isFloat()) {
      double u = decode(e, x), v = decode(e, y);
      if (std::isnan(u) || std::isnan(v))
        return !std::isnan(u) && std::isnan(v);
      if (u == v)
        return u == 0 && std::signbit(descending ? v : u) && !std::signbit(descending ? u : v);
      return descending ? u > v : u < v;
    }
    if (isUnsigned || e.format == Format::Pointer)
      return descending ? asUnsigned(e, x) > asUnsigned(e, y) : asUnsigned(e, x) < asUnsigned(e, y);
    return descending ? asSigned(e, x) > asSigned(e, y) : asSigned(e, x) < asSigned(e, y);
  };
  if (!value.ranges.empty())
    in.requireDecided(value);
  Tile result(e, tile::shapeOf(op.getType()));
  int64_t kept = result.shape[axis];
  for (int64_t first = 0; first < value.size(); ++first) {
    if (first / inner % n != 0)
      continue;
    std::vector<int64_t> order;
    for (int64_t i = 0; i < n; ++i)
      order.push_back(first + i * inner);
    llvm::sort(order, [&](int64_t a, int64_t b) { return before(a, b) || (!before(b, a) && a < b); });
    for (int64_t i = 0; i < kept; ++i)
      copyLane(result, first / (inner * n) * inner * kept + first % inner + i * inner, value, order[i]);
  }
  in.set(op.getResult(), std::move(result));
}

void addShapeHandlers(Handlers &table) {
  table.add<tile::RangeOp>([](Interpreter &in, tile::RangeOp op) {
    Tile result(elementOf(op.getType()), tile::shapeOf(op.getType()));
    for (int64_t i = 0; i < result.size(); ++i)
      result.lanes[i] = wrap(result.element, op.getStart() + i);
    in.set(op.getResult(), std::move(result));
  });
  table.add<tile::SplatOp>([](Interpreter &in, tile::SplatOp op) {
    const Tile &value = in.tile(op.getValue());
    in.set(op.getResult(), gather(value, tile::shapeOf(op.getType()), [](ArrayRef<int64_t>) { return 0; }));
  });
  table.add<tile::ExpandDimsOp>(setReshaped);
  table.add<tile::ReshapeOp>(setReshaped);
  table.add<tile::BroadcastOp>(broadcast);
  table.add<tile::PermuteOp>(permute);
  table.add<tile::JoinOp>(join);
  table.add<tile::SplitOp>(split);
  table.add<tile::CatOp>(cat);
  table.add<tile::TakeOp>(take);
  table.add<tile::ExtractOp>(extract);
  table.add<tile::SortOp>(sort);
}

} // namespace tilery::oracle
