// Ops of TileAtomic.td. Programs of the oracle run one at a time, so that every access is indivisible.
#include "compiler/oracle/access.h"
#include "compiler/oracle/buffer.h"
#include <cmath>

using namespace mlir;

namespace tilery::oracle {

static uint64_t update(tile::RmwKind kind, Element e, uint64_t old, uint64_t value) {
  using K = tile::RmwKind;
  switch (kind) {
  case K::add:
    return wrap(e, old + value);
  case K::max:
    return asSigned(e, value) > asSigned(e, old) ? value : old;
  case K::min:
    return asSigned(e, value) < asSigned(e, old) ? value : old;
  case K::umax:
    return asUnsigned(e, value) > asUnsigned(e, old) ? value : old;
  case K::umin:
    return asUnsigned(e, value) < asUnsigned(e, old) ? value : old;
  case K::and_:
    return old & value;
  case K::or_:
    return old | value;
  case K::xor_:
    return old ^ value;
  case K::exchange:
    return value;
  case K::fadd:
    return e.format == Format::F64 ? encode(e, decode(e, old) + decode(e, value))
                                   : encode(e, float(decode(e, old)) + float(decode(e, value)));
  case K::fmax:
  case K::fmin: {
    double x = decode(e, old), y = decode(e, value);
    if (std::isnan(x) || std::isnan(y))
      return std::isnan(x) ? value : old; // NaN loses
    return (kind == K::fmax ? y > x : y < x) ? value : old;
  }
  }
  llvm_unreachable("kind");
}

/// What one more term makes of a sum that may have been rounded in any order.
static Interval sumInAnyOrder(Element element, Interval old, Interval value) {
  Interval sum = addRange(old, value);
  double growth = std::max(std::fabs(old.lo), std::fabs(value.hi)) * ulpAt(element, 1.0);
  if (!std::isfinite(growth) || !std::isfinite(sum.lo) || !std::isfinite(sum.hi)) // of infinities, no interval says anything
    return unknown();
  return widen(element, {sum.lo - growth, sum.hi + growth}, 2);
}

static bool acquires(tile::MemoryOrder order) {
  return order != tile::MemoryOrder::relaxed && order != tile::MemoryOrder::release;
}
static bool releases(tile::MemoryOrder order) {
  return order != tile::MemoryOrder::relaxed && order != tile::MemoryOrder::acquire;
}

/// What is there before an update.
static void readBefore(Interpreter &in, Operation *op, tile::MemoryOrder order, const Places &places, Tile &old, int64_t lane) {
  if (acquires(order))
    in.run.memory.acquire(places.address[lane], in.program);
  loadLane(in, op, places, old, lane, AccessKind::Atomic);
}
static void writeAfter(Interpreter &in, Operation *op, tile::MemoryOrder order, const Places &places, const Tile &now,
                       int64_t lane) {
  storeLane(in, op, places, now, lane, AccessKind::Atomic);
  if (releases(order))
    in.run.memory.release(places.address[lane], in.program);
}

static void atomicRmw(Interpreter &in, tile::AtomicRmwOp op) {
  takeTurns(in);
  const auto &places = in.as<Places>(op.getPlace());
  const Tile &value = in.tile(op.getValue());
  Tile result(value.element, value.shape), now(value.element, value.shape);
  bool isAddition = op.getKind() == tile::RmwKind::fadd;
  for (int64_t i = 0; i < value.size(); ++i) {
    if (!places.exists[i])
      continue;
    in.requireDefined(value, i);
    readBefore(in, op, op.getOrder(), places, result, i);
    if (op.getKind() != tile::RmwKind::exchange)
      in.requireDefined(result, i);
    now.lanes[i] = update(op.getKind(), value.element, result.lanes[i], value.lanes[i]);
    if (in.run.options.shadow) {
      // Programs come in any order: sums of floats are rounded, and what was there before is not determined at all.
      if (isAddition) {
        now.setRange(i, sumInAnyOrder(value.element, result.range(i), value.range(i)));
      } else if (!value.range(i).isExact() || !result.range(i).isExact())
        now.setRange(i, unknown());
    }
    writeAfter(in, op, op.getOrder(), places, now, i);
  }
  if (in.run.options.shadow)
    for (int64_t i = 0; i < result.size(); ++i)
      if (places.exists[i] && sizeOf(ArrayRef<int64_t>{in.run.grid[0], in.run.grid[1], in.run.grid[2]}) > 1)
        result.setRange(i, unknown());
  in.set(op.getResult(), std::move(result));
}

static void elementUpdate(Interpreter &in, tile::ElementUpdateOp op) {
  const Buffer &buffer = in.as<Buffer>(op.getBuffer());
  Shape at = indicesOf(in, op.getIndices());
  checkInside(in, op, buffer, at, "updates");
  const Tile &value = in.tile(op.getValue());
  in.requireDefined(value, 0);
  Tile old(buffer.element, {}), now(buffer.element, {});
  readElement(in, op, buffer, at, AccessKind::Atomic, old);
  now.lanes[0] = update(op.getKind(), buffer.element, old.lanes[0], value.lanes[0]);
  if (in.run.options.shadow) {
    // Iterations come in any order: sums of floats are rounded, and what was there before is not determined at all.
    if (op.getKind() == tile::RmwKind::fadd) {
      now.setRange(0, sumInAnyOrder(buffer.element, old.range(0), value.range(0)));
    } else if (!value.range(0).isExact() || !old.range(0).isExact())
      now.setRange(0, unknown());
    old.setRange(0, unknown());
  }
  writeElement(in, op, buffer, at, AccessKind::Atomic, now);
  in.set(op.getResult(), std::move(old));
}

static void atomicCas(Interpreter &in, tile::AtomicCasOp op) {
  takeTurns(in);
  const auto &places = in.as<Places>(op.getPlace());
  const Tile &expected = in.tile(op.getExpected()), &desired = in.tile(op.getDesired());
  Tile result(expected.element, expected.shape);
  for (int64_t i = 0; i < expected.size(); ++i) {
    if (!places.exists[i])
      continue;
    readBefore(in, op, op.getOrder(), places, result, i);
    in.requireDefined(result, i);
    bool isInteger = expected.element.format == Format::Int;
    if (result.lanes[i] == (isInteger ? wrap(expected.element, expected.lanes[i]) : expected.lanes[i]))
      writeAfter(in, op, op.getOrder(), places, desired, i);
  }
  in.set(op.getResult(), std::move(result));
}

void addAtomicHandlers(Handlers &table) {
  table.add<tile::AtomicRmwOp>(atomicRmw);
  table.add<tile::AtomicCasOp>(atomicCas);
  table.add<tile::ElementUpdateOp>(elementUpdate);
}

} // namespace tilery::oracle
