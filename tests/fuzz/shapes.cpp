// Ops that move lanes or combine them.
#include "generator.h"

using namespace mlir;

namespace tilery::fuzz {

static Type elementOf(Value value) { return getElementTypeOrSelf(value.getType()); }
static Shape shapeOf(Value value) { return Shape(tile::shapeOf(value.getType())); }
static constexpr int64_t maxLanes = 4096;

Shape Generator::anyShape() {
  static const std::vector<int64_t> sizes{1, 2, 3, 4, 5, 7, 8, 13, 16, 17, 24, 32, 33, 48, 64};
  switch (random.below(6)) {
  case 0:
    return {random.of(std::vector<int64_t>{1, 5, 16, 64, 100, 128, 200, 256, 1000})};
  case 1:
    return {random.of(sizes)};
  case 2:
    return {1 + random.below(4), 1 + random.below(9), 1 + random.below(17)};
  default:
    return {random.of(sizes), random.of(sizes)};
  }
}

void Generator::shapeOp() {
  Value x = pick([](Value v) { return isa<RankedTensorType>(v.getType()); });
  if (!x)
    return add(load(anyShape(), anyType()));
  Shape shape = shapeOf(x);
  Type element = elementOf(x);
  int64_t rank = shape.size(), lanes = ShapedType::getNumElements(shape), axis = random.below(rank);
  auto tensor = [&](ArrayRef<int64_t> sizes) { return RankedTensorType::get(sizes, element); };
  switch (random.below(9)) {
  case 0: { // transpose
    SmallVector<int64_t> order(rank), to(rank);
    std::iota(order.begin(), order.end(), 0);
    for (int64_t i = rank - 1; i > 0; --i)
      std::swap(order[i], order[random.below(i + 1)]);
    for (int64_t d = 0; d < rank; ++d)
      to[d] = shape[order[d]];
    return add(tile::PermuteOp::create(b, loc, tensor(to), x, order));
  }
  case 1: { // expand, and perhaps repeat
    if (rank >= 3)
      return;
    int64_t at = random.below(rank + 1), repeat = 1 + random.below(8);
    Shape to(shape);
    to.insert(to.begin() + at, 1);
    Value y = tile::ExpandDimsOp::create(b, loc, tensor(to), x, at);
    to[at] = repeat;
    if (repeat > 1 && lanes * repeat <= maxLanes)
      y = tile::BroadcastOp::create(b, loc, tensor(to), y);
    return add(y);
  }
  case 2: { // flatten, or cut in two
    if (rank == 1 && lanes % 2 == 0)
      return add(tile::ReshapeOp::create(b, loc, tensor({2, lanes / 2}), x));
    return add(tile::ReshapeOp::create(b, loc, tensor({lanes}), x));
  }
  case 3: {
    if (lanes * 2 > maxLanes || rank >= 3)
      return;
    Shape to(shape);
    to.push_back(2);
    return add(tile::JoinOp::create(b, loc, tensor(to), x, pickLike(x.getType())));
  }
  case 4: {
    if (shape.back() != 2)
      return;
    Type half = tile::tileOf(ArrayRef(shape).drop_back(), element);
    auto split = tile::SplitOp::create(b, loc, half, half, x);
    add(split.getLhs());
    return add(split.getRhs());
  }
  case 5: {
    if (lanes * 2 > maxLanes)
      return;
    Shape to(shape);
    to[axis] *= 2;
    return add(tile::CatOp::create(b, loc, tensor(to), x, pickLike(x.getType()), axis));
  }
  case 6: {
    if (isa<FloatType>(element) && !random.chance(0.3))
      return;
    // Indices from data: mostly outside, unless they are brought inside.
    Value indices = tile::RangeOp::create(b, loc, RankedTensorType::get({shape[axis]}, b.getI32Type()), -1, shape[axis] - 1);
    Shape line(rank, 1);
    line[axis] = shape[axis];
    indices = tile::ReshapeOp::create(b, loc, RankedTensorType::get(line, b.getI32Type()), indices);
    indices = tile::BroadcastOp::create(b, loc, RankedTensorType::get(shape, b.getI32Type()), indices);
    return add(tile::TakeOp::create(b, loc, x.getType(), x, indices, axis));
  }
  case 7: {
    SmallVector<Value> at;
    for (int64_t size : shape)
      at.push_back(integer(random.below(size + 1), 32));
    return add(tile::ExtractOp::create(b, loc, element, x, at));
  }
  default:
    if (shape[axis] > 64 && !random.chance(0.3))
      return;
    Shape kept(shape);
    if (random.chance(0.3))
      kept[axis] = 1 + random.below(kept[axis]);
    return add(tile::SortOp::create(b, loc, tensor(kept), x, axis, random.chance(0.5), random.chance(0.3)));
  }
}

// The combine regions that languages make; `next` stands for a single operand.
static void fillCombine(OpBuilder &b, Location loc, Region &region, ArrayRef<Type> elements, int kind) {
  OpBuilder::InsertionGuard guard(b);
  Block *block = b.createBlock(&region);
  for (int side = 0; side < 2; ++side)
    for (Type element : elements)
      block->addArgument(element, loc);
  Value x = block->getArgument(0), y = block->getArgument(elements.size());
  bool isFloat = isa<FloatType>(elements[0]);
  if (elements.size() == 2) { // arg max: the first of equal lanes wins
    Value xi = block->getArgument(1), yi = block->getArgument(3);
    Value greater = isFloat ? Value(arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OGT, y, x))
                            : Value(arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sgt, y, x));
    Value equal = isFloat ? Value(arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, y, x))
                          : Value(arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, y, x));
    Value lower = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, yi, xi);
    Value take = arith::OrIOp::create(b, loc, greater, arith::AndIOp::create(b, loc, equal, lower));
    tile::YieldOp::create(b, loc,
                          ValueRange{arith::SelectOp::create(b, loc, take, y, x), arith::SelectOp::create(b, loc, take, yi, xi)});
    return;
  }
  Value result;
  if (elements[0].isInteger(1))
    result = kind % 2 ? Value(arith::OrIOp::create(b, loc, x, y)) : Value(arith::AndIOp::create(b, loc, x, y));
  else if (isFloat)
    result = kind == 0   ? Value(arith::MaxNumFOp::create(b, loc, x, y))
             : kind == 1 ? Value(arith::MinimumFOp::create(b, loc, x, y))
             : kind == 2 ? Value(arith::MulFOp::create(b, loc, x, y))
                         : Value(arith::AddFOp::create(b, loc, x, y));
  else
    result = kind == 0   ? Value(arith::MaxSIOp::create(b, loc, x, y))
             : kind == 1 ? Value(arith::MinUIOp::create(b, loc, x, y))
             : kind == 2 ? Value(arith::XOrIOp::create(b, loc, x, y))
                         : Value(arith::AddIOp::create(b, loc, x, y));
  tile::YieldOp::create(b, loc, ValueRange{result});
}

void Generator::reduction() {
  Value x = pick([](Value v) { return isa<RankedTensorType>(v.getType()); });
  if (!x)
    return;
  Shape shape = shapeOf(x);
  int64_t axis = random.chance(0.6) ? shape.size() - 1 : random.below(shape.size());
  SmallVector<Value> operands{x};
  if (shape.size() <= 2 && random.chance(0.2)) {
    Value indices = tile::RangeOp::create(b, loc, RankedTensorType::get({shape[axis]}, b.getI32Type()), 0, shape[axis]);
    Shape line(shape.size(), 1);
    line[axis] = shape[axis];
    indices = tile::ReshapeOp::create(b, loc, RankedTensorType::get(line, b.getI32Type()), indices);
    operands.push_back(tile::BroadcastOp::create(b, loc, RankedTensorType::get(shape, b.getI32Type()), indices));
    if (auto type = dyn_cast<FloatType>(elementOf(x))) { // NaNs are in no order: who meets whom would tell which pair is left
      auto none = DenseElementsAttr::get(cast<ShapedType>(x.getType()), llvm::APFloat::getInf(type.getFloatSemantics(), true));
      operands[0] = arith::MaxNumFOp::create(b, loc, x, arith::ConstantOp::create(b, loc, none));
    }
  } else if (random.chance(0.05))
    return add(
        tile::HistogramOp::create(b, loc, RankedTensorType::get({17}, b.getI32Type()), convert(x, b.getI32Type()), Value()));
  SmallVector<Type> elements, results;
  Shape rest(shape);
  rest.erase(rest.begin() + axis);
  for (Value operand : operands) {
    elements.push_back(elementOf(operand));
    results.push_back(tile::tileOf(rest, elements.back()));
  }
  auto op = tile::ReduceOp::create(b, loc, results, operands, axis);
  fillCombine(b, loc, op.getCombine(), elements, int(random.below(5)));
  for (Value result : op.getResults())
    add(result);
}

Value Generator::rowsReduced(Value x) {
  Shape shape = shapeOf(x);
  auto op = tile::ReduceOp::create(b, loc, tile::tileOf(ArrayRef(shape).drop_back(), elementOf(x)), x, shape.size() - 1);
  fillCombine(b, loc, op.getCombine(), {elementOf(x)}, int(random.below(5)));
  return op.getResult(0);
}

void Generator::scan() {
  Value x = pick([](Value v) { return isa<RankedTensorType>(v.getType()); });
  if (!x)
    return;
  auto op = tile::ScanOp::create(b, loc, x.getType(), x, random.below(shapeOf(x).size()), random.chance(0.3));
  fillCombine(b, loc, op.getCombine(), {elementOf(x)}, int(random.below(5)));
  add(op.getResult(0));
}

void Generator::dot() {
  Value a = pick([](Value v) { return shapeOf(v).size() == 2 && !elementOf(v).isInteger(1) && !elementOf(v).isInteger(64); });
  if (!a)
    return;
  Shape shape = shapeOf(a);
  int64_t n = random.of(std::vector<int64_t>{1, 3, 8, 16, 20, 33});
  Type element = elementOf(a),
       acc = isa<FloatType>(element) ? (element.isF64() ? element : Type(b.getF32Type())) : Type(b.getI32Type());
  if (element.isF16() && random.chance(0.2))
    acc = element;
  Value other = load({shape[1], n}, element);
  Value sum = pickLike(RankedTensorType::get({shape[0], n}, acc));
  Value clear = random.chance(0.2) ? condition() : Value();
  bool isInt = !isa<FloatType>(element);
  add(tile::DotOp::create(b, loc, sum.getType(), a, other, sum, clear, tile::Precision::ieee, isInt && random.chance(0.3),
                          isInt && random.chance(0.3), /*live=*/ValueRange()));
}

} // namespace tilery::fuzz
