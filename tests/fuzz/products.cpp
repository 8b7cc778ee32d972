// Contractions: operands that a step loads, in both orders of memory, ragged and not.
#include "compiler/oracle/element.h"
#include "generator.h"

using namespace mlir;

namespace tilery::fuzz {

// An array of `total` x `across` elements, `total` along the contraction. `kDim` of the tiles runs along it.
Generator::Operand Generator::operand(ArrayRef<int64_t> tile, unsigned kDim, int64_t steps, Type element, bool cutRows) {
  Operand result;
  result.tile.assign(tile.begin(), tile.end());
  result.kDim = kDim;
  result.cutRows = cutRows;
  unsigned rank = tile.size(), rowDim = 2 * rank - 3 - kDim;
  int64_t programs = int64_t(program.grid[0]) * program.grid[1];
  Shape extents(tile);
  extents[kDim] = std::max<int64_t>(steps * tile[kDim] - (random.chance(0.4) ? random.below(tile[kDim]) : 0), 1);
  extents[rowDim] = tile[rowDim] * (cutRows ? programs : 1) - (random.chance(0.4) ? random.below(tile[rowDim]) : 0);
  bool transposed = random.chance(0.4);
  Shape storage(extents);
  unsigned bytes = oracle::elementOf(element).bytes();
  if (transposed)
    std::swap(storage[rank - 1], storage[rank - 2]);
  if (random.chance(0.7)) // rows that copies of 16 bytes can take
    storage.back() = llvm::alignTo(storage.back(), 16 / bytes);
  result.array = makeArray(storage, element, false, true);
  if (transposed) {
    std::swap(result.array.strides[rank - 1], result.array.strides[rank - 2]);
    std::swap(result.array.extents[rank - 1], result.array.extents[rank - 2]);
  }
  result.array.extentValues.clear();
  for (int64_t extent : extents)
    result.array.extentValues.push_back(random.chance(0.5) ? scalarArgument(b.getI64Type(), uint64_t(extent))
                                                           : integer(extent, 64));
  return result;
}

Value Generator::loadOperand(const Operand &operand, Value step, Type element) {
  auto nsw = arith::IntegerOverflowFlags::nsw;
  auto times = [&](Value x, Value y) { return Value(arith::MulIOp::create(b, loc, x, y, nsw)); };
  unsigned rank = operand.tile.size(), rowDim = 2 * rank - 3 - operand.kDim;
  Value offset = integer(0, 64);
  SmallVector<Value> steps, bounds;
  SmallVector<int32_t> kinds;
  for (auto [d, size] : llvm::enumerate(operand.tile)) {
    auto line = RankedTensorType::get({size}, b.getI64Type());
    Value stride = integer(operand.array.strides[d], 64), limit = operand.array.extentValues[d];
    Value first = d == operand.kDim                ? times(step, integer(size, 64))
                  : d == rowDim && operand.cutRows ? start(size, 64)
                                                   : integer(0, 64);
    auto range = [&] {
      Value at = tile::RangeOp::create(b, loc, RankedTensorType::get({size}, b.getI32Type()), 0, size);
      return Value(arith::ExtSIOp::create(b, loc, line, at));
    };
    auto splat = [&](Value v) { return Value(tile::SplatOp::create(b, loc, line, v)); };
    if (d == rowDim && random.chance(0.2)) { // rows that wrap around, as pointer programs write them
      Value at = arith::AddIOp::create(b, loc, splat(first), range(), nsw);
      at = tile::RemOp::create(b, loc, line, at, splat(limit), tile::IntDivMode::trunc);
      steps.push_back(times(at, splat(stride)));
      kinds.push_back(0);
      continue;
    }
    offset = arith::AddIOp::create(b, loc, offset, times(first, stride), nsw);
    steps.push_back(stride);
    Value left = arith::SubIOp::create(b, loc, limit, first, nsw);
    if (random.chance(0.1)) {
      kinds.push_back(2);
      bounds.push_back(arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, range(), splat(left)));
    } else {
      kinds.push_back(1);
      bounds.push_back(integer(0, 64));
      bounds.push_back(left);
    }
  }
  Value place = tile::AccessOp::create(b, loc, tile::AccessType::get(operand.tile, element), operand.array.pointer, offset, steps,
                                       bounds, Value(), kinds);
  return tile::LoadOp::create(b, loc, RankedTensorType::get(operand.tile, element), place, Value(), false, StringAttr(),
                              StringAttr());
}

void Generator::contract() {
  auto size = [&] { return random.of(std::vector<int64_t>{1, 3, 8, 16, 17, 24, 32, 40, 64}); };
  int64_t m = size(), n = size(), k = size(), steps = random.below(5);
  Type element = random.of(std::vector<Type>{b.getF16Type(), b.getF16Type(), b.getBF16Type(), b.getF32Type(), b.getF64Type(),
                                             b.getI8Type(), b.getI32Type()});
  bool isInt = !isa<FloatType>(element);
  Type sum = isInt ? Type(b.getI32Type()) : element.isF64() ? element : Type(b.getF32Type());
  Shape shapeA{m, k}, shapeB{k, n}, shape{m, n};
  if (random.chance(0.15))
    for (Shape *s : {&shapeA, &shapeB, &shape})
      s->insert(s->begin(), 2);
  unsigned rank = shape.size();
  Operand x = operand(shapeA, rank - 1, std::max<int64_t>(steps, 1), element, rank == 2);
  Operand y = operand(shapeB, rank - 2, std::max<int64_t>(steps, 1), element, false);
  auto type = RankedTensorType::get(shape, sum);
  Value acc = random.chance(0.5) ? pickLike(type) : Value(arith::ConstantOp::create(b, loc, type, b.getZeroAttr(type)));
  Value count = random.chance(0.5) ? scalarArgument(b.getI64Type(), uint64_t(steps)) : integer(steps, 64);
  auto precision = element.isF32() && random.chance(0.5) ? tile::Precision::tf32 : tile::Precision::ieee;
  auto stages = random.chance(0.5) ? b.getI64IntegerAttr(1 + random.below(4)) : IntegerAttr();
  auto op = tile::ContractOp::create(b, loc, type, count, acc, precision, isInt && random.chance(0.3),
                                     isInt && random.chance(0.3), stages, ValueRange());
  {
    OpBuilder::InsertionGuard guard(b);
    Block *body = b.createBlock(&op.getBody());
    body->addArgument(b.getI64Type(), loc);
    SmallVector<Value> operands;
    for (const Operand *part : {&x, &y}) {
      Value value = loadOperand(*part, body->getArgument(0), element);
      if (random.chance(0.15))
        value = isInt ? Value(arith::XOrIOp::create(b, loc, value, value)) : Value(arith::NegFOp::create(b, loc, value));
      operands.push_back(value);
    }
    tile::YieldOp::create(b, loc, operands);
  }
  add(op.getResult());
}

Generator::Array Generator::alignedArray(ArrayRef<int64_t> extents, bool transposed, Type element, bool written) {
  unsigned per16 = 16 / oracle::elementOf(element).bytes();
  Shape storage(extents);
  if (transposed)
    std::swap(storage[0], storage[1]);
  storage[1] = llvm::alignTo(storage[1], per16) + (random.chance(0.3) ? per16 : 0);
  unsigned number = program.args.size();
  Array array = makeArray(storage, element, written, true);
  aligned.push_back(number);
  array.extents.assign(extents.begin(), extents.end());
  array.extentValues.clear();
  for (int64_t extent : extents)
    array.extentValues.push_back(random.chance(0.6) ? scalarArgument(b.getI64Type(), uint64_t(extent)) : integer(extent, 64));
  if (transposed)
    std::swap(array.strides[0], array.strides[1]);
  return array;
}

Value Generator::alignedPlace(const Array &array, ArrayRef<int64_t> tile, ArrayRef<Value> starts, Type element) {
  auto nsw = arith::IntegerOverflowFlags::nsw;
  Value offset = integer(0, 64);
  SmallVector<Value> steps, bounds;
  for (unsigned d = 0; d < 2; ++d) {
    steps.push_back(integer(array.strides[d], 64));
    offset = arith::AddIOp::create(b, loc, offset, arith::MulIOp::create(b, loc, starts[d], steps[d], nsw), nsw);
    bounds.push_back(integer(0, 64));
    bounds.push_back(arith::SubIOp::create(b, loc, array.extentValues[d], starts[d], nsw));
  }
  return tile::AccessOp::create(b, loc, tile::AccessType::get(tile, element), array.pointer, offset, steps, bounds, Value(),
                                SmallVector<int32_t>{1, 1});
}

// Tiles of the rows: the program's own, or several that it takes by turns, or those that a branch lets it have.
void Generator::overTiles(unsigned axis, int64_t turns, llvm::function_ref<void(Value)> body) {
  Type i32 = b.getI32Type();
  Value id = tile::ProgramIdOp::create(b, loc, b.getI32IntegerAttr(axis)), count = tile::NumProgramsOp::create(b, loc, axis);
  if (turns == 0)
    return body(id);
  Value tiles = scalarArgument(i32, uint64_t(turns));
  OpBuilder::InsertionGuard guard(b);
  if (random.chance(0.5)) {
    auto loop = scf::ForOp::create(b, loc, id, tiles, count);
    b.setInsertionPointToStart(loop.getBody());
    body(loop.getInductionVar());
  } else if (random.chance(0.6)) {
    auto loop = scf::WhileOp::create(b, loc, TypeRange{i32}, ValueRange{id});
    Block *before = b.createBlock(&loop.getBefore(), {}, {i32}, {loc});
    Value at = before->getArgument(0);
    scf::ConditionOp::create(b, loc, arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, at, tiles), at);
    Block *after = b.createBlock(&loop.getAfter(), {}, {i32}, {loc});
    body(after->getArgument(0));
    scf::YieldOp::create(b, loc, ValueRange{arith::AddIOp::create(b, loc, after->getArgument(0), count)});
  } else {
    auto branch = scf::IfOp::create(b, loc, arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, id, tiles), false);
    b.setInsertionPointToStart(&branch.getThenRegion().front());
    body(id);
  }
}

void Generator::productKernel() {
  auto nsw = arith::IntegerOverflowFlags::nsw;
  Type element = random.of(std::vector<Type>{b.getF16Type(), b.getBF16Type(), b.getF16Type(), b.getBF16Type(), b.getI8Type(),
                                             Float8E4M3FNType::get(b.getContext()), b.getF32Type()});
  unsigned bytes = oracle::elementOf(element).bytes();
  bool isInt = element.isInteger(8), across = bytes <= 2;
  bool isFlat = random.chance(0.3); // its rows are the tensor cores' columns
  int64_t m = isFlat               ? random.of(std::vector<int64_t>{16, 32, 48, 96})
              : random.chance(0.7) ? 64
                                   : 128,
          n = random.of(isFlat ? std::vector<int64_t>{64, 64, 128} : std::vector<int64_t>{16, 32, 48, 64, 64, 96, 128, 192}),
          k = random.of(std::vector<int64_t>{32, 64, 128}) / bytes, steps = random.below(6);
  int64_t apart = k * (random.chance(0.15) ? 2 : 1); // steps, along k
  int64_t turns = random.chance(0.4) ? 1 + random.below(5) : 0;
  int64_t rows = m * std::max<int64_t>(program.grid[1], turns) - random.below(m), columns = n * program.grid[0] - random.below(n),
          depth = std::max<int64_t>(steps * apart - (random.chance(0.5) ? random.below(k) : 0), 1);
  Array a = alignedArray({rows, depth}, across && random.chance(0.3), element, false);
  Array w = alignedArray({depth, columns}, !across || random.chance(0.5), element, false);
  auto start = [&](Value number, int64_t size) -> Value {
    return arith::MulIOp::create(b, loc, arith::ExtSIOp::create(b, loc, b.getI64Type(), number), integer(size, 64), nsw);
  };
  Value column = start(tile::ProgramIdOp::create(b, loc, b.getI32IntegerAttr(0)), n);
  auto type = RankedTensorType::get({m, n}, isInt ? Type(b.getI32Type()) : Type(b.getF32Type()));
  Value zero = arith::ConstantOp::create(b, loc, type, b.getZeroAttr(type));
  Value count = random.chance(0.5) ? scalarArgument(b.getI64Type(), uint64_t(steps)) : integer(steps, 64);
  bool hasBias = random.chance(0.5), adds = random.chance(0.2);
  Type output =
      isInt || adds ? type.getElementType() : random.of(std::vector<Type>{b.getF16Type(), b.getBF16Type(), b.getF32Type()});
  Array bias, out = alignedArray({rows, columns}, random.chance(0.15), output, true);
  if (hasBias)
    bias = alignedArray({rows, columns}, false, type.getElementType(), false);
  overTiles(1, turns, [&](Value number) {
    Value row = start(number, m);
    auto op =
        tile::ContractOp::create(b, loc, type, count, zero, tile::Precision::tf32, false, false,
                                 random.chance(0.5) ? b.getI64IntegerAttr(1 + random.below(4)) : IntegerAttr(), ValueRange());
    {
      OpBuilder::InsertionGuard guard(b);
      Block *body = b.createBlock(&op.getBody());
      Value at = arith::MulIOp::create(b, loc, body->addArgument(b.getI64Type(), loc), integer(apart, 64), nsw);
      SmallVector<Value> factors;
      for (auto [array, tile, starts] :
           {std::tuple(&a, Shape{m, k}, SmallVector<Value>{row, at}), {&w, Shape{k, n}, {at, column}}})
        factors.push_back(tile::LoadOp::create(b, loc, RankedTensorType::get(tile, element),
                                               alignedPlace(*array, tile, starts, element), Value(), false, StringAttr(),
                                               StringAttr()));
      tile::YieldOp::create(b, loc, factors);
    }
    Value result = op.getResult();
    pool.assign({result});
    if (hasBias) {
      Value more = tile::LoadOp::create(b, loc, type, alignedPlace(bias, {m, n}, {row, column}, type.getElementType()), Value(),
                                        false, StringAttr(), StringAttr());
      result = isInt ? Value(arith::AddIOp::create(b, loc, result, more)) : Value(arith::AddFOp::create(b, loc, result, more));
    }
    Value to = alignedPlace(out, {m, n}, {row, column}, output);
    result = convert(result, output);
    if (!adds)
      tile::StoreOp::create(b, loc, to, result, false, StringAttr(), StringAttr());
    else
      tile::AtomicRmwOp::create(b, loc, type, isInt ? tile::RmwKind::add : tile::RmwKind::fadd, to, result,
                                random.chance(0.5) ? tile::MemoryOrder::relaxed : tile::MemoryOrder::acq_rel,
                                tile::SyncScope::gpu);
  });
}

} // namespace tilery::fuzz
