// Code for the threads of a block: their own values and arrays, what they hand each other, branches and loops that differ.
#include "generator.h"

using namespace mlir;

namespace tilery::fuzz {

// Another thread's number, a different one for each: every element of what threads hand each other is read once.
Value Generator::otherThread(Value thread, int64_t count) {
  Value by = integer(1 + random.below(count), 32), size = integer(count, 32);
  switch (random.below(4)) {
  case 0:
    return arith::SubIOp::create(b, loc, integer(count - 1, 32), thread);
  case 1:
    return tile::RemOp::create(b, loc, arith::AddIOp::create(b, loc, thread, by), size, tile::IntDivMode::floor);
  case 2: // columns of rows of eight
    if (count % 8 == 0) {
      Value eight = integer(8, 32), rows = integer(count / 8, 32);
      Value row = tile::DivOp::create(b, loc, thread, eight, tile::IntDivMode::floor);
      Value column = tile::RemOp::create(b, loc, thread, eight, tile::IntDivMode::floor);
      return arith::AddIOp::create(b, loc, arith::MulIOp::create(b, loc, column, rows), row);
    }
    return thread;
  default:
    return count % 2 ? thread : arith::XOrIOp::create(b, loc, thread, integer(1, 32)).getResult();
  }
}

// store shared[t]; wait; load shared[other]; wait
void Generator::exchange(Value thread, int64_t count, Value shared) {
  Value value = pickLike(cast<tile::BufferType>(shared.getType()).getElementType());
  tile::ElementStoreOp::create(b, loc, shared, ValueRange(thread), value);
  tile::SyncOp::create(b, loc);
  add(tile::ElementLoadOp::create(b, loc, value.getType(), shared, ValueRange(otherThread(thread, count))));
  tile::SyncOp::create(b, loc);
}

void Generator::shuffleOrVote(int64_t count) {
  SmallVector<int64_t> widths;
  for (int64_t width : {4, 8, 16, 32})
    if (count % width == 0)
      widths.push_back(width);
  if (widths.empty())
    return;
  int64_t width = widths[random.below(widths.size())];
  if (random.chance(0.6)) {
    Value value = pick([](Value v) { return isa<IntegerType, FloatType>(v.getType()); });
    auto mode = static_cast<tile::ShuffleMode>(random.below(4));
    Value lane = random.chance(0.7) ? integer(random.below(width), 32) : pickLike(b.getI32Type());
    add(tile::ShuffleOp::create(b, loc, value.getType(), mode, value, lane, width));
    return;
  }
  auto mode = static_cast<tile::VoteMode>(random.below(4));
  bool all = random.chance(0.3) && mode != tile::VoteMode::ballot;
  Value holds = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, pickLike(b.getI32Type()), integer(random.below(9), 32));
  bool answers = mode == tile::VoteMode::any || mode == tile::VoteMode::all;
  add(tile::VoteOp::create(b, loc, answers ? b.getI1Type() : b.getI32Type(), mode, holds, all ? 0 : width));
}

// A product whose factors and sums lie in the threads of a warp.
void Generator::warpDot(int64_t count) {
  if (count % 32)
    return;
  struct Kind {
    Type factor, sum;
    int parts;
  };
  std::vector<Kind> kinds{{b.getF16Type(), b.getF32Type(), 4},
                          {b.getBF16Type(), b.getF32Type(), 4},
                          {b.getF32Type(), b.getF32Type(), 2},
                          {b.getF64Type(), b.getF64Type(), 1},
                          {b.getIntegerType(8), b.getI32Type(), 8}};
  Kind kind = random.of(kinds);
  auto values = [&](Type type, int n) {
    SmallVector<Value> result;
    for (int i = 0; i < n; ++i)
      result.push_back(pickLike(type));
    return result;
  };
  bool bytes = kind.factor.isInteger(8);
  auto a = values(kind.factor, 2 * kind.parts), other = values(kind.factor, kind.parts), c = values(kind.sum, 4);
  auto op = tile::WarpDotOp::create(b, loc, SmallVector<Type>(4, kind.sum), a, other, c, bytes && random.chance(0.5),
                                    bytes && random.chance(0.5));
  add(op.getResult()[random.below(4)]);
}

// An array that each thread has for itself: some elements are written, one is read.
void Generator::ownArray(Value thread) {
  int64_t size = 1 + random.below(5);
  Type element = anyType();
  Value own = tile::AllocOp::create(b, loc, tile::BufferType::get({size}, element, tile::Space::local));
  auto loop = scf::ForOp::create(b, loc, integer(0, 32), integer(size, 32), integer(1, 32));
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    size_t scope = pool.size();
    add(loop.getInductionVar());
    elementwise();
    tile::ElementStoreOp::create(b, loc, own, ValueRange(loop.getInductionVar()), pickLike(element));
    pool.resize(scope);
  }
  Value at = random.chance(0.5) ? integer(random.below(size), 32)
                                : tile::RemOp::create(b, loc, thread, integer(size, 32), tile::IntDivMode::floor).getResult();
  add(tile::ElementLoadOp::create(b, loc, element, own, ValueRange(at)));
}

// A branch or a loop that threads take differently.
void Generator::threadFlow(Value thread, int64_t count) {
  Value like = pick([](Value v) { return isa<IntegerType, FloatType>(v.getType()); });
  size_t scope = pool.size();
  OpBuilder::InsertionGuard guard(b);
  if (random.chance(0.5)) {
    Value limit = integer(random.below(count), 32);
    auto predicate = random.chance(0.5) ? arith::CmpIPredicate::slt : arith::CmpIPredicate::eq;
    Value goes = arith::CmpIOp::create(b, loc, predicate, thread, limit);
    auto op = scf::IfOp::create(b, loc, TypeRange{like.getType()}, goes, true, true);
    for (Region *region : {&op.getThenRegion(), &op.getElseRegion()}) {
      if (region->empty())
        region->emplaceBlock();
      b.setInsertionPointToStart(&region->front());
      for (int i = 0; i < 2; ++i)
        elementwise();
      scf::YieldOp::create(b, loc, pickLike(like.getType()));
      pool.resize(scope);
    }
    return add(op.getResult(0));
  }
  Value trips = tile::RemOp::create(b, loc, thread, integer(1 + random.below(4), 32), tile::IntDivMode::floor);
  auto op =
      scf::ForOp::create(b, loc, random.chance(0.5) ? integer(0, 32) : Value(trips),
                         random.chance(0.5) ? Value(trips) : integer(4, 32), integer(1 + random.below(2), 32), ValueRange{like});
  b.setInsertionPointToStart(op.getBody());
  add(op.getInductionVar());
  add(op.getRegionIterArg(0));
  elementwise();
  scf::YieldOp::create(b, loc, pickLike(like.getType()));
  pool.resize(scope);
  add(op.getResult(0));
}

void Generator::threads() {
  std::vector<int64_t> counts{8, 20, 24, 32, 40, 64, 96};
  int64_t count = random.of(counts);
  auto shared = [&](Type element, Value value) {
    auto type = tile::BufferType::get({count}, element, tile::Space::shared);
    Value buffer = tile::AllocOp::create(b, loc, type);
    tile::BufferStoreOp::create(b, loc, buffer, value ? value : constant(type.getTileType()), Value());
    return buffer;
  };
  Type element = anyType(), passed = anyType(), result = anyType();
  Value input = shared(element, pickLike(RankedTensorType::get({count}, element)));
  Value handed = shared(passed, {}), output = shared(result, {});
  auto op = tile::ThreadsOp::create(b, loc, count);
  {
    OpBuilder::InsertionGuard guard(b);
    Value thread = b.createBlock(&op.getBody())->addArgument(b.getI32Type(), loc);
    std::vector<Value> outside = std::exchange(pool, {});
    add(thread);
    add(tile::ElementLoadOp::create(b, loc, element, input, ValueRange(thread)));
    for (int i = 0, n = 2 + int(random.below(5)); i < n; ++i) {
      elementwise();
      int kind = int(random.below(6));
      kind == 0   ? exchange(thread, count, handed)
      : kind == 1 ? shuffleOrVote(count)
      : kind == 5 ? warpDot(count)
      : kind == 2 ? ownArray(thread)
      : kind == 3 ? threadFlow(thread, count)
      : timed     ? timing()
                  : elementwise();
    }
    Value value = convert(pick([](Value) { return true; }), result);
    tile::ElementStoreOp::create(b, loc, output, ValueRange(thread), value);
    tile::YieldOp::create(b, loc);
    pool = std::move(outside);
  }
  add(tile::BufferLoadOp::create(b, loc, RankedTensorType::get({count}, result), output));
}

} // namespace tilery::fuzz
