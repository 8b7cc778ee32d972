#include "compiler/barriers/role_run.h"
#include "compiler/analysis/thread_set.h"
#include "llvm/ADT/ScopeExit.h"
#include <numeric>

using namespace mlir;
using namespace tilery;
using namespace tilery::tile;
using barriers::Event;
using barriers::SharedAddress;

static int64_t bytesOf(BufferType type) {
  Type element = type.getElementType();
  unsigned bits = isa<PtrType>(element) ? 64 : std::max(8u, element.getIntOrFloatBitWidth());
  return ShapedType::getNumElements(type.getShape()) * bits / 8;
}

uint32_t BarrierMemory::of(Value allocation, int64_t bytes) {
  auto [entry, isNew] = offsets.try_emplace(allocation, next);
  if (isNew)
    next += (bytes + 7) / 8 * 8;
  return entry->second;
}

int64_t BarrierMemory::arrivalsAnEvent(Value ring) {
  auto [entry, isNew] = units.try_emplace(ring, 0);
  if (isNew) {
    for (int64_t arrivals : ring.getDefiningOp<BarrierAllocOp>().getArrivals())
      entry->second = std::gcd(entry->second, arrivals);
    for (Operation *user : ring.getUsers())
      if (auto arrive = dyn_cast<BarrierArriveOp>(user))
        entry->second = std::gcd(entry->second, int64_t(arrive.getCount()));
  }
  return entry->second;
}

void RoleRun::run(Block &block) {
  for (Operation &op : block) {
    if (++steps > 100000 || events.size() > 20000)
      throw UnknownRole{"it is too long", true};
    run(op);
  }
}

uint64_t RoleRun::known(Value value) {
  if (Number number = get(value))
    return *number;
  throw UnknownRole{"control flow, a barrier or a buffer depends on data or arguments"};
}

RoleRun::Number RoleRun::get(Value value) {
  if (auto number = given.find(value); number != given.end())
    return number->second;
  if (auto found = values.find(value); found != values.end())
    return found->second ? found->second : assume(value);
  Operation *op = value.getDefiningOp();
  Number number = op && op->getNumRegions() == 0 ? values[value] = compute(op) : std::nullopt; // of the code around the roles
  return number ? number : assume(value);
}

RoleRun::Number RoleRun::assume(Value value) {
  if (!assumed || !value.getType().isSignlessInteger())
    return std::nullopt;
  if (value.getType().isInteger(1))
    return assumed->bit;
  return value.getDefiningOp<NumProgramsOp>() ? std::min<int64_t>(assumed->number, 3) : assumed->number;
}

RoleRun::Number RoleRun::compute(Operation *op) {
  if (op->getNumResults() != 1 || !op->getResult(0).getType().isSignlessInteger())
    return std::nullopt;
  if (isa<ProgramIdOp>(op))
    return 0;
  return analysis::folded(op, llvm::map_to_vector(op->getOperands(), [&](Value operand) { return get(operand); }));
}

void RoleRun::run(Operation &op) {
  const void *outer = std::exchange(source, &op);
  llvm::scope_exit back([&] { source = outer; });
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return forLoop(loop);
  if (auto loop = dyn_cast<scf::WhileOp>(op))
    return whileLoop(loop);
  if (auto choice = dyn_cast<scf::IfOp>(op)) {
    if (!touchesBarriers(op))
      return forget(op);
    if (thread && !get(choice.getCondition()))
      return split(choice);
    Block *taken = known(choice.getCondition()) & 1 ? choice.thenBlock() : choice.elseBlock();
    if (taken) {
      run(*taken);
      assign(choice.getResults(), taken->getTerminator()->getOperands());
    }
    return;
  }
  if (auto arrive = dyn_cast<BarrierArriveOp>(op)) {
    SharedAddress at = barrierAt(arrive.getBarrier(), arrive.getIndex());
    add(Event::Arrive, at, arrive.getBytes().value_or(0));
    for (int64_t more = active.size() * arrive.getCount() / memory.arrivalsAnEvent(arrive.getBarrier()); more > 1; --more) {
      add(Event::Arrive, at);
      events.back().continues = true;
    }
    return;
  }
  if (isa<BarrierWaitOp>(op) && parted)
    throw UnknownRole{"some of the threads wait while others go on"};
  if (auto wait = dyn_cast<BarrierWaitOp>(op))
    return add(Event::Wait, barrierAt(wait.getBarrier(), wait.getIndex()), known(wait.getParity()) & 1);
  if (auto copy = dyn_cast<AsyncCopyOp>(op))
    return add(Event::Copy, barrierAt(copy.getBarrier(), copy.getIndex()), bytesOf(copy.getBuffer().getType()),
               bufferAt(copy.getBuffer()));
  if (onlyBarriers) {
    if (auto all = dyn_cast<ThreadsOp>(op); all && touchesBarriers(op)) {
      thread = all.getBody().getArgument(0);
      active = llvm::to_vector(llvm::seq<int64_t>(0, all.getCount()));
      run(all.getBody().front());
      thread = {};
      active = {0};
      return;
    }
    if (auto ring = dyn_cast<BarrierAllocOp>(op)) {
      int64_t unit = memory.arrivalsAnEvent(ring);
      uint32_t at = memory.of(ring, 8 * ring.getArrivals().size());
      for (auto [i, arrivals] : llvm::enumerate(ring.getArrivals()))
        events.push_back({Event::Init, {0, at + uint32_t(8 * i)}, uint32_t(arrivals / unit), {}});
      return;
    }
  } else if (auto load = dyn_cast<BufferLoadOp>(op)) {
    return read(load.getBuffer());
  }
  if (auto roles = dyn_cast<RolesOp>(op); roles && atRoles)
    return atRoles(roles);
  if (runBlockOp(op))
    return;
  if (touchesBarriers(op))
    throw UnknownRole{"roles within roles, or threads of their own"};
  for (Value result : op.getResults())
    values.erase(result);
}

void RoleRun::split(scf::IfOp branch) {
  SmallVector<int64_t> all = active, sides[2];
  DenseMap<Value, Number> alike;
  for (auto [value, number] : values)
    if (number)
      alike[value] = number;
  for (int64_t number : all) {
    values = alike;
    values[thread] = number;
    sides[known(branch.getCondition()) & 1].push_back(number);
  }
  values = std::move(alike);
  bool outer = std::exchange(parted, true);
  for (Block *side : {branch.thenBlock(), branch.elseBlock()}) {
    active = sides[side == branch.thenBlock()];
    if (side && !active.empty())
      run(*side);
  }
  parted = outer;
  active = std::move(all);
  forget(*branch);
}

bool tilery::touchesBarriers(Operation &op) {
  return op
      .walk([](Operation *inner) {
        return isa<BarrierArriveOp, BarrierWaitOp, AsyncCopyOp, RolesOp>(inner) || isa<block::BlockDialect>(inner->getDialect())
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

void RoleRun::forget(Operation &op) {
  for (Value result : op.getResults())
    values[result] = std::nullopt;
}

void RoleRun::assign(ValueRange to, ValueRange from) {
  SmallVector<Number> numbers;
  for (Value value : from)
    numbers.push_back(get(value));
  for (auto [value, number] : llvm::zip(to, numbers))
    values[value] = number;
}

void RoleRun::forLoop(scf::ForOp loop) {
  if (!touchesBarriers(*loop))
    return forget(*loop);
  int64_t low = known(loop.getLowerBound()), high = known(loop.getUpperBound()), step = known(loop.getStep());
  Block &body = *loop.getBody();
  assign(loop.getRegionIterArgs(), loop.getInitArgs());
  for (int64_t i = low; i < high; i += step) {
    values[loop.getInductionVar()] = i;
    turnsBegun.emplace_back(loop, events.size());
    run(body);
    assign(loop.getRegionIterArgs(), body.getTerminator()->getOperands());
  }
  assign(loop.getResults(), loop.getRegionIterArgs());
}

void RoleRun::whileLoop(scf::WhileOp loop) {
  if (!touchesBarriers(*loop))
    return forget(*loop);
  Block &before = *loop.getBeforeBody(), &after = *loop.getAfterBody();
  assign(before.getArguments(), loop.getInits());
  for (;;) {
    run(before);
    auto condition = cast<scf::ConditionOp>(before.getTerminator());
    bool again = known(condition.getCondition()) & 1;
    assign(again ? ValueRange(after.getArguments()) : ValueRange(loop.getResults()), condition.getArgs());
    if (!again)
      return;
    run(after);
    assign(before.getArguments(), after.getTerminator()->getOperands());
  }
}

SharedAddress RoleRun::barrierAt(Value ring, Value index) {
  auto allocation = ring.getDefiningOp<BarrierAllocOp>();
  uint64_t number = known(index);
  if (!allocation || number >= allocation.getArrivals().size())
    throw UnknownRole{"a barrier is not of this kernel"};
  return {0, memory.of(ring, 8 * allocation.getArrivals().size()) + uint32_t(8 * number)};
}

SharedAddress RoleRun::bufferAt(Value buffer) {
  auto type = cast<BufferType>(buffer.getType());
  if (auto allocation = buffer.getDefiningOp<AllocOp>())
    return {0, memory.of(buffer, bytesOf(type))};
  if (auto same = buffer.getDefiningOp<ReinterpretOp>())
    return bufferAt(same.getBuffer());
  auto part = buffer.getDefiningOp<SubviewOp>();
  if (!part)
    throw UnknownRole{"a buffer is not of this kernel"};
  // Of whole rows: then the part is one piece of memory.
  BufferType whole = part.getBuffer().getType();
  int64_t first = 0, elements = ShapedType::getNumElements(type.getShape()), rest = ShapedType::getNumElements(whole.getShape());
  for (auto [offset, extent] : llvm::zip(part.getOffsets(), whole.getShape()))
    first = first * extent + int64_t(known(offset));
  for (int64_t extent : whole.getShape()) {
    if (rest <= elements)
      break;
    rest /= extent;
  }
  if (rest != elements || first % elements)
    throw UnknownRole{"a part of a buffer is not one piece of memory"};
  SharedAddress at = bufferAt(part.getBuffer());
  at.offset += first * (bytesOf(type) / elements);
  return at;
}

void RoleRun::read(Value buffer) {
  add(Event::Read, bufferAt(buffer));
  add(Event::CommitReads, {});
  add(Event::WaitReads, {});
}

void RoleRun::add(Event::Kind kind, SharedAddress at, int64_t count, SharedAddress data) {
  events.push_back({kind, at, uint32_t(count), data});
  events.back().source = source;
}
