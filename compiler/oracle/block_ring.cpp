// Ops of BlockRing.td.
#include "compiler/oracle/block.h"

using namespace mlir;

namespace tilery::oracle {

static void ring(Interpreter &in, block::RingOp op) {
  auto state = std::make_shared<RingState>(RingState{op, 0, {}});
  for (int64_t s = 0; s < op.getType().getCount(); ++s) {
    SlotState &slot = state->slots.emplace_back();
    for (auto [index, type] : llvm::enumerate(op.getType().getTiles()))
      slot.tiles.push_back(in.block->allocate(op, type, s, index));
  }
  in.block->rings.push_back(state);
  in.set(op.getResult(), std::move(state));
}

static void forget(SlotState &slot) {
  for (auto &tile : slot.tiles)
    tile->defined = false;
}

static void acquire(Interpreter &in, block::AcquireOp op) {
  RingState &ring = *in.as<Ring>(op.getRing()); // no share of it: roles that a report ends are not unwound
  int64_t position = in.decide(op.getPosition());
  if (position != ring.next)
    in.fail(op, whoText(in) + " acquires position " + std::to_string(position) + ", but the next one is " +
                    std::to_string(ring.next) + ": each position is acquired once, in order");
  SlotState &slot = ring.slotOf(position);
  unsigned takers = ring.op.getTakers();
  in.await(op,
           whoText(in) + " waits to acquire position " + std::to_string(position) + " of a ring: position " +
               std::to_string(slot.position) + ", in the same slot, is not released by all takers",
           [&slot, takers] { return slot.position < 0 || slot.arrivals == takers; });
  ++ring.next;
  slot.position = position;
  slot.published = slot.taken = false;
  slot.arrivals = 0;
  slot.copies.clear();
  slot.releasedBy.clear();
  forget(slot);
  in.set(op.getResult(), Slot{in.as<Ring>(op.getRing()), position});
}

static void publish(Interpreter &in, block::PublishOp op) {
  const auto &use = in.as<Slot>(op.getSlot());
  SlotState &slot = use.ring->slotOf(use.position);
  if (slot.position != use.position || slot.published)
    in.fail(op, whoText(in) + " publishes position " + std::to_string(use.position) + " twice");
  slot.published = true;
}

static void take(Interpreter &in, block::TakeOp op) {
  RingState &ring = *in.as<Ring>(op.getRing()); // no share of it: roles that a report ends are not unwound
  int64_t position = in.decide(op.getPosition());
  if (position < 0)
    in.fail(op, whoText(in) + " takes position " + std::to_string(position) + " of a ring, which begins at 0");
  SlotState &slot = ring.slotOf(position);
  in.await(op, whoText(in) + " waits to take position " + std::to_string(position) + " of a ring, which nobody publishes",
           [&slot, position] { return slot.position > position || (slot.position == position && slot.published); });
  if (slot.position != position || slot.releasedBy.count(in.role))
    in.fail(op, whoText(in) + " takes position " + std::to_string(position) + " after it was released");
  for (auto &land : std::exchange(slot.copies, {}))
    land();
  slot.taken = true;
  in.set(op.getResult(), Slot{in.as<Ring>(op.getRing()), position});
}

static void release(Interpreter &in, block::ReleaseOp op) {
  const auto &use = in.as<Slot>(op.getSlot());
  if (!use.ring)
    return;
  SlotState &slot = use.ring->slotOf(use.position);
  std::string position = "position " + std::to_string(use.position);
  if (slot.position != use.position || !slot.releasedBy.insert(in.role).second)
    in.fail(op, whoText(in) + " releases " + position + " twice");
  std::string what;
  for (auto &tile : slot.tiles)
    if (isBeingRead(in, tile.get(), what))
      in.fail(op, whoText(in) + " releases " + position + ", which " + what + " may still read");
  unsigned takers = use.ring->op.getTakers();
  slot.arrivals += in.role->op ? block::arrivalsOf(in.role->op, use.ring->op.getResult()) : takers;
  if (slot.arrivals > takers)
    in.fail(op, whoText(in) + " releases " + position + ", which is free already: the ring counts " + std::to_string(takers) +
                    " arrivals");
  if (slot.arrivals == takers)
    forget(slot);
}

static void none(Interpreter &in, block::NoneOp op) {
  if (isa<block::SlotType>(op.getType()))
    in.set(op.getResult(), Slot{});
  else
    in.set(op.getResult(), Pending{});
}

static void part(Interpreter &in, block::PartOp op) {
  const auto &use = in.as<Slot>(op.getSlot());
  if (!use.ring)
    in.fail(op, whoText(in) + " asks for a part of no slot");
  SlotState &slot = use.ring->slotOf(use.position);
  in.set(op.getResult(), SharedTile{slot.tiles[op.getIndex()], use.position});
}

void addBlockRingHandlers(Handlers &table) {
  table.add<block::RingOp>(ring);
  table.add<block::AcquireOp>(acquire);
  table.add<block::PublishOp>(publish);
  table.add<block::TakeOp>(take);
  table.add<block::ReleaseOp>(release);
  table.add<block::NoneOp>(none);
  table.add<block::PartOp>(part);
}

} // namespace tilery::oracle
