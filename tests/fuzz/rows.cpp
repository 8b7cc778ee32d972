// Loops over rows, or over pieces of rows, whose accesses the compiler knows to be aligned.
#include "generator.h"

using namespace mlir;

namespace tilery::fuzz {

Generator::Array Generator::arrayOfRows(ArrayRef<int64_t> extents, Type element, bool written) {
  Array array = alignedArray(extents, false, element, written);
  if (auto argument = dyn_cast<BlockArgument>(array.extentValues[1]))
    aligned.push_back(argument.getArgNumber());
  return array;
}

void Generator::rowKernel() {
  auto nsw = arith::IntegerOverflowFlags::nsw;
  bool dealt = random.chance(0.4); // whole rows, by turns
  Type element = random.of(
      std::vector<Type>{b.getF32Type(), b.getF32Type(), b.getF16Type(), b.getBF16Type(), b.getI32Type(), b.getIntegerType(8)});
  int64_t programs = int64_t(program.grid[0]) * program.grid[1], block = random.of(std::vector<int64_t>{128, 256, 512, 1024}),
          height = random.of(std::vector<int64_t>{1, 1, 1, 2, 4});
  int64_t rows = std::max<int64_t>(height * programs * (dealt ? random.below(4) : 1) - random.below(height), 1);
  int64_t columns = std::max<int64_t>(block * (dealt ? 1 : random.below(5)) - 16 * random.below(block / 16), 16);
  std::vector<Array> inputs;
  for (int i = 0, n = 1 + int(random.below(2)); i < n; ++i)
    inputs.push_back(arrayOfRows({rows, columns}, element, false));
  auto wide = [&](Value number) -> Value { return arith::ExtSIOp::create(b, loc, b.getI64Type(), number); };
  auto type = RankedTensorType::get({height, block}, element);
  auto load = [&](const Array &array, Value row, Value column) {
    Value other = random.chance(0.6) ? constant(type) : Value();
    add(tile::LoadOp::create(b, loc, type, alignedPlace(array, type.getShape(), {row, column}, element), other, false,
                             StringAttr(), StringAttr()));
  };
  auto work = [&](Value row, Value column, const Array *out) {
    for (const Array &input : inputs)
      load(input, row, column);
    Value own = pool.back();
    for (int i = 0, n = int(random.below(4)); i < n; ++i)
      random.chance(0.6) ? elementwise() : reduction();
    if (out)
      tile::StoreOp::create(b, loc, alignedPlace(*out, type.getShape(), {row, column}, element), binary(own, pickLike(type)),
                            false, StringAttr(), StringAttr());
  };
  pool.assign({constant(b.getF32Type()), constant(b.getI32Type()), constant(tile::tileOf({height}, b.getF32Type()))});
  Array out = arrayOfRows({rows, columns}, element, true);
  Value first = arith::MulIOp::create(b, loc, pid, integer(height, 32), nsw), count = scalarArgument(b.getI32Type(), rows);
  if (dealt) {
    repeat(carried(random.below(3)), first, count, integer(height * programs, 32),
           [&](Value row) { work(wide(row), integer(0, 64), &out); });
  } else {
    Value end = scalarArgument(b.getI32Type(), uint64_t(columns)), start = integer(0, 32), step = integer(block, 32);
    for (int i = 0, n = 1 + int(random.below(3)); i < n; ++i)
      repeat(carried(random.below(3)), start, end, step,
             [&](Value at) { work(wide(first), wide(at), i + 1 == n ? &out : nullptr); });
  }
}

void Generator::wholeRowKernel() {
  auto nsw = arith::IntegerOverflowFlags::nsw;
  Type element = random.of(std::vector<Type>{b.getF32Type(), b.getF32Type(), b.getF16Type(), b.getBF16Type(), b.getI32Type()});
  int64_t programs = int64_t(program.grid[0]) * program.grid[1], height = random.chance(0.2) ? 2 : 1,
          size = random.of(std::vector<int64_t>{256, 512, 1024, 2048});
  int64_t rows = height * programs - random.below(height), columns = size - (random.chance(0.5) ? 8 * random.below(size / 8) : 0);
  auto type = RankedTensorType::get({height, size}, element);
  Value row = arith::ExtSIOp::create(b, loc, b.getI64Type(), arith::MulIOp::create(b, loc, pid, integer(height, 32), nsw)),
        column = integer(0, 64);
  pool.clear();
  for (int i = 0, n = 1 + int(random.below(2)); i < n; ++i) {
    Array input = arrayOfRows({rows, columns}, element, false);
    Value other = random.chance(0.6) ? constant(type) : Value();
    add(tile::LoadOp::create(b, loc, type, alignedPlace(input, type.getShape(), {row, column}, element), other, false,
                             StringAttr(), StringAttr()));
  }
  for (int i = 0, n = 1 + int(random.below(3)); i < n; ++i) {
    Value tile = pick([](Value v) { return tile::shapeOf(v.getType()).size() == 2; });
    Value each = rowsReduced(tile);
    add(each);
    elementwise();
    Value line = tile::ReshapeOp::create(b, loc, RankedTensorType::get({height, 1}, getElementTypeOrSelf(tile)), each);
    add(binary(tile, tile::BroadcastOp::create(b, loc, tile.getType(), line)));
    elementwise();
  }
  Array out = arrayOfRows({rows, columns}, element, true);
  tile::StoreOp::create(b, loc, alignedPlace(out, type.getShape(), {row, column}, element), pickLike(type), false, StringAttr(),
                        StringAttr());
}

} // namespace tilery::fuzz
