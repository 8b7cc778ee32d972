// What threads in lockstep say to each other, and addresses of their own.
#include "compiler/analysis/integer_op.h"
#include "compiler/passes/thread_conversion.h"

using namespace mlir;
using namespace tilery;
using namespace tilery::tile;

Value ThreadConversion::grouped(Value value, int64_t width) {
  Value all = spread(value, box);
  int64_t count = ShapedType::getNumElements(box);
  return ReshapeOp::create(builder, all.getLoc(), RankedTensorType::get({count / width, width}, getElementTypeOrSelf(all)), all);
}

Value ThreadConversion::ungrouped(Value groups, Location loc) {
  return ReshapeOp::create(builder, loc, RankedTensorType::get(box, getElementTypeOrSelf(groups)), groups);
}

namespace {
/// The op that combines a value with what a shuffle by `distance` of it gives, if both are used for nothing else.
Operation *combinedWithOther(Value value, int64_t width, int64_t &distance, ShuffleOp &shuffle) {
  Operation *users[2] = {};
  unsigned count = 0;
  for (Operation *user : value.getUsers())
    if (!llvm::is_contained(users, user)) {
      if (count == 2)
        return nullptr;
      users[count++] = user;
    }
  if (count != 2)
    return nullptr;
  shuffle = dyn_cast<ShuffleOp>(users[0]) ? cast<ShuffleOp>(users[0]) : dyn_cast<ShuffleOp>(users[1]);
  Operation *op = shuffle && users[0] == shuffle ? users[1] : users[0];
  if (!shuffle || shuffle.getMode() != ShuffleMode::xor_ || int64_t(shuffle.getWidth()) != width || !shuffle->hasOneUse() ||
      *shuffle->user_begin() != op || op->getNumOperands() != 2 || op->getBlock() != shuffle->getBlock() ||
      !isa<arith::AddIOp, arith::AddFOp, arith::MaxSIOp, arith::MaxUIOp, arith::MinSIOp, arith::MinUIOp, arith::MaxNumFOp,
           arith::MinNumFOp, arith::MaximumFOp, arith::MinimumFOp, arith::AndIOp, arith::OrIOp, arith::XOrIOp>(op))
    return nullptr;
  auto by = analysis::constantOf(shuffle.getLane());
  if (!by || op->getOperand(0) == op->getOperand(1))
    return nullptr;
  distance = *by;
  return op;
}
} // namespace

// The order of the sums is that of tile.reduce, in every thread: each step adds the same two numbers in both of its threads.
void ThreadConversion::findFolds() {
  body.walk([&](ShuffleOp first) {
    if (folded.contains(first))
      return;
    Value value = first.getValue();
    int64_t width = first.getWidth(), distance = 0, next = 0;
    SmallVector<Operation *> chain;
    Operation *last = nullptr;
    Fold fold{value, 0};
    for (Value at = value; at;) {
      ShuffleOp shuffle;
      Operation *op = combinedWithOther(at, width, distance, shuffle);
      if (!op || (last && (op->getName() != last->getName() || distance != next)) || distance < 1 ||
          !llvm::isPowerOf2_64(distance) || 2 * distance > width || (chain.empty() && shuffle != first))
        break;
      if (last)
        chain.push_back(last);
      chain.push_back(shuffle);
      if (chain.size() == 1)
        fold.group = 2 * distance;
      last = op;
      next = distance / 2;
      at = op->getResult(0);
    }
    if (!last || next != 0)
      return;
    folds[last] = fold;
    folded.insert(chain.begin(), chain.end());
  });
}

bool ThreadConversion::convertFold(Operation &last) {
  Location loc = last.getLoc();
  Fold fold = folds.lookup(&last);
  int64_t count = ShapedType::getNumElements(box);
  if (count % fold.group)
    return refuse(&last, "groups of " + Twine(fold.group) + " threads combine values, but a block of " + Twine(count) +
                             " threads is no whole number of them");
  Value groups = grouped(lookup(fold.value), fold.group);
  Type element = last.getResult(0).getType();
  auto reduce = ReduceOp::create(builder, loc, TypeRange(tileOf({count / fold.group}, element)), ValueRange(groups), 1);
  {
    OpBuilder::InsertionGuard guard(builder);
    Block &combine = reduce.getCombine().emplaceBlock();
    combine.addArguments({element, element}, {loc, loc});
    builder.setInsertionPointToStart(&combine);
    Operation *copy = builder.clone(last);
    copy->setOperands(combine.getArguments());
    YieldOp::create(builder, loc, copy->getResults());
  }
  Value row = ExpandDimsOp::create(builder, loc, RankedTensorType::get({count / fold.group, 1}, element), reduce.getResult(0), 1);
  map.map(last.getResult(0), ungrouped(spread(row, {count / fold.group, fold.group}), loc));
  return true;
}

bool ThreadConversion::convertShuffle(ShuffleOp shuffle) {
  Location loc = shuffle.getLoc();
  int64_t count = ShapedType::getNumElements(box), width = std::min<int64_t>(shuffle.getWidth(), count);
  if (count % width)
    return refuse(shuffle, "groups of " + Twine(width) + " threads exchange values, but a block of " + Twine(count) +
                               " threads is no whole number of them");
  SmallVector<int64_t> shape{count / width, width};
  Type i32 = builder.getI32Type();
  auto constant = [&](int64_t n) {
    Value number = arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(n));
    return spread(number, shape);
  };
  Value value = grouped(lookup(shuffle.getValue()), width), by = grouped(lookup(shuffle.getLane()), width);
  Value line = RangeOp::create(builder, loc, RankedTensorType::get(width, i32), 0, width);
  line = spread(ExpandDimsOp::create(builder, loc, RankedTensorType::get({1, width}, i32), line, 0), shape);
  if (shuffle.getMode() == ShuffleMode::up || shuffle.getMode() == ShuffleMode::down) {
    // Numbers further than a row mean as little as the next one; without them nothing wraps: code generators see the places count up.
    by = arith::MinSIOp::create(builder, loc, arith::MaxSIOp::create(builder, loc, by, constant(-width)), constant(width));
    constexpr auto nsw = arith::IntegerOverflowFlags::nsw;
    Value place = shuffle.getMode() == ShuffleMode::up ? arith::SubIOp::create(builder, loc, line, by, nsw).getResult()
                                                       : arith::AddIOp::create(builder, loc, line, by, nsw).getResult();
    Value inside = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, place, constant(width));
    Value taken = TakeOp::create(builder, loc, value.getType(), value, place, 1);
    map.map(shuffle.getResult(), ungrouped(arith::SelectOp::create(builder, loc, inside, taken, value), loc));
    return true;
  }
  Value place = shuffle.getMode() == ShuffleMode::idx ? by : arith::XOrIOp::create(builder, loc, line, by).getResult();
  Value inside = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, place, constant(width));
  place = arith::SelectOp::create(builder, loc, inside, place, line);
  map.map(shuffle.getResult(), ungrouped(TakeOp::create(builder, loc, value.getType(), value, place, 1), loc));
  return true;
}

bool ThreadConversion::convertVote(VoteOp vote) {
  Location loc = vote.getLoc();
  int64_t count = ShapedType::getNumElements(box), width = vote.getWidth() ? std::min<int64_t>(vote.getWidth(), count) : count;
  if (count % width)
    return refuse(vote, "groups of " + Twine(width) + " threads vote, but a block of " + Twine(count) +
                            " threads is no whole number of them");
  VoteMode mode = vote.getMode();
  Value holds = spread(lookup(vote.getPredicate()), box);
  if (mask && mode == VoteMode::all) // who is not asked does not object
    holds = arith::OrIOp::create(builder, loc, holds, spread(inverse(mask, loc), box));
  else if (mask)
    holds = arith::AndIOp::create(builder, loc, holds, spread(mask, box));
  Value votes = grouped(holds, width);
  auto type = RankedTensorType::get({count / width, width}, builder.getI32Type());
  if (mode == VoteMode::count || mode == VoteMode::ballot)
    votes = arith::ExtUIOp::create(builder, loc, type, votes);
  if (mode == VoteMode::ballot) {
    Value line = RangeOp::create(builder, loc, RankedTensorType::get(width, builder.getI32Type()), 0, width);
    line = ExpandDimsOp::create(builder, loc, RankedTensorType::get({1, width}, builder.getI32Type()), line, 0);
    votes = ShiftOp::create(builder, loc, votes, spread(line, type.getShape()), ShiftMode::left);
  }
  RmwKind kind = mode == VoteMode::any ? RmwKind::or_ : mode == VoteMode::all ? RmwKind::and_ : RmwKind::add;
  Value result = reduced(kind, loc, votes, 1);
  if (vote.getWidth() == 0) {
    Value zero = arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(0));
    map.map(vote.getResult(), ExtractOp::create(builder, loc, vote.getType(), result, ValueRange(zero)));
    return true;
  }
  result = ExpandDimsOp::create(builder, loc, RankedTensorType::get({count / width, 1}, vote.getType()), result, 1);
  map.map(vote.getResult(), ungrouped(spread(result, {count / width, width}), loc));
  return true;
}

bool ThreadConversion::gatherElements(ElementLoadOp load) {
  Location loc = load.getLoc();
  auto expanded = own.find(load.getBuffer());
  Value buffer = expanded == own.end() ? lookup(load.getBuffer()) : expanded->second;
  auto type = cast<BufferType>(buffer.getType());
  if (!buffer.getDefiningOp<AllocOp>())
    return false;
  SmallVector<Value> indices;
  Type wide = builder.getI64Type();
  if (expanded != own.end())
    for (unsigned d = 0; d < threadDims; ++d)
      indices.push_back(tileOfForm(affine.position(d), wide, loc));
  for (Value index : load.getIndices())
    indices.push_back(lookup(index));
  SmallVector<int64_t> shape = thin();
  for (Value index : indices)
    cover(shape, index);
  auto number = [&](int64_t n) { return spread(arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(n)), shape); };
  Value flat = number(0), inside;
  for (auto [index, size] : llvm::zip(indices, type.getShape())) {
    Value at = spread(index, shape);
    if (!getElementTypeOrSelf(at).isInteger(64))
      at = arith::ExtSIOp::create(builder, loc, RankedTensorType::get(shape, wide), at);
    Value exists = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, at, number(size));
    inside = inside ? arith::AndIOp::create(builder, loc, inside, exists).getResult() : exists;
    flat = arith::AddIOp::create(builder, loc, arith::MulIOp::create(builder, loc, flat, number(size)), at);
  }
  flat = arith::SelectOp::create(builder, loc, inside, flat, number(-1));
  int64_t points = ShapedType::getNumElements(shape), elements = ShapedType::getNumElements(type.getShape());
  auto line = BufferType::get({elements}, type.getElementType(), type.getSpace());
  Value all = BufferLoadOp::create(builder, loc, line.getTileType(), ReinterpretOp::create(builder, loc, line, buffer));
  Value places = ReshapeOp::create(builder, loc, RankedTensorType::get(points, wide), flat);
  Value taken = TakeOp::create(builder, loc, RankedTensorType::get(points, type.getElementType()), all, places, 0);
  map.map(load.getResult(), ReshapeOp::create(builder, loc, RankedTensorType::get(shape, type.getElementType()), taken));
  return true;
}
