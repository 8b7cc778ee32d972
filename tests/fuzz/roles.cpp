// Roles that hand tiles to each other through a ring, and buffers whose elements lie in an order of their own.
#include "generator.h"

using namespace mlir;

namespace tilery::fuzz {

/// What single threads do who fill a slot of a ring: each copies every so many-th element from one of two buffers, by turns.
static void fillByThreads(OpBuilder &b, Location loc, int64_t threads, Value thread, Value turn, Value slot,
                          ArrayRef<Value> sources, Value ring) {
  auto type = cast<tile::BufferType>(sources[0].getType());
  auto number = [&](int64_t n) -> Value { return arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(int32_t(n))); };
  Value odd = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, arith::AndIOp::create(b, loc, turn, number(1)), number(0));
  int64_t elements = 1;
  for (int64_t size : type.getShape())
    elements *= size;
  auto loop = scf::ForOp::create(b, loc, thread, number(elements), number(threads));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> indices, at{slot};
  int64_t inner = elements;
  for (int64_t size : type.getShape()) {
    inner /= size;
    Value index = tile::DivOp::create(b, loc, loop.getInductionVar(), number(inner), tile::IntDivMode::floor);
    indices.push_back(tile::RemOp::create(b, loc, index, number(size), tile::IntDivMode::floor));
  }
  at.append(indices);
  Value x = tile::ElementLoadOp::create(b, loc, type.getElementType(), sources[0], indices);
  Value y = tile::ElementLoadOp::create(b, loc, type.getElementType(), sources[1], indices);
  tile::ElementStoreOp::create(b, loc, ring, at, arith::SelectOp::create(b, loc, odd, x, y));
}

void Generator::roles() {
  Type i32 = b.getI32Type(), element = anyType();
  int64_t slots = 1 + random.below(3), readers = 1 + random.below(2), turns = 1 + random.below(6);
  std::vector<int64_t> sizes{4, 7, 16, 24, 32};
  Shape shape{random.of(sizes)};
  if (random.chance(0.5))
    shape.push_back(random.of(sizes));
  auto tileType = RankedTensorType::get(shape, element);
  Shape ringShape{slots};
  ringShape.append(shape);
  Value ring = tile::AllocOp::create(b, loc, tile::BufferType::get(ringShape, element, tile::Space::shared));
  constexpr int64_t filling = 128, reading = 64; // threads
  auto barriers = [&](int64_t arrivals) -> Value {
    SmallVector<int64_t> each(slots, arrivals);
    return tile::BarrierAllocOp::create(b, loc, tile::BarrierType::get(b.getContext(), slots), b.getDenseI64ArrayAttr(each));
  };
  Value full = barriers(filling), empty = barriers(reading * readers);
  SmallVector<Value> sums;
  for (int64_t r = 0; r < readers; ++r) {
    auto type = tile::BufferType::get(shape, element, random.chance(0.5) ? tile::Space::local : tile::Space::shared);
    sums.push_back(tile::AllocOp::create(b, loc, type));
    tile::BufferStoreOp::create(b, loc, sums.back(), pickLike(tileType), Value());
  }
  bool single = random.chance(0.4); // the ring is filled by code of single threads
  SmallVector<Value> sources;
  for (int i = 0; single && i < 2; ++i) {
    auto type = tile::BufferType::get(shape, element, tile::Space::shared);
    sources.push_back(tile::AllocOp::create(b, loc, type));
    tile::BufferStoreOp::create(b, loc, sources.back(), pickLike(tileType), Value());
  }
  // With a number of turns that is known at run time only, roles take turns at run time.
  Value count = random.chance(0.6) ? integer(turns, 32) : scalarArgument(i32, uint64_t(turns));
  int64_t filler = random.below(readers + 1);
  SmallVector<int64_t> threads(readers + 1, reading);
  threads[filler] = filling;
  auto op = tile::RolesOp::create(b, loc, b.getDenseI64ArrayAttr(threads), unsigned(threads.size()));
  OpBuilder::InsertionGuard guard(b);
  ++depth;
  for (auto [number, region] : llvm::enumerate(op.getBodies())) {
    bool fills = int64_t(number) == filler;
    size_t scope = pool.size();
    b.setInsertionPointToStart(&region.emplaceBlock());
    Value thread;
    if (fills && single) {
      auto all = tile::ThreadsOp::create(b, loc, filling);
      Block &body = all.getBody().emplaceBlock();
      thread = body.addArgument(i32, loc);
      b.setInsertionPointToStart(&body);
      b.setInsertionPoint(tile::YieldOp::create(b, loc, ValueRange()));
    }
    auto loop = scf::ForOp::create(b, loc, integer(0, 32), count, integer(1, 32));
    b.setInsertionPointToStart(loop.getBody());
    Value turn = loop.getInductionVar(), size = integer(slots, 32), one = integer(1, 32);
    Value slot = tile::RemOp::create(b, loc, turn, size, tile::IntDivMode::floor);
    Value round = tile::DivOp::create(b, loc, turn, size, tile::IntDivMode::floor);
    Value parity = arith::AndIOp::create(b, loc, fills ? arith::AddIOp::create(b, loc, round, one).getResult() : round, one);
    tile::BarrierWaitOp::create(b, loc, fills ? empty : full, slot, parity);
    SmallVector<Value> at{slot};
    SmallVector<int64_t> dims;
    for (size_t d = 0; d < shape.size(); ++d)
      at.push_back(integer(0, 32)), dims.push_back(int64_t(d) + 1);
    Value part;
    if (!thread)
      part = tile::SubviewOp::create(b, loc, tile::BufferType::get(shape, element, tile::Space::shared), ring, at, dims);
    add(turn);
    if (timed && random.chance(0.5))
      timing();
    if (thread) {
      fillByThreads(b, loc, filling, thread, turn, slot, sources, ring);
    } else if (fills) {
      elementwise();
      Value value = pickLike(tileType);
      tile::BufferStoreOp::create(b, loc, part, binary(value, pickLike(tileType)), Value());
    } else {
      Value sum = sums[int64_t(number) < filler ? number : number - 1];
      Value taken = tile::BufferLoadOp::create(b, loc, tileType, part);
      add(taken);
      elementwise();
      Value before = tile::BufferLoadOp::create(b, loc, tileType, sum);
      tile::BufferStoreOp::create(b, loc, sum, binary(before, random.chance(0.5) ? taken : pickLike(tileType)), Value());
    }
    tile::BarrierArriveOp::create(b, loc, fills ? full : empty, slot, IntegerAttr(),
                                  uint64_t(thread  ? 1
                                           : fills ? filling
                                                   : reading));
    pool.resize(scope);
  }
  --depth;
  b.setInsertionPointAfter(op);
  for (Value sum : sums)
    add(tile::BufferLoadOp::create(b, loc, tileType, sum));
}

/// Where element [i, j] of a buffer lies whose layout is of this kind; `shape` is the buffer's then.
static SmallVector<Value> placeOf(OpBuilder &b, Location loc, int kind, Value i, Value j, SmallVectorImpl<int64_t> &shape) {
  int64_t rows = shape[0], columns = shape[1];
  auto number = [&](int64_t n) -> Value { return arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(int32_t(n))); };
  auto quotient = [&](Value x, int64_t by) -> Value {
    return tile::DivOp::create(b, loc, x, number(by), tile::IntDivMode::floor);
  };
  auto rest = [&](Value x, int64_t by) -> Value { return tile::RemOp::create(b, loc, x, number(by), tile::IntDivMode::floor); };
  switch (kind) {
  case 0: // columns first
    shape.assign({columns, rows});
    return {j, i};
  case 1: // a swizzle
    return {i, arith::XOrIOp::create(b, loc, j, rest(i, 4))};
  case 2: // pieces of four columns
    shape.assign({columns / 4, rows, 4});
    return {quotient(j, 4), i, rest(j, 4)};
  case 3: // one line
    shape.assign({rows * columns});
    return {arith::AddIOp::create(b, loc, arith::MulIOp::create(b, loc, i, number(columns)), j)};
  case 4: // rows turned
    return {i, rest(arith::AddIOp::create(b, loc, i, j), columns)};
  default: // every other row
    shape.assign({2, (rows + 1) / 2, columns});
    return {rest(i, 2), quotient(i, 2), j};
  }
}

void Generator::layout() {
  std::vector<int64_t> sizes{4, 8, 12, 16};
  int64_t rows = random.of(sizes) - (random.chance(0.3) ? 1 : 0), columns = random.of(sizes);
  Type element = anyType();
  int kind = int(random.below(6));
  auto plain = tile::BufferType::get({rows, columns}, element, tile::Space::shared);
  Value from = tile::AllocOp::create(b, loc, plain), to = tile::AllocOp::create(b, loc, plain);
  tile::BufferStoreOp::create(b, loc, from, pickLike(plain.getTileType()), Value());
  SmallVector<int64_t> shape{rows, columns};
  {
    OpBuilder::InsertionGuard guard(b);
    Block asked; // for the shape alone
    b.setInsertionPointToStart(&asked);
    Value none = integer(0, 32);
    placeOf(b, loc, kind, none, none, shape);
  }
  Value laid = tile::AllocOp::create(b, loc, tile::BufferType::get(shape, element, tile::Space::shared));
  bool mirrored = random.chance(0.5);
  for (bool reads : {false, true}) {
    auto loop = tile::ParallelOp::create(b, loc, ValueRange{integer(rows, 32), integer(columns, 32)});
    OpBuilder::InsertionGuard guard(b);
    Block &body = loop.getBody().emplaceBlock();
    Value i = body.addArgument(b.getI32Type(), loc), j = body.addArgument(b.getI32Type(), loc);
    b.setInsertionPointToStart(&body);
    SmallVector<int64_t> ignored{rows, columns};
    Value column = reads && mirrored ? arith::SubIOp::create(b, loc, integer(columns - 1, 32), j).getResult() : j;
    SmallVector<Value> at = placeOf(b, loc, kind, i, column, ignored);
    Value value = tile::ElementLoadOp::create(b, loc, element, reads ? laid : from, reads ? ValueRange(at) : ValueRange{i, j});
    tile::ElementStoreOp::create(b, loc, reads ? to : laid, reads ? ValueRange{i, j} : ValueRange(at), value);
    tile::YieldOp::create(b, loc, ValueRange());
  }
  add(tile::BufferLoadOp::create(b, loc, plain.getTileType(), to));
}

} // namespace tilery::fuzz
