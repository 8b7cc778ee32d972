// Regions, and the program as a whole.
#include "generator.h"

using namespace mlir;

namespace tilery::fuzz {

Generator::Generator(MLIRContext &context, uint64_t seed, Style style)
    : random(seed), style(style), product(seed % 17 == 5), rowwise(seed % 19 == 6), wholeRow(seed % 23 == 8),
      timed(seed % 29 == 9), threaded(seed % 11 == 3), roled(seed % 13 == 7), laidOut(seed % 7 == 4), b(&context),
      loc(b.getUnknownLoc()) {}

// A boolean that depends on nothing rounded.
Value Generator::condition() {
  Value value = random.chance(0.5) ? pid : scalarArgument(b.getI32Type(), uint64_t(random.below(4)));
  return arith::CmpIOp::create(b, loc, static_cast<arith::CmpIPredicate>(random.below(6)), value, integer(random.below(4), 32));
}

void Generator::someOps(int count) {
  while (count-- > 0)
    timed &&random.chance(0.2) ? timing() : step();
}

SmallVector<Value> Generator::carried(int count) {
  SmallVector<Value> values;
  while (count-- > 0)
    if (Value value = pick([](Value) { return true; }))
      values.push_back(value);
  return values;
}

void Generator::repeat(ValueRange inits, Value from, Value to, Value step, llvm::function_ref<void(Value)> body) {
  size_t scope = pool.size();
  auto op = scf::ForOp::create(b, loc, from, to, step, inits);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(op.getBody());
  ++depth;
  for (Value value : op.getRegionIterArgs())
    add(value);
  body(op.getInductionVar());
  SmallVector<Value> yields;
  for (Value value : op.getRegionIterArgs())
    yields.push_back(binary(value, pickLike(value.getType())));
  if (!inits.empty())
    scf::YieldOp::create(b, loc, yields);
  --depth;
  pool.resize(scope);
  for (Value value : op.getResults())
    add(value);
}

void Generator::loop() {
  SmallVector<Value> inits = carried(1 + int(random.below(2)));
  unsigned width = random.chance(0.5) ? 32 : 64;
  Value lo = integer(random.below(3) - 1, width), step = integer(1 + random.below(3), width);
  uint64_t trips = uint64_t(random.below(6));
  Value hi = random.chance(0.5) ? scalarArgument(b.getIntegerType(width), trips) : integer(int64_t(trips), width);
  repeat(inits, lo, hi, step, [&](Value at) {
    add(at);
    someOps(1 + int(random.below(4)));
  });
}

void Generator::branch() {
  Value like = pick([](Value) { return true; });
  if (!like)
    return;
  auto op = scf::IfOp::create(b, loc, TypeRange{like.getType()}, condition(), true, true);
  OpBuilder::InsertionGuard guard(b);
  ++depth;
  for (Region *region : {&op.getThenRegion(), &op.getElseRegion()}) {
    size_t scope = pool.size();
    if (region->empty())
      region->emplaceBlock();
    b.setInsertionPointToStart(&region->front());
    someOps(int(random.below(3)));
    scf::YieldOp::create(b, loc, pickLike(like.getType()));
    pool.resize(scope);
  }
  --depth;
  add(op.getResult(0));
}

void Generator::whileLoop() {
  Value value = pick([](Value) { return true; });
  if (!value)
    return;
  Type i32 = b.getI32Type();
  Value zero = integer(0, 32), limit = scalarArgument(i32, uint64_t(random.below(5)));
  auto op = scf::WhileOp::create(b, loc, TypeRange{i32, value.getType()}, ValueRange{zero, value});
  OpBuilder::InsertionGuard guard(b);
  SmallVector<Type> types{i32, value.getType()};
  SmallVector<Location> locs(2, loc);
  Block *before = b.createBlock(&op.getBefore(), {}, types, locs);
  Value go = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, before->getArgument(0), limit);
  scf::ConditionOp::create(b, loc, go, before->getArguments());
  Block *after = b.createBlock(&op.getAfter(), {}, types, locs);
  size_t scope = pool.size();
  ++depth;
  add(after->getArgument(0));
  add(after->getArgument(1));
  someOps(int(random.below(3)));
  Value next = arith::AddIOp::create(b, loc, after->getArgument(0), integer(1, 32));
  scf::YieldOp::create(b, loc, ValueRange{next, binary(after->getArgument(1), pickLike(value.getType()))});
  --depth;
  pool.resize(scope);
  for (Value result : op.getResults())
    add(result);
}

// Each iteration updates an element; with a constant among the indices, several update one.
void Generator::update(Value output, ValueRange indices, Value value) {
  using K = tile::RmwKind;
  bool real = isa<FloatType>(value.getType());
  SmallVector<K> kinds = real ? SmallVector<K>{K::fadd, K::fmax, K::fmin}
                              : SmallVector<K>{K::add, K::max, K::min, K::umax, K::umin, K::and_, K::or_, K::xor_};
  K kind = kinds[random.below(kinds.size())];
  SmallVector<Value> at(indices);
  if (random.chance(0.5)) {
    Value &shared = at[random.below(at.size())];
    shared = integer(0, shared.getType().getIntOrFloatBitWidth());
  }
  auto insert = [&] { tile::ElementUpdateOp::create(b, loc, kind, output, value, at); };
  if (random.chance(0.7))
    return insert();
  Value index = indices[random.below(indices.size())];
  Value inside = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, index,
                                       integer(1 + random.below(9), index.getType().getIntOrFloatBitWidth()));
  auto op = scf::IfOp::create(b, loc, inside, false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&op.getThenRegion().front());
  insert();
}

// Scalar code over a box: elements of `inputs` at the indices, a chain of ops, and a store, perhaps under a condition.
void Generator::parallelBody(ValueRange inputs, Value output, ValueRange indices) {
  std::vector<Value> outside = std::exchange(pool, {});
  for (Value buffer : inputs)
    add(tile::ElementLoadOp::create(b, loc, cast<tile::BufferType>(buffer.getType()).getElementType(), buffer, indices));
  add(indices[random.below(indices.size())]);
  for (int i = 0, n = 1 + int(random.below(5)); i < n; ++i)
    elementwise();
  Value value = convert(pool.back(), cast<tile::BufferType>(output.getType()).getElementType());
  if (random.chance(0.25)) {
    update(output, indices, value);
  } else if (random.chance(0.5)) {
    Value index = indices[random.below(indices.size())];
    unsigned width = index.getType().getIntOrFloatBitWidth();
    Value inside = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, index, integer(1 + random.below(9), width));
    auto op = scf::IfOp::create(b, loc, inside, random.chance(0.5));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(&op.getThenRegion().front());
    tile::ElementStoreOp::create(b, loc, output, indices, value);
    if (!op.getElseRegion().empty()) {
      b.setInsertionPointToStart(&op.getElseRegion().front());
      tile::ElementStoreOp::create(b, loc, output, indices, constant(value.getType()));
    }
  } else
    tile::ElementStoreOp::create(b, loc, output, indices, value);
  pool = std::move(outside);
}

void Generator::buffers() {
  Value x = pick([](Value v) { return isa<RankedTensorType>(v.getType()); });
  if (!x)
    return;
  Shape shape(tile::shapeOf(x.getType()));
  auto space = [&] { return static_cast<tile::Space>(random.below(3)); };
  SmallVector<Value> inputs;
  for (int i = 0, n = 1 + int(random.below(2)); i < n; ++i) {
    Value value = i == 0 ? x : pickLike(RankedTensorType::get(shape, anyType()));
    Value buffer = tile::AllocOp::create(b, loc, tile::BufferType::get(shape, getElementTypeOrSelf(value.getType()), space()));
    tile::BufferStoreOp::create(b, loc, buffer, value, Value());
    inputs.push_back(buffer);
  }
  Type element = anyType();
  Value output = tile::AllocOp::create(b, loc, tile::BufferType::get(shape, element, space()));
  tile::BufferStoreOp::create(b, loc, output, constant(RankedTensorType::get(shape, element)), Value());
  SmallVector<Value> extents;
  unsigned width = random.chance(0.7) ? 32 : 64;
  for (int64_t size : shape) {
    int64_t extent = random.chance(0.8) ? size : 1 + random.below(size);
    extents.push_back(random.chance(0.2) ? scalarArgument(b.getIntegerType(width), uint64_t(extent)) : integer(extent, width));
  }
  auto op = tile::ParallelOp::create(b, loc, extents);
  {
    OpBuilder::InsertionGuard guard(b);
    Block *body = b.createBlock(&op.getBody());
    for (Value extent : extents)
      body->addArgument(extent.getType(), loc);
    parallelBody(inputs, output, body->getArguments());
    tile::YieldOp::create(b, loc);
  }
  add(tile::BufferLoadOp::create(b, loc, RankedTensorType::get(shape, element), output));
}

void Generator::step() {
  int kind = int(random.below(100));
  if (kind < 50)
    elementwise();
  else if (kind < 62)
    shapeOp();
  else if (kind < 70)
    reduction();
  else if (kind < 73)
    scan();
  else if (kind < 79)
    depth == 0 && loads < 8 && random.chance(0.4) ? contract() : dot();
  else if (kind < 85 && loads < 8)
    add(load(anyShape(), anyType()));
  else if (kind < 90 && depth == 0)
    random.chance(0.5) ? loop() : random.chance(0.6) ? branch() : whileLoop();
  else if (kind < 97 && (style == Style::Buffers || style == Style::All))
    buffers();
  else
    atomic();
}

Program Generator::run() {
  program.grid = {uint32_t(1 + random.below(3)), random.chance(0.3) ? 2u : 1u, 1};
  program.module = ModuleOp::create(b, loc);
  b.setInsertionPointToStart(program.module->getBody());
  auto kernel = tile::KernelOp::create(b, loc, "fuzz", b.getFunctionType({}, {}));
  entry = &kernel.getBody().front();
  b.setInsertionPointToStart(entry);
  pid = tile::ProgramIdOp::create(b, loc, b.getI32IntegerAttr(0));
  if (program.grid[1] > 1) {
    Value y = tile::ProgramIdOp::create(b, loc, b.getI32IntegerAttr(1)),
          n = tile::NumProgramsOp::create(b, loc, b.getI32IntegerAttr(0));
    pid = arith::AddIOp::create(b, loc, pid, arith::MulIOp::create(b, loc, y, n, arith::IntegerOverflowFlags::nsw),
                                arith::IntegerOverflowFlags::nsw);
  }
  if (product) {
    random.chance(0.3) ? chainKernel() : productKernel();
  } else if (rowwise || wholeRow) {
    rowwise ? rowKernel() : wholeRowKernel();
    for (int i = 0, n = 1 + int(random.below(2)); i < n; ++i)
      store(pick([](Value) { return true; }));
  } else {
    for (int i = 0, n = 1 + int(random.below(3)); i < n; ++i)
      add(load(anyShape(), anyType()));
    if (threaded)
      threads();
    if (roled)
      roles();
    if (laidOut)
      layout();
    someOps(threaded || roled ? int(random.below(4)) : 3 + int(random.below(12)));
    store(pool.back());
    for (int i = 0, n = int(random.below(3)); i < n; ++i)
      store(pick([](Value) { return true; }));
  }
  tile::ReturnOp::create(b, loc);
  SmallVector<Type> types(entry->getArgumentTypes());
  kernel.setFunctionType(b.getFunctionType(types, {}));
  for (unsigned argument : aligned)
    kernel.setArgAttr(argument, "tile.divisibility", b.getI64IntegerAttr(16));
  return std::move(program);
}

Program generate(MLIRContext &context, uint64_t seed, Style style) { return Generator(context, seed, style).run(); }

} // namespace tilery::fuzz
