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
  if (inner * bytes % widestRow == 0)
    inner = widestRow / bytes;
  if (llvm::is_contained({32, 64, 128}, inner * bytes))
    tile.swizzle = inner * bytes;
  for (int64_t &extent : tile.extents)
    if (extent % mostExtent == 0)
      extent = mostExtent;
  return inner * bytes % 16 == 0 && llvm::all_of(tile.extents, [](int64_t extent) { return extent <= mostExtent; });
}

std::optional<MappedTile> mapTile(tile::AccessOp access, std::string &why, ArrayRef<Value> live) {
  std::optional<Box> box = findBox(access, why, live);
  if (!box)
    return std::nullopt;
  MappedTile tile{*box, access.getType().getElementType(), {}, 16, {}, {}};
  for (const BoxDimension &dimension : llvm::reverse(box->dimensions)) {
    tile.extents.push_back(dimension.tile < 0 ? 1 : access.getType().getShape()[dimension.tile]);
    if (dimension.tile < 0)
      continue;
    tile.order.push_back(dimension.tile);
    tile.shape.push_back(tile.extents.back());
  }
  bool whole = tile.order.size() == size_t(access.getType().getRank()); // each dimension walks one of the tensor's
  if (whole && tile.element.isIntOrFloat() && chooseBoxes(tile))
    return tile;
  why = "boxes of the copy engine do not cover it";
  return std::nullopt;
}

Value placeMap(OpBuilder &builder, Location location, const MappedTile &tile, AtomValue valueOf) {
  auto place = [&](const IndexPolynomial &polynomial) { return placePolynomial(builder, location, polynomial, valueOf); };
  Value base = valueOf(tile.box.base);
  if (!tile.box.offset.isZero())
    base = tile::AddPtrOp::create(builder, location, base, place(tile.box.offset));
  SmallVector<Value> extents, strides;
  for (const BoxDimension &dimension : llvm::reverse(tile.box.dimensions)) {
    extents.push_back(place(dimension.extent));
    if (&dimension != &tile.box.dimensions.front()) // the innermost one's is 1
      strides.push_back(place(dimension.stride));
  }
  return MapOp::create(builder, location, tile.mapType(), base, extents, strides);
}

SmallVector<Value> placeCoords(OpBuilder &builder, Location location, const MappedTile &tile, AtomValue valueOf) {
  SmallVector<Value> coords;
  for (const BoxDimension &dimension : llvm::reverse(tile.box.dimensions)) {
    Value start = placePolynomial(builder, location, dimension.start, valueOf);
    coords.push_back(arith::TruncIOp::create(builder, location, builder.getI32Type(), start));
  }
  return coords;
}

} // namespace tilery::block
