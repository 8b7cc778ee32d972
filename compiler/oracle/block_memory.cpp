// Ops of BlockMemory.td and BlockCopy.td: maps, shared memory, what the copy engine and threads move.
#include "compiler/oracle/access.h"
#include "compiler/oracle/block.h"

using namespace mlir;

namespace tilery::oracle {

std::shared_ptr<SharedMemory> BlockState::allocate(Operation *op, block::SharedType type, unsigned slot, unsigned index) {
  auto made =
      std::make_shared<SharedMemory>(SharedMemory{op, slot, index, Tile(elementOf(type.getElementType()), type.getShape())});
  return memory[{op, slot, index}] = made;
}

// ---- shared memory

static std::string useText(int64_t position) { return "position " + std::to_string(position); }

/// The slot that the memory belongs to; null: an allocation of its own.
static SlotState *slotOf(Interpreter &in, const SharedTile &shared) {
  for (const Ring &ring : in.block->rings)
    if (ring->op == shared.memory->op && shared.memory->slot < ring->slots.size() &&
        ring->slots[shared.memory->slot].tiles[shared.memory->index] == shared.memory)
      return &ring->slots[shared.memory->slot];
  return nullptr;
}

static Tile transposed(const Tile &tile) {
  int64_t rows = tile.shape[0], columns = tile.shape[1];
  Tile result(tile.element, {columns, rows});
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      copyLane(result, j * rows + i, tile, i * columns + j);
  return result;
}

Tile readShared(Interpreter &in, Operation *op, const SharedTile &shared) {
  if (SlotState *slot = slotOf(in, shared)) {
    if (slot->position != shared.position)
      in.fail(op, whoText(in) + " reads " + useText(shared.position) + " of a ring, but its slot is filled for " +
                      useText(slot->position) + " already: it was released too early");
    if (slot->releasedBy.count(in.role))
      in.fail(op, whoText(in) + " reads " + useText(shared.position) + " of a ring after it has released it");
  }
  if (!shared.memory->defined)
    in.fail(op, whoText(in) + " reads shared memory that holds nothing: nobody has filled it, or it was given back",
            "fill it before it is published, release it after it is read");
  return shared.transposed ? transposed(shared.memory->content) : shared.memory->content;
}

bool isBeingRead(const Interpreter &in, const SharedMemory *memory, std::string &what) {
  for (const Pending &product : in.role->products)
    if ((product->sharedA && product->sharedA->memory.get() == memory) || product->b.memory.get() == memory) {
      what = "a product that is neither settled nor waited for";
      return true;
    }
  for (const StoreUnderWay &store : in.role->stores)
    if (store.mayRead && store.shared.memory.get() == memory) {
      what = "a store that no `store_wait read` has waited for";
      return true;
    }
  return false;
}

static void requireFilling(Interpreter &in, Operation *op, const SharedTile &to) {
  SlotState *slot = slotOf(in, to);
  if (slot && (slot->position != to.position || slot->published))
    in.fail(op, whoText(in) + " fills " + useText(to.position) + " of a ring after it was published");
}

void writeShared(Interpreter &in, Operation *op, const SharedTile &shared, Tile value) {
  requireFilling(in, op, shared);
  std::string what;
  if (isBeingRead(in, shared.memory.get(), what))
    in.fail(op, whoText(in) + " overwrites shared memory that " + what + " may still read");
  shared.memory->content = shared.transposed ? transposed(value) : std::move(value);
  shared.memory->defined = true;
}

void fill(Interpreter &in, Operation *op, const SharedTile &to, std::function<Tile()> contents) {
  requireFilling(in, op, to);
  auto land = [memory = to.memory, contents = std::move(contents)] {
    memory->content = contents();
    memory->defined = true;
  };
  if (in.run.options.late)
    slotOf(in, to)->copies.push_back(std::move(land));
  else
    land();
}

// ---- tensors

static TensorMap mapOf(Interpreter &in, Value base, OperandRange extents, OperandRange strides) {
  TensorMap map{uint64_t(in.decide(base)), {}, {}};
  for (Value extent : extents)
    map.extents.push_back(in.decide(extent));
  for (Value stride : strides)
    map.strides.push_back(in.decide(stride));
  map.strides.push_back(1);
  return map;
}

/// Where the elements of a tile of this shape live from `coords` on.
static Places placesOf(Interpreter &in, Value mapValue, OperandRange coords, block::SharedType type) {
  const auto &map = in.as<TensorMap>(mapValue);
  auto dims = *block::walkedDimensions(cast<block::MapType>(mapValue.getType()), type.getShape());
  SmallVector<int64_t, 5> start;
  for (Value coord : coords)
    start.push_back(in.decide(coord));
  Places places{elementOf(type.getElementType()), Shape(type.getShape()), {}, {}};
  Shape at(places.shape.size(), 0);
  for (int64_t i = 0, n = sizeOf(places.shape); i < n; ++i) {
    SmallVector<int64_t, 5> element(start);
    for (size_t d = 0; d < at.size(); ++d)
      if (dims[d] >= 0)
        element[dims[d]] += at[d];
    uint64_t address = map.base;
    bool exists = true;
    for (size_t k = 0; k < element.size(); ++k) {
      exists &= element[k] >= 0 && element[k] < map.extents[k];
      address += uint64_t(element[k] * map.strides[k]) * places.element.bytes();
    }
    places.address.push_back(address);
    places.exists.push_back(exists);
    for (int d = int(at.size()) - 1; d >= 0 && ++at[d] == places.shape[d]; --d)
      at[d] = 0;
  }
  return places;
}

static void copy(Interpreter &in, block::CopyOp op) {
  const auto &to = in.as<SharedTile>(op.getTo());
  Places places = placesOf(in, op.getMap(), op.getCoords(), op.getTo().getType());
  fill(in, op, to, [&in, op, places] { return loadAll(in, op, places); });
}

static void copyFlat(Interpreter &in, block::CopyFlatOp op) {
  block::SharedType type = op.getTo().getType();
  Element element = elementOf(type.getElementType());
  uint64_t base = uint64_t(in.decide(op.getBase()));
  int64_t bytes = in.decide(op.getBytes()), size = type.getShape()[0];
  if (bytes % 16 || bytes < 0 || bytes > size * element.bytes() || base % 16)
    in.fail(op, whoText(in) + " copies " + std::to_string(bytes) + " bytes from an address that is " + std::to_string(base % 16) +
                    " beyond a multiple of 16: both are multiples of 16, and the tile holds " +
                    std::to_string(size * element.bytes()));
  Places places{element, Shape{size}, {}, {}};
  for (int64_t i = 0; i < size; ++i) {
    places.address.push_back(base + i * element.bytes());
    places.exists.push_back(i * element.bytes() < bytes);
  }
  fill(in, op, in.as<SharedTile>(op.getTo()), [&in, op, places] {
    Tile content = loadAll(in, op, places);
    for (int64_t i = 0; i < content.size(); ++i)
      if (!places.exists[i])
        content.setUndefined(i, {op});
    return content;
  });
}

static void fetch(Interpreter &in, block::FetchOp op) {
  fill(in, op, in.as<SharedTile>(op.getTo()),
       [&in, op, places = in.as<Places>(op.getPlace())] { return loadAll(in, op, places); });
}

// ---- stores

static void readStored(Interpreter &in, StoreUnderWay &store) {
  if (!store.content)
    store.content = readShared(in, store.op, store.shared);
}
static void writeStored(Interpreter &in, StoreUnderWay &store) {
  readStored(in, store);
  if (std::exchange(store.written, true))
    return;
  Tile &value = *store.content;
  for (int64_t i = 0; i < value.size(); ++i) {
    if (!store.places.exists[i])
      continue;
    if (!store.op.getAdd()) {
      storeLane(in, store.op, store.places, value, i, AccessKind::Plain);
      continue;
    }
    Tile sum(value.element, value.shape);
    loadLane(in, store.op, store.places, sum, i, AccessKind::Atomic);
    sum.lanes[i] = encode(sum.element, float(decode(sum.element, sum.lanes[i])) + float(decode(value.element, value.lanes[i])));
    if (in.run.options.shadow)
      sum.setRange(i, unknown()); // blocks add in any order
    storeLane(in, store.op, store.places, sum, i, AccessKind::Atomic);
  }
}

static void storeBox(Interpreter &in, block::StoreBoxOp op) {
  in.role->stores.push_back(
      {op, in.as<SharedTile>(op.getShared()), placesOf(in, op.getMap(), op.getCoords(), op.getShared().getType()), {}});
  if (!in.run.options.late)
    writeStored(in, in.role->stores.back());
}

static void storeWait(Interpreter &in, block::StoreWaitOp op) {
  auto &stores = in.role->stores;
  size_t ended = stores.size() - std::min<size_t>(stores.size(), op.getGroups());
  for (StoreUnderWay &store : llvm::make_range(stores.begin(), stores.begin() + ended)) {
    readStored(in, store);
    store.mayRead = false;
    if (!op.getRead())
      writeStored(in, store);
  }
  if (!op.getRead())
    stores.erase(stores.begin(), stores.begin() + ended);
}

void finishStores(Interpreter &in) {
  for (StoreUnderWay &store : in.role->stores)
    writeStored(in, store);
  in.role->stores.clear();
}

/// The piece of the value that goes to shared memory.
static Tile pieceOf(const Tile &value, block::WriteOp op) {
  if (!op.getAt())
    return value;
  ArrayRef<int64_t> at = *op.getAt(), shape = op.getShared().getType().getShape();
  Tile piece(value.element, Shape(shape));
  Shape place(shape.size(), 0);
  for (int64_t i = 0, n = piece.size(); i < n; ++i) {
    int64_t from = 0;
    for (size_t d = 0; d < shape.size(); ++d)
      from = from * value.shape[d] + at[d] + place[d];
    copyLane(piece, i, value, from);
    for (int d = int(shape.size()) - 1; d >= 0 && ++place[d] == shape[d]; --d)
      place[d] = 0;
  }
  return piece;
}

static void join(Interpreter &in, block::JoinOp op) {
  auto type = cast<RankedTensorType>(op.getType());
  Tile whole(in.tile(op.getTiles()[0]).element, Shape(type.getShape()));
  int64_t columns = type.getShape().back(), each = columns / int64_t(op.getTiles().size());
  for (int64_t i = 0, n = whole.size(); i < n; ++i) {
    int64_t row = i / columns, column = i % columns;
    copyLane(whole, i, in.tile(op.getTiles()[column / each]), row * each + column % each);
  }
  in.set(op.getResult(), std::move(whole));
}

static void peer(Interpreter &in, block::PeerOp op) {
  SharedTile shared = in.as<SharedTile>(op.getShared());
  int64_t rank = in.decide(op.getRank());
  const std::vector<BlockState *> &blocks = in.block->cluster->blocks;
  if (rank < 0 || rank >= int64_t(blocks.size()))
    in.fail(op, whoText(in) + " asks for block " + std::to_string(rank) + " of a cluster of " + std::to_string(blocks.size()), {},
            Diagnostic::Kind::Index);
  auto found = blocks[rank]->memory.find({shared.memory->op, shared.memory->slot, shared.memory->index});
  if (found == blocks[rank]->memory.end())
    in.fail(op, whoText(in) + " asks for shared memory that block " + std::to_string(rank) + " of its cluster has not made");
  shared.memory = found->second;
  in.set(op.getResult(), std::move(shared));
}

void addBlockMemoryHandlers(Handlers &table) {
  table.add<block::MapOp>([](Interpreter &in, block::MapOp op) {
    in.set(op.getResult(), mapOf(in, op.getBase(), op.getExtents(), op.getStrides()));
  });
  table.add<block::RemapOp>([](Interpreter &in, block::RemapOp op) {
    in.set(op.getResult(), mapOf(in, op.getBase(), op.getExtents(), op.getStrides()));
  });
  table.add<block::AllocOp>(
      [](Interpreter &in, block::AllocOp op) { in.set(op.getResult(), SharedTile{in.block->allocate(op, op.getType())}); });
  table.add<block::TransposeOp>([](Interpreter &in, block::TransposeOp op) {
    SharedTile view = in.as<SharedTile>(op.getShared());
    view.transposed = !view.transposed;
    in.set(op.getResult(), std::move(view));
  });
  table.add<block::PeerOp>(peer);
  table.add<block::ReadOp>(
      [](Interpreter &in, block::ReadOp op) { in.set(op.getResult(), readShared(in, op, in.as<SharedTile>(op.getShared()))); });
  table.add<block::WriteOp>([](Interpreter &in, block::WriteOp op) {
    writeShared(in, op, in.as<SharedTile>(op.getShared()), pieceOf(in.tile(op.getValue()), op));
  });
  table.add<block::RequireOp>([](Interpreter &, block::RequireOp) {}); // the launch's affair
  table.add<block::ConvertOp>([](Interpreter &in, block::ConvertOp op) { in.set(op.getResult(), Tile(in.tile(op.getValue()))); });
  table.add<block::JoinOp>(join);
  table.add<block::CopyOp>(copy);
  table.add<block::CopyFlatOp>(copyFlat);
  table.add<block::FetchOp>(fetch);
  table.add<block::StoreBoxOp>(storeBox);
  table.add<block::StoreWaitOp>(storeWait);
}

} // namespace tilery::oracle
