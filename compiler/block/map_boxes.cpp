#include "compiler/block/map_boxes.h"
#include "compiler/block/place_polynomials.h"

using namespace mlir;

namespace tilery::block {

constexpr int64_t widestRow = 128, mostExtent = 256; // bytes of a swizzled row, elements of a box's dimension

MapType MappedTile::mapType() const { return MapType::get(element.getContext(), extents, element, swizzle); }
SharedType MappedTile::sharedType() const { return SharedType::get(element.getContext(), shape, element, {}); }

/// Boxes whose rows are as wide as a swizzle, if there is one that fits.
static bool chooseBoxes(MappedTile &tile) {
  int64_t bytes = tile::elementBytes(tile.element), &inner = tile.extents.back();
  if (tile.shape.size() > 1) { // lines lie as they are
    if (inner * bytes % widestRow == 0)
      inner = widestRow / bytes;
    if (llvm::is_contained({32, 64, 128}, inner * bytes))
      tile.swizzle = inner * bytes;
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

Value placeMap(OpBuilder &builder, Location location, const MappedTile &tile, AtomValue valueOf) {
  auto place = [&](const IndexPolynomial &polynomial) { return placePolynomial(builder, location, polynomial, valueOf); };
  Value base = valueOf(tile.box.base);
  if (!tile.box.offset.isZero())
    base = tile::AddPtrOp::create(builder, location, base, place(tile.box.offset));
  if (auto pointer = cast<tile::PtrType>(base.getType()); pointer.getPointee() != tile.element)
    base = tile::PtrCastOp::create(builder, location,
                                   tile::PtrType::get(builder.getContext(), tile.element, pointer.getIsConst()), base);
  SmallVector<Value> extents, strides;
  for (const BoxDimension &dimension : llvm::reverse(tile.box.dimensions)) {
    extents.push_back(place(dimension.extent));
    if (&dimension != &tile.box.dimensions.front()) // the innermost one's is 1
      strides.push_back(place(dimension.stride));
  }
  return MapOp::create(builder, location, tile.mapType(), base, extents, strides);
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

SmallVector<Value> placeCoords(OpBuilder &builder, Location location, const MappedTile &tile, AtomValue valueOf) {
  SmallVector<Value> coords;
  for (const BoxDimension &dimension : llvm::reverse(tile.box.dimensions)) {
    Value start = placePolynomial(builder, location, dimension.start, valueOf, 32);
    coords.push_back(unlessRepeated(builder, location, dimension, start, valueOf));
  }
  return coords;
}

} // namespace tilery::block
