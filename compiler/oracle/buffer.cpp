// Ops of TileBuffer.td.
#include "compiler/oracle/buffer.h"
#include "tilery/counted.h"

using namespace mlir;

namespace tilery::oracle {

/// Where an element lies in its storage; -1 if it does not exist.
static int64_t byteOf(const Buffer &buffer, ArrayRef<int64_t> at) {
  if (!buffer.exists)
    return -1;
  int64_t byte = buffer.offset;
  for (size_t d = 0; d < at.size(); ++d) {
    if (at[d] < buffer.lo[d] || at[d] >= buffer.hi[d])
      return -1;
    byte += at[d] * buffer.strides[d];
  }
  return byte;
}

/// Where what lies at a byte was first read though nobody had written it: before it was copied there, or now.
static Unwritten originAt(const Storage &storage, int64_t byte, Operation *now) {
  auto known = storage.origins.find(byte);
  return known == storage.origins.end() ? Unwritten{now} : known->second;
}

static void readBuffer(Operation *op, const Buffer &buffer, int64_t byte, Tile &to, int64_t lane) {
  if (byte < 0)
    return;
  Storage &storage = *buffer.storage;
  to.lanes[lane] = readElement(buffer.element, storage.bytes.data() + byte);
  if (!storage.written.empty() && llvm::is_contained(ArrayRef(storage.written).slice(byte, buffer.element.bytes()), 0))
    to.setUndefined(lane, originAt(storage, byte, op));
  if (auto known = storage.ranges.find(byte); known != storage.ranges.end())
    to.setRange(lane, known->second);
}

static void writeBuffer(const Buffer &buffer, int64_t byte, const Tile &from, int64_t lane) {
  if (byte < 0)
    return;
  Storage &storage = *buffer.storage;
  writeElement(buffer.element, storage.bytes.data() + byte, from.lanes[lane]);
  if (!storage.written.empty()) {
    Unwritten origin = from.undefinedAt(lane);
    std::fill_n(storage.written.begin() + byte, buffer.element.bytes(), !origin);
    if (origin)
      storage.origins[byte] = origin;
    else if (!storage.origins.empty())
      storage.origins.erase(byte);
  }
  Interval range = from.range(lane);
  if (!range.isExact())
    storage.ranges[byte] = range;
  else if (!storage.ranges.empty())
    storage.ranges.erase(byte);
}

template <typename F> void eachElement(const Buffer &buffer, F visit) {
  Shape at(buffer.shape.size(), 0);
  for (int64_t i = 0, n = sizeOf(buffer.shape); i < n; ++i) {
    visit(i, byteOf(buffer, at));
    for (int d = int(at.size()) - 1; d >= 0 && ++at[d] == buffer.shape[d]; --d)
      at[d] = 0;
  }
}

Tile loadBuffer(Operation *op, const Buffer &buffer) {
  Tile result(buffer.element, buffer.shape);
  eachElement(buffer, [&](int64_t i, int64_t byte) { readBuffer(op, buffer, byte, result, i); });
  return result;
}

void storeBuffer(const Buffer &buffer, const Tile &value, const Tile *mask) {
  eachElement(buffer, [&](int64_t i, int64_t byte) {
    if (!mask || mask->lanes[laneOf(*mask, i)])
      writeBuffer(buffer, byte, value, laneOf(value, i));
  });
}

static void makeDense(Buffer &buffer, ArrayRef<int64_t> shape) {
  buffer.shape.assign(shape.begin(), shape.end());
  buffer.lo.assign(shape.size(), 0);
  buffer.hi.assign(shape.begin(), shape.end());
  buffer.strides.resize(shape.size());
  int64_t stride = buffer.element.bytes();
  for (int d = int(shape.size()) - 1; d >= 0; stride *= shape[d--])
    buffer.strides[d] = stride;
}

static bool isDense(const Buffer &buffer) {
  Buffer dense = buffer;
  makeDense(dense, buffer.shape);
  for (size_t d = 0; d < buffer.shape.size(); ++d)
    if ((buffer.shape[d] != 1 && dense.strides[d] != buffer.strides[d]) || buffer.lo[d] != 0 || buffer.hi[d] != buffer.shape[d])
      return false;
  return true;
}

static void alloc(Interpreter &in, tile::AllocOp op) {
  Buffer buffer;
  buffer.element = elementOf(op.getType());
  makeDense(buffer, op.getType().getShape());
  buffer.storage = std::make_shared<Storage>();
  int64_t bytes = sizeOf(buffer.shape) * buffer.element.bytes();
  buffer.storage->bytes.resize(bytes, 0xCB); // contents are undefined: nothing should look right by luck
  if (in.run.options.debug)
    buffer.storage->written.resize(bytes);
  buffer.storage->loops = op.getType().getSpace() == tile::Space::local ? SIZE_MAX : in.loops.size();
  in.set(op.getResult(), std::move(buffer));
}

static void subview(Interpreter &in, tile::SubviewOp op) {
  const Buffer &whole = in.as<Buffer>(op.getBuffer());
  Buffer part{whole.storage, whole.element, Shape(op.getType().getShape()), whole.offset, {}, {}, {}, whole.exists};
  unsigned next = 0;
  for (unsigned k = 0; k < whole.shape.size(); ++k) {
    int64_t offset = in.decide(op.getOffsets()[k]);
    part.offset += offset * whole.strides[k];
    if (next < op.getDims().size() && op.getDims()[next] == int64_t(k)) {
      part.strides.push_back(whole.strides[k]);
      part.lo.push_back(std::max<int64_t>(0, whole.lo[k] - offset));
      part.hi.push_back(std::min(part.shape[next], whole.hi[k] - offset));
      ++next;
    } else
      part.exists &= whole.lo[k] <= offset && offset < whole.hi[k];
  }
  in.set(op.getResult(), std::move(part));
}

static void reinterpret(Interpreter &in, tile::ReinterpretOp op) {
  Buffer buffer = in.as<Buffer>(op.getBuffer());
  if (!buffer.exists || !isDense(buffer))
    in.fail(op, "a window of a buffer that is not contiguous cannot be read as another type");
  buffer.element = elementOf(op.getType());
  makeDense(buffer, op.getType().getShape());
  in.set(op.getResult(), std::move(buffer));
}

Shape indicesOf(Interpreter &in, ValueRange indices) {
  Shape at;
  for (Value index : indices)
    at.push_back(in.decide(index));
  return at;
}

// Outside reads give 0 and outside writes vanish, but a program that does so is rarely meant: debug mode says so.
void checkInside(Interpreter &in, Operation *op, const Buffer &buffer, ArrayRef<int64_t> at, const char *what) {
  if (!in.run.options.debug)
    return;
  for (size_t d = 0; d < at.size(); ++d)
    if (at[d] < 0 || at[d] >= buffer.shape[d])
      in.fail(op,
              "program " + in.programText() + " " + what + " index " + std::to_string(at[d]) + " of dimension " +
                  std::to_string(d) + " of a buffer, which has " + counted(buffer.shape[d], "element") + " there",
              {}, Diagnostic::Kind::Index);
}

static std::string elementText(const char *does, ArrayRef<int64_t> at) {
  std::string text;
  for (int64_t index : at)
    text += (text.empty() ? "" : ", ") + std::to_string(index);
  return std::string(does) + " element [" + text + "] of a buffer";
}

static uint64_t addressOf(const Buffer &buffer, int64_t byte) { return uint64_t(buffer.storage->bytes.data() + byte); }

void readElement(Interpreter &in, Operation *op, const Buffer &buffer, ArrayRef<int64_t> at, AccessKind kind, Tile &to) {
  int64_t byte = byteOf(buffer, at);
  readBuffer(op, buffer, byte, to, 0);
  if (byte >= 0)
    in.besideIterations(
        op, buffer.storage->loops, [&](Iterations &loop) { return loop.read(addressOf(buffer, byte), kind); },
        [&] { return elementText("reads", at); });
}

void writeElement(Interpreter &in, Operation *op, const Buffer &buffer, ArrayRef<int64_t> at, AccessKind kind, const Tile &from) {
  int64_t byte = byteOf(buffer, at);
  if (byte < 0)
    return;
  auto *bits = reinterpret_cast<const void *>(addressOf(buffer, byte));
  uint64_t before = readElement(buffer.element, bits);
  writeBuffer(buffer, byte, from, 0);
  bool changes = readElement(buffer.element, bits) != before;
  in.besideIterations(
      op, buffer.storage->loops, [&](Iterations &loop) { return loop.write(addressOf(buffer, byte), kind, changes); },
      [&] { return elementText("writes", at); });
}

void addBufferHandlers(Handlers &table) {
  table.add<tile::AllocOp>(alloc);
  table.add<tile::SubviewOp>(subview);
  table.add<tile::ReinterpretOp>(reinterpret);
  table.add<tile::BufferLoadOp>(
      [](Interpreter &in, tile::BufferLoadOp op) { in.set(op.getResult(), loadBuffer(op, in.as<Buffer>(op.getBuffer()))); });
  table.add<tile::BufferStoreOp>([](Interpreter &in, tile::BufferStoreOp op) {
    const Tile *mask = op.getMask() ? &in.tile(op.getMask()) : nullptr;
    if (mask)
      in.requireDecided(*mask);
    storeBuffer(in.as<Buffer>(op.getBuffer()), in.tile(op.getValue()), mask);
  });
  table.add<tile::ElementLoadOp>([](Interpreter &in, tile::ElementLoadOp op) {
    const Buffer &buffer = in.as<Buffer>(op.getBuffer());
    Shape at = indicesOf(in, op.getIndices());
    checkInside(in, op, buffer, at, "reads");
    Tile result(buffer.element, {});
    readElement(in, op, buffer, at, AccessKind::Plain, result);
    in.set(op.getResult(), std::move(result));
  });
  table.add<tile::ElementStoreOp>([](Interpreter &in, tile::ElementStoreOp op) {
    const Buffer &buffer = in.as<Buffer>(op.getBuffer());
    Shape at = indicesOf(in, op.getIndices());
    checkInside(in, op, buffer, at, "writes");
    writeElement(in, op, buffer, at, AccessKind::Plain, in.tile(op.getValue()));
  });
}

} // namespace tilery::oracle
