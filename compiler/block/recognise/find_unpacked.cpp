#include "compiler/block/recognise/find_unpacked.h"
#include "compiler/analysis/search.h"
#include "compiler/block/ir/gpu.h"
#include "compiler/block/recognise/find_fetch.h"
#include "compiler/ir/zero.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace tilery::block {

int64_t UnpackedFactor::bytes() const {
  int64_t bytes = 0;
  for (const UnpackedSource &source : sources)
    bytes +=
        llvm::alignTo(ShapedType::getNumElements(source.tile.shape) * tile::elementBytes(source.tile.element), slotAlignment);
  return bytes;
}

/// The loads in `body` that the tile is computed from.
static SmallVector<tile::LoadOp> loadsBelow(Value tile, Block &body) {
  SmallVector<tile::LoadOp> loads;
  for (analysis::Search<Value> values(tile); Value value = values.next();) {
    Operation *op = value.getDefiningOp();
    if (!op || op->getBlock() != &body)
      continue;
    if (auto load = dyn_cast<tile::LoadOp>(op))
      loads.push_back(load);
    else
      values.addAll(op->getOperands());
  }
  return loads;
}

/// The box that the load's tile is, one piece in shared memory of a tile's or a line's shape.
static std::optional<MappedTile> sourceOf(tile::LoadOp load, std::string &why) {
  auto access = load.getPlace().getDefiningOp<tile::AccessOp>();
  auto type = dyn_cast<RankedTensorType>(load.getType());
  if (!access || !type || load.getIsVolatile() || (load.getOther() && !tile::isPlusZero(load.getOther()))) {
    why = "its lanes are no box";
    return std::nullopt;
  }
  std::optional<MappedTile> mapped = mapTile(access, why);
  if (!mapped || mapped->box.made || mapped->shape.empty() || mapped->shape.size() > 2)
    return std::nullopt;
  constexpr int64_t swizzled = 8; // rows after which a swizzle begins again
  bool isWhole = mapped->shape.size() == 2 ? mapped->shape[0] % swizzled == 0 : mapped->extents.back() == mapped->shape[0];
  return isWhole ? mapped : std::nullopt;
}

std::optional<UnpackedFactor> findUnpacked(tile::ContractOp contract, Value factor, std::string &why) {
  SmallVector<tile::LoadOp> loads = loadsBelow(factor, contract.getBody().front());
  UnpackedFactor found;
  int64_t others = 0; // bytes that threads load
  for (tile::LoadOp load : loads) {
    auto type = dyn_cast<RankedTensorType>(load.getType());
    if (!type || load.getResult() == factor)
      continue;
    if (std::optional<MappedTile> tile = sourceOf(load, why)) {
      found.sources.push_back({load, *tile});
      continue;
    }
    found.byThreads.push_back(load);
    others += differentElements(load) * tile::elementBytes(type.getElementType());
  }
  constexpr int64_t few = 4; // of what comes as boxes, a part that threads may wait for: scales of groups
  return !found.sources.empty() && few * others <= found.bytes() ? std::optional(found) : std::nullopt;
}

void copyInto(OpBuilder &builder, Value value, Block &body, IRMapping &copies) {
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != &body || copies.contains(value))
    return;
  for (Value operand : op->getOperands())
    copyInto(builder, operand, body, copies);
  builder.clone(*op, copies);
}

void UnpackedParts::placeMaps(OpBuilder &outside, Location location) {
  auto same = [](Value atom) { return atom; };
  for (const UnpackedSource &source : factor.sources) {
    placeConditions(outside, location, source.tile.box);
    maps.push_back(placeMap(outside, location, source.tile, same));
  }
}

void UnpackedParts::copy(OpBuilder &builder, Location location, size_t source, Value part, IRMapping &step) {
  auto ofStep = [&](Value atom) {
    copyInto(builder, atom, contract.getBody().front(), step);
    return step.lookupOrDefault(atom);
  };
  SmallVector<Value> coords = placeCoords(builder, location, factor.sources[source].tile, ofStep);
  CopyOp::create(builder, factor.sources[source].load.getLoc(), maps[source], coords, part);
}

void UnpackedParts::read(OpBuilder &builder, Location location, size_t source, Value part, IRMapping &step) {
  const UnpackedSource &each = factor.sources[source];
  if (each.tile.shape.size() == 2 && each.tile.order[0] == 1)
    part = TransposeOp::create(builder, location, part);
  auto type = cast<RankedTensorType>(cast<SharedType>(part.getType()).getTileType());
  Value tile = ReadOp::create(builder, location, type, part, IntegerAttr());
  if (type.getShape() != tile::shapeOf(each.load.getType()))
    tile = tile::ReshapeOp::create(builder, location, each.load.getType(), tile);
  step.map(each.load.getResult(), tile);
}

} // namespace tilery::block
