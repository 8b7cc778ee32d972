#include "compiler/block/recognise/map_boxes.h"
#include "compiler/block/recognise/place_polynomials.h"

using namespace mlir;

namespace tilery::block {

constexpr int64_t widestRow = 128, narrowestRow = 32, mostExtent = 256; // bytes of a swizzled row, elements of a box's dimension

MapType MappedTile::mapType() const { return MapType::get(element.getContext(), extents, element, swizzle); }
SharedType MappedTile::sharedType() const { return SharedType::get(element.getContext(), shape, element, {}); }

/// Boxes whose rows are as wide as a swizzle, if there is one that fits.
static bool chooseBoxes(MappedTile &tile) {
  int64_t bytes = tile::elementBytes(tile.element), &inner = tile.extents.back();
  if (tile.shape.size() > 1) { // lines lie as they are
    for (int64_t row = widestRow; row >= narrowestRow && tile.swizzle < narrowestRow; row /= 2)
      if (inner * bytes % row == 0)
        inner = row / bytes, tile.swizzle = row;
  }
  for (int64_t &extent : tile.extents)
    if (extent % mostExtent == 0)
      extent = mostExtent;
  return inner * bytes % 16 == 0 && llvm::all_of(tile.extents, [](int64_t extent) { return extent <= mostExtent; });
}

std::optional<MappedTile> coverBox(const Box &box, ArrayRef<int64_t> shape, Type element) {
  MappedTile tile{box, element, {}, 16, {}, {}};
  for (const BoxDimension &dimension : llvm::reverse(box.dimensions)) {
    tile.extents.push_back(dimension.tile < 0 ? 1 : shape[dimension.tile]);
    if (dimension.tile < 0)
      continue;
    tile.order.push_back(dimension.tile);
    tile.shape.push_back(tile.extents.back());
  }
  // Each dimension walks one of the tensor's.
  bool whole = int64_t(tile.order.size()) == llvm::count_if(shape, [](int64_t size) { return size != 1; });
  return whole && tile.element.isIntOrFloat() && chooseBoxes(tile) ? std::optional(tile) : std::nullopt;
}

std::optional<MappedTile> mapTile(tile::AccessOp access, std::string &why, ArrayRef<Value> live) {
  std::optional<Box> box = findBox(access, why, live);
  if (!box)
    return std::nullopt;
  std::optional<MappedTile> tile = coverBox(*box, access.getType().getShape(), access.getType().getElementType());
  if (!tile)
    why = "boxes of the copy engine do not cover it";
  return tile;
}

namespace {
/// The tensor's element `offset` behind the pointer, as elements of the tile's type.
Value pointerTo(OpBuilder &builder, Location location, Value base, Value offset, Type element) {
  if (offset)
    base = tile::AddPtrOp::create(builder, location, base, offset);
  if (auto pointer = cast<tile::PtrType>(base.getType()); pointer.getPointee() != element)
    base =
        tile::PtrCastOp::create(builder, location, tile::PtrType::get(builder.getContext(), element, pointer.getIsConst()), base);
  return base;
}

/// What a map on the device is made of.
class MadeMap {
public:
  MadeMap(OpBuilder &outside, OpBuilder &builder, Location location, const MappedTile &tile, AtomValue valueOf)
      : outside(outside), builder(builder), location(location), tile(tile), valueOf(valueOf) {}

  Value place() {
    Value offset = at(tile.box.offset);
    SmallVector<Value> extents, strides;
    for (const BoxDimension &dimension : llvm::reverse(tile.box.dimensions)) {
      Value below = dimension.shifts ? lowest(at(dimension.start)) : Value(); // 0 or negative
      Value stride = at(dimension.stride);
      if (below)
        offset = add(offset, arith::MulIOp::create(builder, location, below, stride));
      extents.push_back(extentOf(dimension, below));
      if (&dimension != &tile.box.dimensions.front()) // the innermost one's is 1
        strides.push_back(stride);
    }
    Value base = pointerTo(builder, location, valueOf(tile.box.base), offset, tile.element);
    return RemapOp::create(builder, location, tile.mapType(), stem(), base, extents, strides);
  }

private:
  Value at(const IndexPolynomial &polynomial) { return placePolynomial(builder, location, polynomial, valueOf); }
  Value number(OpBuilder &b, int64_t value) { return arith::ConstantOp::create(b, location, b.getI64IntegerAttr(value)); }
  Value add(Value x, Value y) { return arith::AddIOp::create(builder, location, x, y); }
  Value lowest(Value x) { return arith::MinSIOp::create(builder, location, x, number(builder, 0)); }

  /// At least 1: of an empty tensor the coordinates lie outside.
  Value extentOf(const BoxDimension &dimension, Value below) {
    Value extent = at(dimension.extent);
    if (dimension.extent.constant())
      return extent;
    if (below)
      extent = arith::SubIOp::create(builder, location, extent, below);
    return arith::MaxSIOp::create(builder, location, extent, number(builder, 1));
  }

  /// A map of one box.
  Value stem() {
    int64_t pitch = 1, line = 16 / tile::elementBytes(tile.element);
    SmallVector<Value> extents, strides;
    for (int64_t extent : llvm::reverse(tile.extents)) {
      extents.insert(extents.begin(), number(outside, extent));
      if (extents.size() > 1)
        strides.insert(strides.begin(), number(outside, pitch));
      pitch = llvm::alignTo(pitch * extent, line);
    }
    Value base = pointerTo(outside, location, tile.box.stem, {}, tile.element);
    return MapOp::create(outside, location, tile.mapType(), base, extents, strides);
  }

  OpBuilder &outside, &builder;
  Location location;
  const MappedTile &tile;
  AtomValue valueOf;
};
} // namespace

Value placeMap(OpBuilder &outside, OpBuilder &builder, Location location, const MappedTile &tile, AtomValue valueOf) {
  return tile.box.made ? MadeMap(outside, builder, location, tile, valueOf).place() : placeMap(outside, location, tile, valueOf);
}

Value placeMap(OpBuilder &builder, Location location, const MappedTile &tile, AtomValue valueOf) {
  auto place = [&](const IndexPolynomial &polynomial) { return placePolynomial(builder, location, polynomial, valueOf); };
  Value offset = tile.box.offset.isZero() ? Value() : place(tile.box.offset);
  Value base = pointerTo(builder, location, valueOf(tile.box.base), offset, tile.element);
  SmallVector<Value> extents, strides;
  for (const BoxDimension &dimension : llvm::reverse(tile.box.dimensions)) {
    extents.push_back(place(dimension.extent));
    if (&dimension != &tile.box.dimensions.front()) // the innermost one's is 1
      strides.push_back(place(dimension.stride));
  }
  return MapOp::create(builder, location, tile.mapType(), base, extents, strides);
}

Value placeGuards(OpBuilder &builder, Location location, const Box &box, AtomValue valueOf) {
  Value all;
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(builder, location, builder.getI64IntegerAttr(value));
  };
  auto ask = [&](Value value, int64_t divisor) {
    if (divisor) // a power of two
      value = arith::AndIOp::create(builder, location, value, number(divisor - 1));
    auto predicate = divisor ? arith::CmpIPredicate::eq : arith::CmpIPredicate::sge;
    Value kept = arith::CmpIOp::create(builder, location, predicate, value, number(0));
    all = all ? Value(arith::AndIOp::create(builder, location, all, kept)) : kept;
  };
  for (const BoxCondition &guard : box.guards)
    ask(placePolynomial(builder, location, guard.value, valueOf), guard.divisor);
  if (box.guardsBase) {
    Value base = valueOf(box.base);
    if (!box.offset.isZero())
      base = tile::AddPtrOp::create(builder, location, base, placePolynomial(builder, location, box.offset, valueOf));
    ask(tile::PtrToIntOp::create(builder, location, builder.getI64Type(), base), 16);
  }
  return all;
}

/// True if the kernel asks for it already.
static bool isRequired(Block &block, const BoxCondition &condition) {
  return llvm::any_of(block.getOps<RequireOp>(), [&](RequireOp op) {
    return int64_t(op.getDivisor().value_or(0)) == condition.divisor &&
           analysis::polynomialOf(op.getNumber(), analysis::Wrapping::address) == condition.value;
  });
}

void placeConditions(OpBuilder &builder, Location location, const Box &box) {
  auto same = [](Value atom) { return atom; };
  for (const BoxCondition &condition : box.conditions) {
    if (isRequired(*builder.getBlock(), condition))
      continue;
    Value number = placePolynomial(builder, location, condition.value, same);
    RequireOp::create(builder, location, number,
                      condition.divisor ? builder.getI64IntegerAttr(condition.divisor) : IntegerAttr());
  }
}

/// Where all coordinates mean the first: 0.
static Value unlessRepeated(OpBuilder &builder, Location location, const BoxDimension &dimension, Value start,
                            AtomValue valueOf) {
  if (!dimension.mayRepeat || dimension.stride.constant())
    return start;
  auto number = [&](TypedAttr value) { return arith::ConstantOp::create(builder, location, value); };
  Value stride = placePolynomial(builder, location, dimension.stride, valueOf);
  Value repeats =
      arith::CmpIOp::create(builder, location, arith::CmpIPredicate::eq, stride, number(builder.getI64IntegerAttr(0)));
  return arith::SelectOp::create(builder, location, repeats, number(builder.getI32IntegerAttr(0)), start);
}

/// Of a map made on the device: not negative where the base has moved, and outside of a tensor without elements.
static Value withinMade(OpBuilder &builder, Location location, const BoxDimension &dimension, Value start, AtomValue valueOf) {
  auto number = [&](int32_t value) { return arith::ConstantOp::create(builder, location, builder.getI32IntegerAttr(value)); };
  if (dimension.shifts)
    start = arith::MaxSIOp::create(builder, location, start, number(0));
  if (dimension.extent.constant() || analysis::hostKnows(dimension.extent))
    return start;
  Value extent = placePolynomial(builder, location, dimension.extent, valueOf);
  Value none = arith::ConstantOp::create(builder, location, builder.getI64IntegerAttr(0));
  Value empty = arith::CmpIOp::create(builder, location, arith::CmpIPredicate::sle, extent, none);
  return arith::SelectOp::create(builder, location, empty, number(1 << 30), start);
}

/// A coordinate of 32 bits: where the number has more, one as far outside of the tensor, in front of it or behind it.
static Value withinBits(OpBuilder &builder, Location location, Value start) {
  constexpr int64_t low = -(int64_t(1) << 30), high = (int64_t(1) << 31) - 2 * mostExtent; // lanes are added to it
  auto number = [&](int64_t value) { return arith::ConstantOp::create(builder, location, builder.getI64IntegerAttr(value)); };
  start = arith::MaxSIOp::create(builder, location, start, number(low));
  start = arith::MinSIOp::create(builder, location, start, number(high));
  return arith::TruncIOp::create(builder, location, builder.getI32Type(), start);
}

SmallVector<Value> placeCoords(OpBuilder &builder, Location location, const MappedTile &tile, AtomValue valueOf) {
  SmallVector<Value> coords;
  for (const BoxDimension &dimension : llvm::reverse(tile.box.dimensions)) {
    Value start = placePolynomial(builder, location, dimension.start, valueOf, dimension.isLoaded ? 64 : 32);
    if (dimension.isLoaded)
      start = withinBits(builder, location, start);
    coords.push_back(
        unlessRepeated(builder, location, dimension, withinMade(builder, location, dimension, start, valueOf), valueOf));
  }
  return coords;
}

SmallVector<Value> movedCoords(OpBuilder &builder, Location location, const Box &box, ArrayRef<Value> corner, int64_t row,
                               int64_t column) {
  SmallVector<Value> coords(corner);
  for (auto [coord, dimension] : llvm::zip(llvm::reverse(coords), box.dimensions))
    if (int64_t by = dimension.tile == 0 ? row : dimension.tile == 1 ? column : 0)
      coord = arith::AddIOp::create(builder, location, coord,
                                    arith::ConstantOp::create(builder, location, builder.getI32IntegerAttr(int32_t(by))));
  return coords;
}

} // namespace tilery::block
