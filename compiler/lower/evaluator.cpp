// Tile values at a point.
#include "compiler/lower/evaluator.h"
#include "compiler/lower/group_lanes.h"
#include "compiler/explain/findings.h"
#include "compiler/ir/zero.h"
#include "compiler/lower/explain_plan.h"
#include "compiler/lower/square_reads.h"
#include "compiler/lower/steady.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

namespace tilery::lower {
using Kind = analysis::IntegerOp::Kind;

llvm::Value *Evaluator::anything(Type type) { return e.b.CreateFreeze(llvm::PoisonValue::get(e.valueType(type))); }

llvm::Value *Evaluator::scalar(Value value) {
  auto found = scalars.find(value);
  if (found != scalars.end())
    return found->second;
  if (auto constant = value.getDefiningOp<arith::ConstantOp>())
    return e.constant(constant.getValue(), value.getType());
  if (value.getDefiningOp<ub::PoisonOp>())
    return anything(value.getType());
  llvm_unreachable("a scalar is used before it was emitted");
}

llvm::Value *Evaluator::wide(Value value) {
  auto &b = e.b;
  analysis::IntegerOp op = analysis::integerOpOf(value);
  switch (op.kind) {
  case Kind::add:
    return b.CreateAdd(wide(op.lhs), wide(op.rhs));
  case Kind::subtract:
    return b.CreateSub(wide(op.lhs), wide(op.rhs));
  case Kind::multiply:
    return b.CreateMul(wide(op.lhs), wide(op.rhs));
  case Kind::extend:
    return wide(op.lhs);
  default:
    return b.CreateSExtOrTrunc(scalar(value), b.getInt64Ty());
  }
}

Lanes Evaluator::value(Value tile, ArrayRef<Index> point) {
  if (!isa<RankedTensorType>(tile.getType()))
    return scalar(tile);
  auto found = plan.storage.find(tile);
  if (found == plan.storage.end())
    return define(tile, point);
  Key key = keyOf(tile, point);
  LoopLevels::Memo &memo = levels.memoAt(point);
  if (auto known = memo.find(key); known != memo.end())
    return known->second;
  if (Lanes now = state.unwritten.lookup(tile))
    return now;
  if (auto known = segment.linear(tile, point); known && !known->lanes)
    return indices.counting(e.b.CreateSExtOrTrunc(known->base, e.valueType(elementOf(tile))), known->step);
  AtLevel at(levels, levelOf(point));
  if (Lanes square = storedFromSquare(*this, found->second, tile, point))
    return square;
  return memo[key] = readStored(found->second, tile::shapeOf(tile.getType()), point);
}

Lanes Evaluator::define(Value tile, ArrayRef<Index> point) {
  Key key = keyOf(tile, point);
  LoopLevels::Memo &memo = levels.memoAt(point);
  if (auto known = memo.find(key); known != memo.end())
    return known->second;
  AtLevel at(levels, levelOf(point));
  e.at(tile.getLoc());
  Lanes result = expression(tile, point);
  if (!result) {
    failed = true;
    result = llvm::Constant::getNullValue(e.valueType(elementOf(tile)));
  }
  return memo[key] = result;
}

Lanes Evaluator::readStored(int buffer, ArrayRef<int64_t> shape, ArrayRef<Index> point) {
  if (llvm::AllocaInst *variable = threads ? threads->variableOf(buffer, shape, point) : nullptr)
    return e.b.CreateLoad(variable->getAllocatedType(), variable);
  if (Lanes lanes = threads ? threads->readAcross(buffer, shape, point, state.lanes) : nullptr)
    return lanes;
  return memory.load(addresses.ofStored(buffer, shape, point));
}

void Evaluator::writeStored(int buffer, ArrayRef<int64_t> shape, ArrayRef<Index> point, Lanes value) {
  if (llvm::AllocaInst *variable = threads ? threads->variableOf(buffer, shape, point) : nullptr)
    e.b.CreateStore(e.splat(value, state.lanes), variable);
  else
    memory.store(addresses.ofStored(buffer, shape, point), value);
}

Lanes Evaluator::expression(Value tile, ArrayRef<Index> point) {
  return llvm::TypeSwitch<Operation *, Lanes>(tile.getDefiningOp())
      .Case([&](arith::ConstantOp op) { return constantTile(cast<DenseElementsAttr>(op.getValue()), point); })
      .Case([&](ub::PoisonOp) { return anything(elementOf(tile)); })
      .Case([&](tile::RangeOp op) { return rangeLanes(op, point[0]); })
      .Case([&](tile::SplatOp op) { return scalar(op.getValue()); })
      .Case<tile::ExpandDimsOp, tile::BroadcastOp, tile::PermuteOp, tile::ReshapeOp>(
          [&](Operation *op) { return value(op->getOperand(0), indices.operandPoint(op, point)); })
      .Case([&](tile::JoinOp op) { return joined(op, point); })
      .Case([&](tile::SplitOp op) {
        Point inner(point);
        inner.push_back(indices.constant(tile == op.getRhs()));
        return value(op.getValue(), inner);
      })
      .Case([&](tile::CatOp op) { return concatenated(op, point); })
      .Case([&](tile::TakeOp op) { return taken(op, point); })
      .Case([&](tile::LoadOp op) { return loaded(op, point); })
      .Case([&](tile::BufferLoadOp op) { return memory.load(addresses.ofBuffer(op.getBuffer(), point)); })
      .Default([&](Operation *op) { return elementwise(op, tile, point); });
}

Lanes Evaluator::loaded(tile::LoadOp op, ArrayRef<Index> point) {
  if (Lanes copied = threads ? threads->copied(op, point, state.lanes) : nullptr)
    return copied;
  if (Lanes square = loadedFromSquare(*this, op, point))
    return square;
  bool zeros = !threads && !op.getIsVolatile() && (!op.getOther() || tile::isPlusZero(op.getOther()));
  Address where = addresses.ofAccess(op, point, zeros);
  Lanes other = op.getOther() && where.exists ? value(op.getOther(), point) : nullptr;
  e.at(op.getLoc());
  explain::Access access(op);
  explainThreads(op, point);
  return memory.load(where, other);
}

Lanes Evaluator::elementwise(Operation *op, Value tile, ArrayRef<Index> point) {
  if (auto divided = dividedInGroups(*this, op, point))
    return indices.counting(divided->first, divided->step);
  if (Value chosen = segment.chosen(tile, point))
    return value(chosen, point);
  if (auto known = segment.linear(tile, point))
    return indices.counting(e.b.CreateSExtOrTrunc(known->base, e.valueType(elementOf(tile))), known->step);
  auto compare = dyn_cast<arith::CmpIOp>(op);
  if (compare && compare.getPredicate() == arith::CmpIPredicate::slt && surelyBelow(compare.getLhs(), compare.getRhs(), point))
    return e.b.getTrue();
  if (compare || isa<arith::AndIOp>(op))
    if (Lanes lanes = elementOf(tile).isInteger(1) ? segment.held(op, point) : nullptr)
      return lanes;
  if (Lanes lanes = compare ? segment.compared(compare, point) : nullptr)
    return lanes;
  SmallVector<Lanes> operands;
  for (Value operand : op->getOperands())
    operands.push_back(value(operand, point));
  e.at(op->getLoc());
  return emitElementwise(e, op, operands);
}

// The current body only runs where an access with that mask exists: programs use their masks as data too.
bool Evaluator::surelyBelow(Value tile, Value bound, ArrayRef<Index> at) {
  if (state.bounds.empty() || !assumes(at))
    return false;
  auto isShape = [](Operation *op) { return isa_and_present<tile::ExpandDimsOp, tile::BroadcastOp, tile::ReshapeOp>(op); };
  Point point(at);
  for (Operation *op = tile.getDefiningOp(); isShape(op); op = tile.getDefiningOp()) {
    point = indices.operandPoint(op, point);
    tile = op->getOperand(0);
  }
  while (isShape(bound.getDefiningOp()))
    bound = bound.getDefiningOp()->getOperand(0);
  // tile = start + i and bound = limit in lane i, so that i < limit - start has to be known.
  auto kindOf = [](Value value) { return analysis::integerOpOf(value).kind; };
  analysis::IndexPolynomial start;
  if (auto sum = analysis::integerOpOf(tile); sum.kind == Kind::add) {
    bool startFirst = kindOf(sum.lhs) == Kind::splat;
    start = analysis::polynomialOf(startFirst ? sum.lhs : sum.rhs);
    tile = startFirst ? sum.rhs : sum.lhs;
  }
  auto range = tile.getDefiningOp<tile::RangeOp>();
  if (!range || range.getStart() != 0 || kindOf(bound) != Kind::splat || point.size() != 1 || point[0].loop < 0)
    return false;
  analysis::IndexPolynomial end = analysis::polynomialOf(bound) - start;
  return llvm::any_of(state.bounds,
                      [&](const KnownBound &k) { return k.loop == point[0].loop && analysis::polynomialOf(k.hi) == end; });
}

Lanes Evaluator::constantTile(DenseElementsAttr attr, ArrayRef<Index> point) {
  Type element = attr.getElementType();
  if (attr.isSplat())
    return e.constant(attr.getSplatValue<Attribute>(), element);
  llvm::SmallVector<llvm::Constant *> values;
  for (Attribute part : attr.getValues<Attribute>()) {
    llvm::Constant *value = e.constant(part, element);
    values.push_back(element.isInteger(1) ? llvm::ConstantInt::get(e.b.getInt8Ty(), value->isOneValue()) : value);
  }
  auto *type = llvm::ArrayType::get(e.memoryType(element), values.size());
  auto *global =
      new llvm::GlobalVariable(e.module, type, true, llvm::GlobalValue::PrivateLinkage, llvm::ConstantArray::get(type, values));
  Address where;
  where.element = element;
  where.pointer = global;
  where.alignment = elementBytes(element);
  where.exists = addresses.limitAt(point);
  int64_t stride = 1;
  auto shape = cast<RankedTensorType>(attr.getType()).getShape();
  SmallVector<int64_t> strides(shape.size());
  for (int d = int(shape.size()) - 1; d >= 0; --d) {
    strides[d] = stride;
    stride *= shape[d];
  }
  for (auto [index, step] : llvm::zip(point, strides))
    addresses.addTerm(where, index, e.i64(step));
  return memory.load(where);
}

Lanes Evaluator::rangeLanes(tile::RangeOp range, const Index &index) {
  auto &b = e.b;
  llvm::Type *type = e.valueType(elementOf(range.getResult()));
  if (index.lanes)
    return b.CreateAdd(b.CreateTrunc(index.lanes, e.vectorOf(type, state.lanes)),
                       e.splat(llvm::ConstantInt::get(type, range.getStart()), state.lanes));
  llvm::Value *base = b.CreateAdd(b.CreateTrunc(index.base, type), llvm::ConstantInt::get(type, range.getStart()));
  return indices.counting(base, index.step);
}

Lanes Evaluator::joined(tile::JoinOp join, ArrayRef<Index> point) {
  auto &b = e.b;
  ArrayRef<Index> outer = point.drop_back();
  Lanes which = b.CreateICmpEQ(indices.vectorOf(point.back()), e.splat(e.i64(0), point.back().uniform() ? 1 : state.lanes));
  Lanes parts[] = {which, value(join.getLhs(), outer), value(join.getRhs(), outer)};
  e.unify(parts);
  return b.CreateSelect(parts[0], parts[1], parts[2]);
}

Lanes Evaluator::concatenated(tile::CatOp cat, ArrayRef<Index> point) {
  auto &b = e.b;
  uint64_t axis = cat.getAxis();
  int64_t size = cast<RankedTensorType>(cat.getLhs().getType()).getDimSize(axis);
  const Index &index = point[axis];
  Lanes first = nullptr;
  llvm::Value *left = nullptr, *right = nullptr;
  {
    AtLevel at(levels, index.level);
    llvm::Value *position = indices.vectorOf(index);
    auto number = [&](int64_t n) { return llvm::ConstantInt::getSigned(position->getType(), n); };
    first = b.CreateICmpSLT(position, number(size));
    // Each side is read at a position that it has; the choice is made afterwards.
    left = b.CreateSelect(first, position, number(size - 1));
    right = b.CreateSelect(first, number(0), b.CreateSub(position, number(size)));
  }
  auto moved = [&](llvm::Value *where) {
    Point inner(point);
    inner[axis] = index.uniform() ? Index{where, 0, nullptr, index.level} : Index{nullptr, 0, where, index.level};
    inner[axis].owned = index.owned;
    return inner;
  };
  Lanes parts[] = {first, value(cat.getLhs(), moved(left)), value(cat.getRhs(), moved(right))};
  e.unify(parts);
  return b.CreateSelect(parts[0], parts[1], parts[2]);
}

Lanes Evaluator::taken(tile::TakeOp take, ArrayRef<Index> point) {
  auto &b = e.b;
  uint64_t axis = take.getAxis();
  int64_t size = cast<RankedTensorType>(take.getValue().getType()).getDimSize(axis);
  if (auto where = takenRow(take, point))
    return memory.load(*where);
  Lanes position = value(take.getIndices(), point);
  position = b.CreateSExtOrTrunc(position, e.vectorOf(b.getInt64Ty(), e.lanesOf(position)));
  Lanes inside = b.CreateICmpULT(position, llvm::ConstantInt::get(position->getType(), size));
  position = b.CreateSelect(inside, position, llvm::Constant::getNullValue(position->getType()));
  Point inner(point);
  unsigned level = levelOf(point);
  inner[axis] = e.lanesOf(position) == 1 ? Index{position, 0, nullptr, level} : Index{nullptr, 0, position, level};
  Lanes element = value(take.getValue(), inner);
  Lanes parts[] = {inside, element, llvm::Constant::getNullValue(element->getType())};
  e.unify(parts);
  return b.CreateSelect(parts[0], parts[1], parts[2]);
}

std::optional<Address> Evaluator::takenRow(tile::TakeOp take, ArrayRef<Index> point) {
  uint64_t axis = take.getAxis();
  Value from = take.getValue();
  auto stored = plan.storage.find(from);
  auto buffer = from.getDefiningOp<tile::BufferLoadOp>();
  if (threads || state.lanes == 1 || state.unwritten.contains(from) || point[axis].lanes || point[axis].step != 1 ||
      (stored == plan.storage.end() && !buffer))
    return std::nullopt;
  Linear at = linear(take.getIndices(), point);
  if (at.lanes || at.step != 1)
    return std::nullopt;
  Point inner(point);
  inner[axis] = Index{at.base, 1, nullptr, std::max(at.level, levelOf(point))};
  ArrayRef<int64_t> shape = tile::shapeOf(from.getType());
  Address where = stored != plan.storage.end() ? addresses.ofStored(stored->second, shape, inner)
                                               : addresses.ofBuffer(buffer.getBuffer(), inner);
  where.exists = e.band(where.exists, indices.lanesBetween(at.base, 0, shape[axis]));
  return where;
}

Linear Evaluator::linear(Value integers, ArrayRef<Index> point) {
  auto &b = e.b;
  if (!isa<RankedTensorType>(integers.getType())) {
    AtLevel at(levels, 0);
    return {wide(integers)};
  }
  auto uniformPart = [&](Lanes value, unsigned level) {
    AtLevel at(levels, level);
    value = b.CreateSExtOrTrunc(value, e.vectorOf(b.getInt64Ty(), e.lanesOf(value)));
    return e.lanesOf(value) == 1 ? Linear{value, 0, nullptr, level} : Linear{e.i64(0), 0, value, level};
  };
  if (auto found = state.consecutive.find(integers); found != state.consecutive.end() && !point[0].lanes) {
    AtLevel at(levels, point[0].level);
    return {b.CreateAdd(point[0].base, found->second), point[0].step, nullptr, point[0].level};
  }
  if (auto known = segment.linear(integers, point))
    return *known;
  analysis::IntegerOp op = analysis::integerOpOf(integers);
  auto sum = [&](bool subtract) {
    Linear x = linear(op.lhs, point), y = linear(op.rhs, point);
    return indices.sum(x, y, subtract);
  };
  switch (op.op && plan.isVirtual(integers) ? op.kind : Kind::opaque) {
  case Kind::range:
    if (!point[0].lanes) {
      AtLevel at(levels, point[0].level);
      return {b.CreateAdd(point[0].base, e.i64(op.number)), point[0].step, nullptr, point[0].level};
    }
    break;
  case Kind::splat:
    return linear(op.lhs, {});
  case Kind::reindex:
    return linear(op.lhs, indices.operandPoint(op.op, point));
  case Kind::extend:
    return linear(op.lhs, point);
  case Kind::add:
    return sum(false);
  case Kind::subtract:
    return sum(true);
  case Kind::multiply: {
    Linear x = linear(op.lhs, point), y = linear(op.rhs, point);
    bool moves = x.lanes || x.step;
    if (moves)
      std::swap(x, y);
    if (x.lanes || x.step)
      break;
    if (y.lanes || y.step)
      if (auto known = state.numbers.find(givenNumber(moves ? op.rhs : op.lhs)); known != state.numbers.end())
        x.base = e.i64(known->second);
    return indices.product(x, y);
  }
  default:
    break;
  }
  if (plan.isVirtual(integers))
    if (auto divided = dividedInGroups(*this, op.op, point)) {
      Linear lanes = uniformPart(divided->first, levelOf(point));
      lanes.step = divided->step;
      return lanes;
    }
  return uniformPart(value(integers, point), levelOf(point));
}

} // namespace tilery::lower
