// Verifiers of the ops in BlockCopy.td.
#include "compiler/analysis/integer_op.h"
#include "compiler/block/ir/Block.h"
#include "compiler/block/ir/uses.h"
#include "compiler/block/forms/memory.h"

using namespace mlir;
using namespace tilery;
using namespace tilery::block;

std::optional<SmallVector<int, 5>> block::walkedDimensions(MapType map, ArrayRef<int64_t> shape) {
  SmallVector<int, 5> dims(shape.size(), -1);
  unsigned next = 0;
  for (auto [d, extent] : llvm::enumerate(map.getBox())) {
    if (extent == 1)
      continue;
    while (next < shape.size() && shape[next] == 1)
      ++next;
    if (next == shape.size() || shape[next] % extent)
      return std::nullopt;
    dims[next++] = d;
  }
  for (; next < shape.size(); ++next)
    if (shape[next] != 1)
      return std::nullopt;
  return dims;
}

/// How the copy engine leaves a box in shared memory, as part of a tile of `rank`; nothing if it cannot.
static std::optional<layout::Layout> boxLayout(MapType map, ArrayRef<int> dims, unsigned elementBytes) {
  SmallVector<layout::Layout::Output, 2> outputs;
  for (auto [d, from] : llvm::enumerate(dims))
    outputs.push_back({layout::dim(d), from < 0 ? 1 : map.getBox()[from]});
  int64_t outer = 1, inner = map.getBox().back();
  for (int64_t extent : map.getBox().drop_back())
    outer *= extent;
  auto swizzle = layout::Swizzle(map.getSwizzle());
  if (swizzle != layout::Swizzle::None && (inner * elementBytes != map.getSwizzle() || outer % 8))
    return std::nullopt;
  layout::Layout rows(outputs);
  for (unsigned d = outputs.size(); d-- > 0;) {
    layout::Layout::Vector step(outputs.size(), 0);
    step[d] = 1;
    bool isInner = dims[d] == int(map.getRank()) - 1;
    rows.add(layout::dim(isInner ? 1 : 0), outputs[d].extent, step);
  }
  return compose(rows, copyBox(outer, inner, elementBytes, swizzle));
}

/// One box after the other, in any order, as the copy engine leaves them.
static bool isMadeOfBoxes(const layout::Layout &memory, const layout::Layout &box) {
  std::optional<layout::Layout> order = divide(memory, box);
  return order &&
         llvm::all_of(order->digits(layout::Offset), [](const auto &digit) { return !digit.hasFlips() && !digit.isZero(); });
}

static LogicalResult checkBoxes(Operation *op, MapType map, OperandRange coords, SharedType shared) {
  if (coords.size() != size_t(map.getRank()))
    return op->emitOpError() << "needs a coordinate for each of the map's " << map.getRank() << " dimensions";
  if (map.getElementType() != shared.getElementType())
    return op->emitOpError() << "moves " << map.getElementType() << ", but the tile is of " << shared.getElementType();
  auto dims = walkedDimensions(map, shared.getShape());
  if (!dims)
    return op->emitOpError() << "boxes of " << map << " do not cover a tile of " << shared.getTileType();
  if (!shared.getLayout())
    return success();
  auto box = boxLayout(map, *dims, tile::elementBytes(map.getElementType()));
  if (!box || !isMadeOfBoxes(shared.getLayout().getLayout(), *box))
    return op->emitOpError() << "boxes of " << map << " do not lie in shared memory as " << shared.getLayout() << " says";
  return success();
}

/// The destination is part of a slot that the same role fills.
static LogicalResult checkFilled(Operation *op, Value to) {
  auto part = to.getDefiningOp<PartOp>();
  if (!part || !part.getSlot().getDefiningOp<AcquireOp>())
    return op->emitOpError("fills a part of an acquired slot");
  return success();
}

LogicalResult CopyOp::verify() {
  if (failed(checkFilled(*this, getTo())))
    return failure();
  return checkBoxes(*this, getMap().getType(), getCoords(), getTo().getType());
}

LogicalResult CopyFlatOp::verify() {
  SharedType to = getTo().getType();
  if (to.getRank() != 1 || to.getElementType() != getBase().getType().getPointee())
    return emitOpError("fills a tile of rank 1 of the pointer's elements");
  std::optional<int64_t> bytes = analysis::constantOf(getBytes());
  if (bytes && (*bytes % 16 || *bytes < 0 || *bytes > to.getBytes()))
    return emitOpError() << "moves a multiple of 16 bytes, of at most " << to.getBytes() << ", not " << *bytes;
  return checkFilled(*this, getTo());
}

LogicalResult FetchOp::verify() {
  Type type = getPlace().getType();
  auto access = dyn_cast<tile::AccessType>(type);
  Type wanted = access ? access.getTileType() : cast<tile::ViewType>(type).getTileType();
  if (wanted != getTo().getType().getTileType())
    return emitOpError() << "moves " << wanted << " into " << getTo().getType().getTileType();
  return checkFilled(*this, getTo());
}

LogicalResult StoreBoxOp::verify() {
  if (failed(checkBoxes(*this, getMap().getType(), getCoords(), getShared().getType())))
    return failure();
  if (getAdd() && !getMap().getType().getElementType().isF32())
    return emitOpError("adds f32 only");
  for (Operation *user : getShared().getUsers())
    if (isa<WriteOp>(user) && precedes(user, *this))
      return success();
  return emitOpError("stores a tile that no `write` before it has written");
}
