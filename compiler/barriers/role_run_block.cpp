// What block ops are in the model of barriers: each slot of a ring has two of them, which say that it is full and that it is empty.
#include "compiler/block/ir/gpu.h"
#include "compiler/barriers/role_run.h"

using namespace mlir;
using namespace tilery;
using namespace tilery::block;
using barriers::Event;
using barriers::SharedAddress;

static int64_t slotBytes(RingOp ring) { return ring.tileOffsets(barrierBytes).back(); }

/// First the full barriers, then the empty ones, then the slots.
uint32_t BarrierMemory::ringAt(RingOp ring) {
  return of(ring.getResult(), ring.getType().getCount() * (2 * barrierBytes + slotBytes(ring)));
}
SharedAddress BarrierMemory::full(RingOp ring, int64_t position) {
  return {0, ringAt(ring) + uint32_t(barrierBytes * (position % ring.getType().getCount()))};
}
SharedAddress BarrierMemory::empty(RingOp ring, int64_t position) {
  SharedAddress at = full(ring, position);
  at.offset += uint32_t(barrierBytes * ring.getType().getCount());
  return at;
}
SharedAddress BarrierMemory::tile(RingOp ring, int64_t position, unsigned index) {
  int64_t count = ring.getType().getCount(), at = ringAt(ring) + 2 * barrierBytes * count + slotBytes(ring) * (position % count);
  return {0, uint32_t(at + ring.tileOffsets(barrierBytes)[index])};
}

SharedAddress BarrierMemory::turn(Value baton, int64_t instances, int64_t who) {
  return {0, of(baton, barrierBytes * instances) + uint32_t(barrierBytes * who)};
}

/// The ring of a slot that loops may carry.
RingOp RoleRun::ringOf(Value slot) {
  SmallVector<Value> from{slot};
  for (size_t i = 0; i < from.size() && i < 64; ++i) {
    Operation *op = from[i].getDefiningOp();
    if (auto acquire = dyn_cast_or_null<AcquireOp>(op))
      return acquire.getRing().getDefiningOp<RingOp>();
    if (auto take = dyn_cast_or_null<TakeOp>(op))
      return take.getRing().getDefiningOp<RingOp>();
    if (auto turn = dyn_cast_or_null<TurnOp>(op))
      from.push_back(turn.getBody().front().getTerminator()->getOperand(cast<OpResult>(from[i]).getResultNumber()));
    auto argument = dyn_cast<BlockArgument>(from[i]);
    auto loop = dyn_cast_or_null<scf::ForOp>(argument ? argument.getOwner()->getParentOp() : op);
    if (loop) {
      unsigned number = argument ? argument.getArgNumber() - 1 : cast<OpResult>(from[i]).getResultNumber();
      from.push_back(loop.getYieldedValues()[number]);
      from.push_back(loop.getInitArgs()[number]);
    }
  }
  throw UnknownRole{"a slot of several rings"};
}

void RoleRun::readOperand(Value operand) {
  if (auto view = operand.getDefiningOp<TransposeOp>())
    return readOperand(view.getShared());
  if (auto part = operand.getDefiningOp<PartOp>())
    add(Event::Read, memory.tile(ringOf(part.getSlot()), known(part.getSlot()), part.getIndex()));
}

void RoleRun::waitForProduct(Value product) {
  if (int64_t group = known(product); group >= 0)
    add(Event::WaitReads, {}, groups - 1 - group);
}

// Instances hand it on by barriers, one each, at which the one before arrives; the first turn needs no such arrival.
void RoleRun::runTurn(TurnOp turn) {
  auto role = turn->getParentOfType<RoleOp>();
  int64_t instances = role.instanceCount(), who = instances > 1 ? known(role.getBody().getArgument(0)) : 0;
  if (int64_t before = turns[turn]++ - (who == 0); instances > 1 && before >= 0)
    add(Event::Wait, memory.turn(turn.getBaton(), instances, who), before & 1);
  run(turn.getBody().front());
  assign(turn.getResults(), turn.getBody().front().getTerminator()->getOperands());
  if (instances > 1)
    add(Event::Arrive, memory.turn(turn.getBaton(), instances, (who + 1) % instances));
}

/// Products, and other reads of slots. False: the op is none.
bool RoleRun::runReader(Operation &op) {
  if (auto product = dyn_cast<MmaStartOp>(op)) {
    readOperand(product.getA());
    readOperand(product.getB());
    add(Event::CommitReads, {});
    values[product.getResult()] = groups++;
  } else if (auto settle = dyn_cast<MmaSettleOp>(op)) {
    waitForProduct(settle.getProduct());
  } else if (auto wait = dyn_cast<MmaWaitOp>(op)) {
    waitForProduct(wait.getProduct());
  } else if (isa<ReadOp, MmaOp>(op)) {
    for (Value operand : op.getOperands())
      if (isa<SharedType>(operand.getType()))
        readOperand(operand);
    add(Event::CommitReads, {});
    ++groups;
    add(Event::WaitReads, {});
  } else {
    return false;
  }
  return true;
}

bool RoleRun::runBlockOp(Operation &op) {
  if (!isa<BlockDialect>(op.getDialect()))
    return false;
  if (runReader(op))
    return true;
  auto fill = [&](Value to, int64_t bytes) {
    auto part = to.getDefiningOp<PartOp>();
    RingOp ring = ringOf(part.getSlot());
    int64_t position = known(part.getSlot());
    add(Event::Copy, memory.full(ring, position), bytes, memory.tile(ring, position, part.getIndex()));
    filled[{ring, position}] += bytes;
  };
  if (auto acquire = dyn_cast<AcquireOp>(op)) {
    auto ring = acquire.getRing().getDefiningOp<RingOp>();
    int64_t position = known(acquire.getPosition());
    add(Event::Wait, memory.empty(ring, position), (position / ring.getType().getCount() + 1) & 1);
    values[acquire.getResult()] = position;
  } else if (auto take = dyn_cast<TakeOp>(op)) {
    auto ring = take.getRing().getDefiningOp<RingOp>();
    int64_t position = known(take.getPosition());
    auto [last, isFirst] = taken.try_emplace(ring, position);
    if (isFirst || position > last->second) { // else it is taken again, and there is nothing new to wait for
      int64_t phase = position / ring.getType().getCount();
      add(Event::Wait, memory.full(ring, position), phase & 1);
      if (!events.empty())
        events.back().phase = uint32_t(phase);
    }
    last->second = std::max(last->second, position);
    values[take.getResult()] = position;
  } else if (auto copy = dyn_cast<CopyOp>(op)) {
    fill(copy.getTo(), copy.getTo().getType().getBytes());
  } else if (auto copy = dyn_cast<CopyFlatOp>(op)) {
    fill(copy.getTo(), known(copy.getBytes()));
  } else if (auto fetch = dyn_cast<FetchOp>(op)) {
    fill(fetch.getTo(), fetch.getTo().getType().getBytes());
  } else if (auto write = dyn_cast<WriteOp>(op); write && write.getShared().getDefiningOp<PartOp>()) {
    fill(write.getShared(), write.getShared().getType().getBytes());
  } else if (auto publish = dyn_cast<PublishOp>(op)) {
    RingOp ring = ringOf(publish.getSlot());
    int64_t position = known(publish.getSlot());
    add(Event::Arrive, memory.full(ring, position), filled[{ring, position}]);
  } else if (auto release = dyn_cast<ReleaseOp>(op)) {
    int64_t position = known(release.getSlot());
    if (position < 0)
      return true;
    RingOp ring = ringOf(release.getSlot());
    for (unsigned i = arrivalsOf(release->getParentOfType<RoleOp>(), ring); i > 0; --i)
      add(Event::Arrive, memory.empty(ring, position));
  } else if (auto none = dyn_cast<NoneOp>(op)) {
    values[none.getResult()] = -1;
  } else if (auto turn = dyn_cast<TurnOp>(op)) {
    runTurn(turn);
  } else if (auto programs = dyn_cast<ProgramsOp>(op)) {
    assign(programs.getCarried(), programs.getInits());
    for (int program = 0; program < 3; ++program) {
      for (unsigned d = 0; d < 3; ++d)
        values[programs.getBody().getArgument(d)] = program;
      run(programs.getBody().front());
      assign(programs.getCarried(), programs.getBody().front().getTerminator()->getOperands());
    }
    assign(programs.getResults(), programs.getCarried());
  } else if (auto rank = dyn_cast<ClusterRankOp>(op)) {
    values[rank.getResult()] = clusterSize(rank) - 1;
  } else if (isa<RolesOp>(op)) {
    throw UnknownRole{"roles within roles"};
  }
  return true;
}
