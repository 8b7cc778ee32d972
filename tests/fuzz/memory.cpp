// Arguments and accesses.
#include "generator.h"
#include "compiler/oracle/element.h"
#include <cmath>

using namespace mlir;

namespace tilery::fuzz {

Value Generator::scalarArgument(Type type, uint64_t slot) {
  program.args.push_back({type, slot, {}, false});
  return entry->addArgument(type, loc);
}

static void fill(Random &random, oracle::Element e, std::vector<uint8_t> &data) {
  bool small = random.chance(0.5), special = random.chance(0.2);
  for (size_t at = 0; at + e.bytes() <= data.size(); at += e.bytes()) {
    uint64_t lane;
    if (e.isFloat()) {
      double value =
          small ? double(random.below(17) - 8) / 4 : std::ldexp(double(int64_t(random.bits() >> 11) - (int64_t(1) << 52)), -50);
      if (special && random.chance(0.05))
        value = random.of(std::vector<double>{NAN, INFINITY, -INFINITY, 1e-40, -1e30, 65504, 1e-7});
      lane = oracle::encode(e, value);
    } else
      lane = e.width == 1 ? random.bits() & 1 : small ? uint64_t(random.below(41) - 20) : random.bits();
    oracle::writeElement(e, data.data() + at, lane);
  }
}

Generator::Array Generator::makeArray(ArrayRef<int64_t> shape, Type element, bool written, bool exact) {
  Array array;
  int64_t programs = int64_t(program.grid[0]) * program.grid[1], size = 1;
  for (auto [d, tile] : llvm::enumerate(shape)) {
    int64_t extent = d == 0 ? programs * tile - random.below(tile) : random.chance(0.5) ? tile : 1 + random.below(tile + 3);
    array.extents.push_back(exact ? tile : std::max<int64_t>(extent, 1));
  }
  array.strides.resize(shape.size());
  for (int d = int(shape.size()) - 1; d >= 0; --d) {
    array.strides[d] = size;
    size *= array.extents[d] + (!exact && random.chance(0.3) ? random.below(5) : 0);
  }
  Argument argument{tile::PtrType::get(b.getContext(), element, false), 0, {}, written};
  oracle::Element e = oracle::elementOf(element);
  argument.data.resize(2 * guardBytes + std::max<int64_t>(size, programs) * e.bytes(), 0xA5);
  if (!written) {
    std::vector<uint8_t> middle(argument.data.size() - 2 * guardBytes);
    fill(random, e, middle);
    std::copy(middle.begin(), middle.end(), argument.data.begin() + guardBytes);
  }
  Type type = argument.type;
  program.args.push_back(std::move(argument));
  array.pointer = entry->addArgument(type, loc);
  for (int64_t extent : array.extents)
    array.extentValues.push_back(random.chance(0.6) ? scalarArgument(b.getI64Type(), uint64_t(extent)) : integer(extent, 64));
  return array;
}

Value Generator::start(int64_t rows, unsigned width) {
  Value base = pid;
  if (width == 64)
    base = arith::ExtSIOp::create(b, loc, b.getI64Type(), base);
  return arith::MulIOp::create(b, loc, base, integer(rows, width), arith::IntegerOverflowFlags::nsw);
}

// One address a lane, as pointer programs write it.
Value Generator::pointerPlace(const Array &array, ArrayRef<int64_t> shape, Type element, bool forStore) {
  auto nsw = arith::IntegerOverflowFlags::nsw;
  unsigned width = random.chance(0.7) ? 32 : 64;
  Type index = b.getIntegerType(width);
  Value offset, mask;
  for (auto [d, size] : llvm::enumerate(shape)) {
    auto line = RankedTensorType::get({size}, index);
    Value at = tile::RangeOp::create(b, loc, RankedTensorType::get({size}, b.getI32Type()), 0, size);
    if (width == 64)
      at = arith::ExtSIOp::create(b, loc, line, at);
    if (d == 0)
      at = arith::AddIOp::create(b, loc, tile::SplatOp::create(b, loc, line, start(size, width)), at, nsw);
    Value extent = array.extentValues[d];
    if (width == 32)
      extent = arith::TruncIOp::create(b, loc, index, extent);
    Value limit = tile::SplatOp::create(b, loc, line, extent), inside;
    if (!forStore && random.chance(0.2)) // wraps around instead of being masked
      at = tile::RemOp::create(b, loc, line, at, limit, random.chance(0.5) ? tile::IntDivMode::floor : tile::IntDivMode::trunc);
    else if (d == 0 || array.extents[d] < size || random.chance(0.5))
      inside = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, at, limit);
    Value term = at;
    if (array.strides[d] != 1) {
      Value stride = random.chance(0.5) ? scalarArgument(index, uint64_t(array.strides[d])) : integer(array.strides[d], width);
      term = arith::MulIOp::create(b, loc, at, tile::SplatOp::create(b, loc, line, stride), nsw);
    }
    Shape thin(shape.size(), 1);
    thin[d] = size;
    auto spread = [&](Value v) {
      Type e = getElementTypeOrSelf(v.getType());
      v = tile::ReshapeOp::create(b, loc, RankedTensorType::get(thin, e), v);
      return Value(tile::BroadcastOp::create(b, loc, RankedTensorType::get(shape, e), v));
    };
    offset = offset ? Value(arith::AddIOp::create(b, loc, offset, spread(term), nsw)) : spread(term);
    if (inside)
      mask = mask ? Value(arith::AndIOp::create(b, loc, mask, spread(inside))) : spread(inside);
  }
  Value pointers = tile::SplatOp::create(b, loc, RankedTensorType::get(shape, array.pointer.getType()), array.pointer);
  pointers = tile::AddPtrOp::create(b, loc, pointers, offset);
  return tile::PointerAccessOp::create(b, loc, tile::AccessType::get(shape, element), pointers, mask);
}

Value Generator::accessPlace(const Array &array, ArrayRef<int64_t> shape, Type element) {
  SmallVector<Value> steps, bounds;
  SmallVector<int32_t> kinds;
  Value first = start(shape[0], 64), zero = integer(0, 64);
  Value offset = arith::MulIOp::create(b, loc, first, integer(array.strides[0], 64));
  for (auto [d, size] : llvm::enumerate(shape)) {
    auto line = RankedTensorType::get({size}, b.getI64Type());
    Value stride = integer(array.strides[d], 64);
    Value hi = array.extentValues[d];
    if (d == 0)
      hi = arith::SubIOp::create(b, loc, hi, first);
    Value at = tile::RangeOp::create(b, loc, RankedTensorType::get({size}, b.getI32Type()), 0, size);
    at = arith::ExtSIOp::create(b, loc, line, at);
    if (random.chance(0.3))
      stride = arith::MulIOp::create(b, loc, at, tile::SplatOp::create(b, loc, line, stride));
    steps.push_back(stride);
    if (random.chance(0.3)) {
      kinds.push_back(2);
      bounds.push_back(arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, at, tile::SplatOp::create(b, loc, line, hi)));
    } else {
      kinds.push_back(1);
      bounds.push_back(zero);
      bounds.push_back(hi);
    }
  }
  Value residual;
  if (random.chance(0.15))
    residual = condition();
  return tile::AccessOp::create(b, loc, tile::AccessType::get(shape, element), array.pointer, offset, steps, bounds, residual,
                                kinds);
}

Value Generator::viewPlace(const Array &array, ArrayRef<int64_t> shape, Type element) {
  SmallVector<Value> strides, starts, dilations;
  SmallVector<int64_t> dims;
  Value one = integer(1, 64);
  for (size_t d = 0; d < shape.size(); ++d) {
    strides.push_back(random.chance(0.5) ? scalarArgument(b.getI64Type(), uint64_t(array.strides[d]))
                                         : integer(array.strides[d], 64));
    starts.push_back(d == 0 ? start(shape[0], 64) : integer(0, 64));
    dilations.push_back(one);
    dims.push_back(int64_t(d));
  }
  Value root = tile::RootOp::create(b, loc, tile::RootType::get(int64_t(shape.size()), element), array.pointer,
                                    array.extentValues, strides);
  return tile::ViewOp::create(b, loc, tile::ViewType::get(shape, element), root, starts, dilations, ValueRange(), dims);
}

Value Generator::place(const Array &array, ArrayRef<int64_t> shape, Type element, bool forStore) {
  if (shape.empty()) // a scalar of the program's own
    return tile::PointerAccessOp::create(b, loc, tile::AccessType::get(shape, element),
                                         tile::AddPtrOp::create(b, loc, array.pointer, pid), Value());
  switch (style) {
  case Style::Pointers:
    return pointerPlace(array, shape, element, forStore);
  case Style::Views:
  case Style::Buffers:
    return viewPlace(array, shape, element);
  case Style::All:
    break;
  }
  switch (random.below(3)) {
  case 0:
    return viewPlace(array, shape, element);
  case 1:
    return accessPlace(array, shape, element);
  default:
    return pointerPlace(array, shape, element, forStore);
  }
}

Value Generator::load(ArrayRef<int64_t> shape, Type element) {
  ++loads;
  Array array = makeArray(shape, element, false);
  Value at = place(array, shape, element, false), other;
  Type type = tile::tileOf(shape, element);
  if (!shape.empty() && random.chance(0.3))
    other = constant(type);
  return tile::LoadOp::create(b, loc, type, at, other, false, StringAttr(), StringAttr());
}

void Generator::store(Value value) {
  Shape shape(tile::shapeOf(value.getType()));
  Type element = getElementTypeOrSelf(value.getType());
  Array array = makeArray(shape, element, true);
  tile::StoreOp::create(b, loc, place(array, shape, element, true), value, false, StringAttr(), StringAttr());
}

// A histogram in memory: integer additions commute, so that the order of programs does not show.
void Generator::atomic() {
  Value x = pick([](Value v) { return getElementTypeOrSelf(v.getType()).isInteger(32) && isa<RankedTensorType>(v.getType()); });
  if (!x || style == Style::Views)
    return;
  Shape shape(tile::shapeOf(x.getType()));
  Type element = random.chance(0.7) ? b.getI32Type() : b.getI64Type();
  Argument argument{tile::PtrType::get(b.getContext(), element, false), 0, std::vector<uint8_t>(2 * guardBytes + 16 * 8, 0),
                    true};
  program.args.push_back(argument);
  Value pointer = entry->addArgument(argument.type, loc);
  auto constantTile = [&](int64_t v) {
    return arith::ConstantOp::create(b, loc, DenseElementsAttr::get(cast<ShapedType>(x.getType()), b.getI32IntegerAttr(v)));
  };
  Value bin = arith::AndIOp::create(b, loc, x, constantTile(15));
  Value pointers =
      tile::AddPtrOp::create(b, loc, tile::SplatOp::create(b, loc, RankedTensorType::get(shape, argument.type), pointer), bin);
  Value mask;
  if (random.chance(0.5))
    mask = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, bin, constantTile(11));
  Value at = tile::PointerAccessOp::create(b, loc, tile::AccessType::get(shape, element), pointers, mask);
  Type type = tile::tileOf(shape, element);
  tile::AtomicRmwOp::create(b, loc, type, tile::RmwKind::add, at, convert(x, element), tile::MemoryOrder::acq_rel,
                            tile::SyncScope::gpu);
}

} // namespace tilery::fuzz
