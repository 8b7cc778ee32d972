// What has no tile form: thread after thread, with what each brings and takes in buffers.
#include "compiler/passes/thread_conversion.h"

using namespace mlir;
using namespace tilery;
using namespace tilery::tile;

namespace {

/// The scalar form of an element in a buffer: booleans are bytes there.
Type stored(Type type) { return type.isInteger(1) ? IntegerType::get(type.getContext(), 8) : type; }

/// A loop over the box in which each point finds its lane of tiles.
class Points {
public:
  Points(OpBuilder &builder, Location loc, ArrayRef<int64_t> box) : builder(builder), loc(loc), box(box) {}

  /// Keeps a tile of the box's rank; call before `begin`.
  Value keep(Value tile) {
    auto type = cast<RankedTensorType>(tile.getType());
    Type element = stored(type.getElementType());
    auto kept = RankedTensorType::get(type.getShape(), element);
    if (kept != type)
      tile = arith::ExtUIOp::create(builder, loc, kept, tile);
    Value buffer = AllocOp::create(builder, loc, BufferType::get(type.getShape(), element, Space::local));
    BufferStoreOp::create(builder, loc, buffer, tile, Value());
    return buffer;
  }
  Value allocate(Type type) { return AllocOp::create(builder, loc, BufferType::get(box, stored(type), Space::local)); }
  void begin() {
    SmallVector<Value> extents;
    for (int64_t n : box)
      extents.push_back(arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(n)));
    parallel = ParallelOp::create(builder, loc, extents);
    Block &body = parallel.getBody().emplaceBlock();
    for (Value extent : extents)
      body.addArgument(extent.getType(), loc);
    builder.setInsertionPointToStart(&body);
    YieldOp::create(builder, loc, ValueRange());
    builder.setInsertionPointToStart(&body);
  }
  Value load(Value buffer, Type type) {
    auto shape = cast<BufferType>(buffer.getType()).getShape();
    Value value = ElementLoadOp::create(builder, loc, stored(type), buffer, at(shape));
    if (value.getType() == type)
      return value;
    Value zero = arith::ConstantOp::create(builder, loc, builder.getI8IntegerAttr(0));
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, value, zero);
  }
  void store(Value buffer, Value value) {
    if (value.getType().isInteger(1))
      value = arith::ExtUIOp::create(builder, loc, builder.getI8Type(), value);
    ElementStoreOp::create(builder, loc, buffer, at(box), value);
  }
  void end() { builder.setInsertionPointAfter(parallel); }
  Value tile(Value buffer, Type type) {
    auto kept = cast<BufferType>(buffer.getType());
    Value tile = BufferLoadOp::create(builder, loc, kept.getTileType(), buffer);
    if (kept.getElementType() == type)
      return tile;
    Value zero = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(tile.getType()));
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, tile, zero);
  }
  SmallVector<Value> at(ArrayRef<int64_t> shape) {
    SmallVector<Value> indices;
    Value zero;
    for (auto [n, position] : llvm::zip(shape, parallel.getBody().getArguments())) {
      if (n == 1 && !zero)
        zero = arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(0));
      indices.push_back(n == 1 ? zero : Value(position));
    }
    return indices;
  }

private:
  OpBuilder &builder;
  Location loc;
  ArrayRef<int64_t> box;
  ParallelOp parallel;
};

/// The place that an access names, where it is made for this access.
Operation *placeOf(Operation *op) {
  return isa<LoadOp, StoreOp, AtomicRmwOp, AtomicCasOp>(op) ? op->getOperand(0).getDefiningOp() : nullptr;
}

} // namespace

bool ThreadConversion::serialise(Operation &inner) {
  if (inner.getNumRegions() || isa<DotOp, SortOp, HistogramOp>(inner))
    return refuse(&inner, "this cannot be done by single threads of a block on this target");
  Location loc = inner.getLoc();
  Points points(builder, loc, box);
  SmallVector<Operation *> ops;
  if (Operation *place = placeOf(&inner); place && op->isProperAncestor(place) && isa<ViewOp, PointerAccessOp>(place))
    ops.push_back(place);
  ops.push_back(&inner);
  llvm::MapVector<Value, Value> kept;
  for (Operation *part : ops)
    for (Value operand : part->getOperands()) {
      if (own.contains(operand) || isa_and_present<ViewOp, PointerAccessOp>(operand.getDefiningOp()))
        continue;
      Value found = lookup(operand);
      if (auto type = dyn_cast<RankedTensorType>(found.getType()); type && !isa<RankedTensorType>(operand.getType())) {
        if (isa<PtrType>(type.getElementType()))
          return refuse(&inner, "an address that differs between the threads of a block cannot be followed here");
        kept[operand] = points.keep(found);
      }
    }
  Value exists = mask && isa<RankedTensorType>(mask.getType()) ? points.keep(mask) : Value();
  SmallVector<Value> results;
  for (Type type : inner.getResultTypes())
    results.push_back(points.allocate(type));
  points.begin();
  Value condition = exists ? points.load(exists, builder.getI1Type()) : mask;
  if (condition) {
    auto branch = scf::IfOp::create(builder, loc, condition, false);
    builder.setInsertionPointToStart(branch.thenBlock());
  }
  IRMapping inside = map;
  for (auto [value, buffer] : kept)
    inside.map(value, points.load(buffer, value.getType()));
  SmallVector<Value> part = points.at(ArrayRef(box).take_front(threadDims)); // of what a thread has for itself
  for (unsigned d = 0; d < threadDims; ++d)
    if (auto position = affine.fixedAt(d))
      part[d] = arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(*position));
  for (Operation *each : ops) {
    Operation *copy = builder.clone(*each, inside);
    for (OpOperand &operand : copy->getOpOperands())
      if (auto found = own.find(operand.get()); found != own.end())
        operand.set(found->second);
    if (!isa<ElementLoadOp, ElementStoreOp, ElementUpdateOp>(each) || !own.contains(each->getOperand(0)))
      continue;
    SmallVector<Value> indices(part);
    if (auto load = dyn_cast<ElementLoadOp>(copy))
      llvm::append_range(indices, load.getIndices()), load.getIndicesMutable().assign(indices);
    else if (auto store = dyn_cast<ElementStoreOp>(copy))
      llvm::append_range(indices, store.getIndices()), store.getIndicesMutable().assign(indices);
    else if (auto update = dyn_cast<ElementUpdateOp>(copy))
      llvm::append_range(indices, update.getIndices()), update.getIndicesMutable().assign(indices);
  }
  Operation *last = &*std::prev(builder.getInsertionPoint());
  for (auto [result, buffer] : llvm::zip(last->getResults(), results))
    points.store(buffer, result);
  points.end();
  for (auto [result, buffer] : llvm::zip(inner.getResults(), results))
    map.map(result, points.tile(buffer, result.getType()));
  return true;
}
