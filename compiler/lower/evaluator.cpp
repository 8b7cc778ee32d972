// Tile values at a point.
#include "compiler/lower/evaluator.h"
#include "compiler/analysis/index_polynomial.h"
#include "compiler/explain/findings.h"
#include "compiler/ir/zero.h"
#include "compiler/lower/explain_plan.h"
#include "mlir/IR/Matchers.h"
#include <numeric>

using namespace mlir;

namespace tilery::lower {
using Kind = analysis::IntegerOp::Kind;

Evaluator::AtLevel::AtLevel(Evaluator &evaluator, unsigned level)
    : b(evaluator.e.b), moved(evaluator.levels[level].preheaderEnd) {
  if (!moved)
    return;
  block = b.GetInsertBlock();
  if (b.GetInsertPoint() != block->end())
    instruction = &*b.GetInsertPoint();
  b.SetInsertPoint(evaluator.levels[level].preheaderEnd);
}
Evaluator::AtLevel::~AtLevel() {
  if (moved && instruction)
    b.SetInsertPoint(instruction);
  else if (moved)
    b.SetInsertPoint(block);
}
void Evaluator::enterLoop(llvm::Instruction *preheaderEnd) {
  levels.back().preheaderEnd = preheaderEnd;
  levels.emplace_back();
}
void Evaluator::leaveLoop() {
  levels.pop_back();
  levels.back().preheaderEnd = nullptr;
}
unsigned Evaluator::levelOf(ArrayRef<Index> point) {
  unsigned level = 0;
  for (const Index &index : point)
    level = std::max(level, index.level);
  return level;
}

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

bool Evaluator::assumes(ArrayRef<Index> point) const { return threads || levelOf(point) + 1 == levels.size(); }

Evaluator::Key Evaluator::keyOf(Value tile, ArrayRef<Index> point) {
  Key key{tile.getAsOpaquePointer(), {}};
  for (const Index &index : point)
    key.second.push_back({index.base, index.step, index.lanes});
  return key;
}

Evaluator::Memo &Evaluator::memoAt(ArrayRef<Index> point) {
  return llvm::any_of(point, [](const Index &index) { return index.owned; }) ? owned : levels[levelOf(point)].memo;
}

void Evaluator::provide(Value tile, ArrayRef<Index> point, Lanes lanes) { memoAt(point)[keyOf(tile, point)] = lanes; }

Lanes Evaluator::value(Value tile, ArrayRef<Index> point) {
  if (!isa<RankedTensorType>(tile.getType()))
    return scalar(tile);
  auto found = plan.storage.find(tile);
  if (found == plan.storage.end())
    return define(tile, point);
  Key key = keyOf(tile, point);
  Memo &memo = memoAt(point);
  if (auto known = memo.find(key); known != memo.end())
    return known->second;
  if (Lanes now = state.unwritten.lookup(tile))
    return now;
  if (auto segment = inSegment(tile, point); segment && !segment->lanes)
    return counting(e.b.CreateSExtOrTrunc(segment->base, e.valueType(elementOf(tile))), segment->step);
  AtLevel at(*this, levelOf(point));
  if (Lanes square = storedFromSquare(found->second, tile, point))
    return square;
  return memo[key] = readStored(found->second, tile::shapeOf(tile.getType()), point);
}

Lanes Evaluator::define(Value tile, ArrayRef<Index> point) {
  Key key = keyOf(tile, point);
  Memo &memo = memoAt(point);
  if (auto known = memo.find(key); known != memo.end())
    return known->second;
  AtLevel at(*this, levelOf(point));
  e.at(tile.getLoc());
  Lanes result = expression(tile, point);
  if (!result) {
    failed = true;
    result = llvm::Constant::getNullValue(e.valueType(elementOf(tile)));
  }
  return memo[key] = result;
}

Lanes Evaluator::expression(Value tile, ArrayRef<Index> point) {
  auto &b = e.b;
  Operation *op = tile.getDefiningOp();
  return llvm::TypeSwitch<Operation *, Lanes>(op)
      .Case([&](arith::ConstantOp op) { return constantTile(cast<DenseElementsAttr>(op.getValue()), point); })
      .Case([&](ub::PoisonOp) { return anything(elementOf(tile)); })
      .Case([&](tile::RangeOp op) { return rangeLanes(op, point[0]); })
      .Case([&](tile::SplatOp op) { return scalar(op.getValue()); })
      .Case<tile::ExpandDimsOp, tile::BroadcastOp, tile::PermuteOp, tile::ReshapeOp>(
          [&](Operation *op) { return value(op->getOperand(0), operandPoint(op, point)); })
      .Case([&](tile::JoinOp op) { return joined(op, point); })
      .Case([&](tile::SplitOp op) {
        Point inner(point);
        inner.push_back(constant(tile == op.getRhs()));
        return value(op.getValue(), inner);
      })
      .Case([&](tile::CatOp op) { return concatenated(op, point); })
      .Case([&](tile::TakeOp op) { return taken(op, point); })
      .Case([&](tile::LoadOp op) {
        if (Lanes copied = threads ? threads->copied(op, point, state.lanes) : nullptr)
          return copied;
        if (Lanes square = loadedFromSquare(op, point))
          return square;
        bool zeros = !threads && !op.getIsVolatile() && (!op.getOther() || tile::isPlusZero(op.getOther()));
        Address where = addressOf(op, point, zeros);
        Lanes other = op.getOther() && where.exists ? value(op.getOther(), point) : nullptr;
        e.at(op.getLoc());
        explain::Access access(op);
        explainThreads(op, point);
        return load(where, other);
      })
      .Case([&](tile::BufferLoadOp op) { return load(bufferAddress(op.getBuffer(), point)); })
      .Default([&](Operation *op) -> Lanes {
        if (auto divided = dividedInGroups(op, point))
          return counting(divided->first, divided->second);
        if (Value chosen = chosenInSegment(tile, point))
          return value(chosen, point);
        if (auto known = inSegment(tile, point))
          return counting(b.CreateSExtOrTrunc(known->base, e.valueType(elementOf(tile))), known->step);
        auto compare = dyn_cast<arith::CmpIOp>(op);
        if (compare && compare.getPredicate() == arith::CmpIPredicate::slt &&
            surelyBelow(compare.getLhs(), compare.getRhs(), point))
          return b.getTrue();
        if (compare || isa<arith::AndIOp>(op))
          if (Lanes lanes = elementOf(tile).isInteger(1) ? heldInSegment(op, point) : nullptr)
            return lanes;
        if (Lanes lanes = compare ? comparedInSegment(compare, point) : nullptr)
          return lanes;
        SmallVector<Lanes> operands;
        for (Value operand : op->getOperands())
          operands.push_back(value(operand, point));
        e.at(op->getLoc());
        return emitElementwise(e, op, operands);
      });
}

analysis::LaneGroups Evaluator::groupsOf(Value integers, int dim, const Index &index) const {
  bool whole = threads && index.step == 1 && !index.lanes && state.lanes > 1 && llvm::isPowerOf2_32(state.lanes) &&
               index.multiple % int64_t(state.lanes) == 0;
  if (!whole)
    return {};
  analysis::LaneGroups groups = analysis::laneGroups(integers, dim, state.lanes);
  if (groups.equal || groups.follow)
    return groups;
  groups = analysis::laneGroupsOfPositive(integers, dim, state.lanes);
  bool isAsked = (groups.equal || groups.follow) && threads->asksForPositive(groups.positive);
  return isAsked ? groups : analysis::LaneGroups();
}

std::optional<std::pair<Lanes, int64_t>> Evaluator::dividedInGroups(Operation *op, ArrayRef<Index> point) {
  if (!threads || !isa<tile::DivOp, tile::RemOp>(op))
    return std::nullopt;
  auto moves = llvm::find_if(point, [](const Index &index) { return !index.uniform(); });
  if (moves == point.end() || llvm::count_if(point, [](const Index &index) { return !index.uniform(); }) != 1)
    return std::nullopt;
  unsigned dim = moves - point.begin();
  analysis::LaneGroups groups = groupsOf(op->getResult(0), dim, *moves);
  if (!groups.equal && !groups.follow)
    return std::nullopt;
  Point first(point);
  first[dim].step = 0;
  return std::pair(value(op->getResult(0), first), int64_t(groups.equal ? 0 : 1));
}

// tile < bound in all lanes, because the current body only runs where an access with that mask exists: programs use their masks as data too.
bool Evaluator::surelyBelow(Value tile, Value bound, ArrayRef<Index> at) {
  if (state.known.empty() || !assumes(at))
    return false;
  auto isShape = [](Operation *op) { return isa_and_present<tile::ExpandDimsOp, tile::BroadcastOp, tile::ReshapeOp>(op); };
  Point point(at);
  for (Operation *op = tile.getDefiningOp(); isShape(op); op = tile.getDefiningOp()) {
    point = operandPoint(op, point);
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
  return llvm::any_of(state.known,
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
  where.exists = limitAt(point);
  int64_t stride = 1;
  auto shape = cast<RankedTensorType>(attr.getType()).getShape();
  SmallVector<int64_t> strides(shape.size());
  for (int d = int(shape.size()) - 1; d >= 0; --d) {
    strides[d] = stride;
    stride *= shape[d];
  }
  for (auto [index, step] : llvm::zip(point, strides))
    addTerm(where, index, e.i64(step));
  return load(where);
}

Lanes Evaluator::counting(llvm::Value *base, int64_t step) {
  auto &b = e.b;
  if (!step)
    return base;
  llvm::Type *type = base->getType();
  llvm::Value *steps = b.CreateMul(e.iota(type, state.lanes), e.splat(llvm::ConstantInt::get(type, step), state.lanes));
  return b.CreateAdd(e.splat(base, state.lanes), steps);
}

Lanes Evaluator::rangeLanes(tile::RangeOp range, const Index &index) {
  auto &b = e.b;
  llvm::Type *type = e.valueType(elementOf(range.getResult()));
  if (index.lanes)
    return b.CreateAdd(b.CreateTrunc(index.lanes, e.vectorOf(type, state.lanes)),
                       e.splat(llvm::ConstantInt::get(type, range.getStart()), state.lanes));
  llvm::Value *base = b.CreateAdd(b.CreateTrunc(index.base, type), llvm::ConstantInt::get(type, range.getStart()));
  return counting(base, index.step);
}

Lanes Evaluator::joined(tile::JoinOp join, ArrayRef<Index> point) {
  auto &b = e.b;
  ArrayRef<Index> outer = point.drop_back();
  Lanes which = b.CreateICmpEQ(vectorOf(point.back()), e.splat(e.i64(0), point.back().uniform() ? 1 : state.lanes));
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
    AtLevel at(*this, index.level);
    llvm::Value *position = vectorOf(index);
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
    return load(*where);
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

Lanes Evaluator::lanesBetween(llvm::Value *base, int64_t low, int64_t high) {
  auto &b = e.b;
  auto laneNumber = [&](int64_t bound) {
    llvm::Value *n = b.CreateSub(e.i64(bound), base);
    n = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, n, e.i64(0));
    n = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, n, e.i64(state.lanes));
    return e.splat(b.CreateTrunc(n, b.getInt32Ty()), state.lanes);
  };
  llvm::Value *lane = e.iota(b.getInt32Ty(), state.lanes);
  return b.CreateAnd(b.CreateICmpSGE(lane, laneNumber(low)), b.CreateICmpSLT(lane, laneNumber(high)));
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
  Address where =
      stored != plan.storage.end() ? scratchAddress(stored->second, shape, inner) : bufferAddress(buffer.getBuffer(), inner);
  where.exists = e.band(where.exists, lanesBetween(at.base, 0, shape[axis]));
  return where;
}

llvm::Value *Evaluator::vectorOf(const Index &index) {
  auto &b = e.b;
  if (index.lanes || index.uniform())
    return index.lanes ? index.lanes : index.base;
  llvm::Value *steps = b.CreateMul(e.iota(b.getInt64Ty(), state.lanes), e.splat(e.i64(index.step), state.lanes));
  return b.CreateAdd(e.splat(index.base, state.lanes), steps);
}

Index Evaluator::scaled(const Index &index, int64_t factor) {
  if (factor == 1)
    return index;
  AtLevel at(*this, index.level);
  if (std::optional<Spread> spread = index.lanes ? spreadOf(index) : std::nullopt) {
    spread->base = e.b.CreateMul(spread->base, e.i64(factor));
    spread->multiple *= factor;
    for (int64_t &lane : spread->lanes)
      lane *= factor;
    return indexOf(*spread, index.level);
  }
  Index result = index;
  result.loop = -1;
  if (index.lanes)
    result.lanes = e.b.CreateMul(index.lanes, e.splat(e.i64(factor), state.lanes));
  else
    result.base = e.b.CreateMul(index.base, e.i64(factor));
  result.step = index.step * factor;
  result.multiple = index.multiple * factor;
  return result;
}

Index Evaluator::plus(const Index &x, const Index &y) {
  Index result;
  result.level = std::max(x.level, y.level);
  AtLevel at(*this, result.level);
  result.multiple = std::gcd(x.multiple, y.multiple);
  result.owned = x.owned || y.owned;
  if (!x.lanes && !y.lanes) {
    result.base = e.b.CreateAdd(x.base, y.base);
    result.step = x.step + y.step;
    return result;
  }
  if (std::optional<Spread> left = spreadOf(x), right = spreadOf(y); left && right) {
    left->base = e.b.CreateAdd(left->base, right->base);
    left->multiple = result.multiple = std::gcd(left->multiple, right->multiple);
    for (auto [lane, other] : llvm::zip(left->lanes, right->lanes))
      lane += other;
    Index sum = indexOf(*left, result.level);
    sum.owned = result.owned;
    return sum;
  }
  llvm::Value *both[] = {vectorOf(x), vectorOf(y)};
  e.unify(both);
  result.lanes = e.b.CreateAdd(both[0], both[1]);
  return result;
}

Point Evaluator::operandPoint(Operation *op, ArrayRef<Index> point) {
  ArrayRef<int64_t> from = tile::shapeOf(op->getOperand(0).getType());
  Point result;
  if (auto expand = dyn_cast<tile::ExpandDimsOp>(op)) {
    result.append(point.begin(), point.end());
    result.erase(result.begin() + expand.getAxis());
    return result;
  }
  if (auto permute = dyn_cast<tile::PermuteOp>(op)) {
    result.resize(point.size());
    for (auto [d, source] : llvm::enumerate(permute.getOrder()))
      result[source] = point[d];
    return result;
  }
  if (isa<tile::BroadcastOp>(op)) {
    for (auto [index, size] : llvm::zip(point, from))
      result.push_back(size == 1 ? constant(0) : index);
    return result;
  }
  return reshaped(from, tile::shapeOf(op->getResult(0).getType()), point);
}

Point Evaluator::pointOf(const Index &number, ArrayRef<int64_t> shape) {
  return reshaped(shape, {ShapedType::getNumElements(shape)}, {number});
}

// Dimensions of both shapes are matched in groups of equal products; within a group the position goes through its row-major number.
Point Evaluator::reshaped(ArrayRef<int64_t> from, ArrayRef<int64_t> to, ArrayRef<Index> point) {
  Point result(from.size(), constant(0));
  size_t i = 0, j = 0;
  while (i < from.size() || j < to.size()) {
    size_t i0 = i, j0 = j;
    int64_t have = i < from.size() ? from[i++] : 1, want = j < to.size() ? to[j++] : 1;
    while (have != want) {
      if (have < want)
        have *= from[i++];
      else
        want *= to[j++];
    }
    // `have == want` may be reached with sizes of 1 on both sides: each keeps its own 0.
    if (have == 1)
      continue;
    SmallVector<size_t> sources;
    for (size_t d = i0; d < i; ++d)
      if (from[d] != 1)
        sources.push_back(d);
    std::optional<Index> number;
    int64_t stride = 1;
    for (size_t d = j; d-- > j0;) {
      if (to[d] == 1)
        continue;
      Index term = scaled(point[d], stride);
      number = number ? plus(term, *number) : term;
      stride *= to[d];
    }
    if (sources.size() == 1) {
      result[sources[0]] = *number;
      continue;
    }
    SmallVector<int64_t> sizes;
    for (size_t d : sources)
      sizes.push_back(from[d]);
    SmallVector<Index> parts(sources.size());
    split(*number, sizes, parts);
    for (auto [d, part] : llvm::zip(sources, parts))
      result[d] = part;
  }
  return result;
}

void Evaluator::split(const Index &number, ArrayRef<int64_t> sizes, llvm::MutableArrayRef<Index> result) {
  auto &b = e.b;
  AtLevel at(*this, number.level);
  int64_t inner = sizes.back();
  // A run of consecutive lanes that stays within one inner row keeps its form.
  bool sameRow = number.step == 1 && !number.lanes && inner % state.lanes == 0 && number.multiple % int64_t(state.lanes) == 0;
  if (number.uniform() || sameRow) {
    Index rest = number;
    rest.loop = -1;
    for (size_t d = sizes.size(); d-- > 0;) {
      Index &part = result[d];
      part = rest;
      if (d) {
        part.base = b.CreateURem(rest.base, e.i64(sizes[d]));
        part.multiple = std::gcd(rest.multiple, sizes[d]);
        rest.base = b.CreateUDiv(rest.base, e.i64(sizes[d]));
        rest.step = 0;
        rest.multiple = 1;
      }
    }
    return;
  }
  if (splitSpread(number, sizes, result))
    return;
  // 32 bits are enough for the lanes of a tile, and their division by a constant has vector code.
  llvm::Type *i32 = e.vectorOf(b.getInt32Ty(), state.lanes), *i64 = e.vectorOf(b.getInt64Ty(), state.lanes);
  llvm::Value *rest = b.CreateTrunc(vectorOf(number), i32);
  for (size_t d = sizes.size(); d-- > 0;) {
    auto *size = llvm::ConstantInt::get(i32, sizes[d]);
    llvm::Value *part = d ? b.CreateURem(rest, size) : rest;
    if (d)
      rest = b.CreateUDiv(rest, size);
    result[d] = Index{nullptr, 0, b.CreateZExt(part, i64), number.level};
  }
}

Linear Evaluator::linear(Value integers, ArrayRef<Index> point) {
  auto &b = e.b;
  if (!isa<RankedTensorType>(integers.getType())) {
    AtLevel at(*this, 0);
    return {wide(integers)};
  }
  auto uniformPart = [&](Lanes value, unsigned level) {
    AtLevel at(*this, level);
    value = b.CreateSExtOrTrunc(value, e.vectorOf(b.getInt64Ty(), e.lanesOf(value)));
    return e.lanesOf(value) == 1 ? Linear{value, 0, nullptr, level} : Linear{e.i64(0), 0, value, level};
  };
  auto laneVector = [&](const Linear &l) -> llvm::Value * {
    if (l.lanes || !l.step)
      return l.lanes;
    return b.CreateMul(e.iota(b.getInt64Ty(), state.lanes), e.splat(e.i64(l.step), state.lanes));
  };
  auto sum = [&](Linear x, Linear y, bool subtract) {
    Linear r;
    r.level = std::max(x.level, y.level);
    {
      AtLevel at(*this, r.level);
      r.base = subtract ? b.CreateSub(x.base, y.base) : b.CreateAdd(x.base, y.base);
      if (!x.lanes && !y.lanes) {
        r.step = subtract ? x.step - y.step : x.step + y.step;
        return r;
      }
      llvm::Value *zero = llvm::Constant::getNullValue(e.vectorOf(b.getInt64Ty(), state.lanes));
      llvm::Value *xs = laneVector(x), *ys = laneVector(y);
      xs = xs ? xs : zero;
      ys = ys ? ys : zero;
      r.lanes = subtract ? b.CreateSub(xs, ys) : b.CreateAdd(xs, ys);
    }
    return r;
  };
  if (auto found = state.consecutive.find(integers); found != state.consecutive.end() && !point[0].lanes) {
    AtLevel at(*this, point[0].level);
    return {b.CreateAdd(point[0].base, found->second), point[0].step, nullptr, point[0].level};
  }
  if (auto known = inSegment(integers, point))
    return *known;
  analysis::IntegerOp op = analysis::integerOpOf(integers);
  switch (op.op && plan.isVirtual(integers) ? op.kind : Kind::opaque) {
  case Kind::range:
    if (!point[0].lanes) {
      AtLevel at(*this, point[0].level);
      return {b.CreateAdd(point[0].base, e.i64(op.number)), point[0].step, nullptr, point[0].level};
    }
    break;
  case Kind::splat:
    return linear(op.lhs, {});
  case Kind::reindex:
    return linear(op.lhs, operandPoint(op.op, point));
  case Kind::extend:
    return linear(op.lhs, point);
  case Kind::add:
    return sum(linear(op.lhs, point), linear(op.rhs, point), false);
  case Kind::subtract:
    return sum(linear(op.lhs, point), linear(op.rhs, point), true);
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
    Linear r; // x is the same in all lanes
    r.level = std::max(x.level, y.level);
    AtLevel at(*this, r.level);
    r.base = b.CreateMul(x.base, y.base);
    auto *factor = llvm::dyn_cast<llvm::ConstantInt>(x.base);
    if (factor && !y.lanes)
      r.step = y.step * factor->getSExtValue();
    else if (llvm::Value *vector = laneVector(y))
      r.lanes = b.CreateMul(vector, e.splat(x.base, state.lanes));
    return r;
  }
  default:
    break;
  }
  if (op.op && plan.isVirtual(integers))
    if (auto divided = dividedInGroups(op.op, point)) {
      Linear first = uniformPart(divided->first, levelOf(point));
      first.step = divided->second;
      return first;
    }
  return uniformPart(value(integers, point), levelOf(point));
}

} // namespace tilery::lower
