// tile.threads, tile.roles and what their threads say to each other. Threads are fibers.
#include "compiler/analysis/barrier_names.h"
#include "compiler/analysis/thread_set.h"
#include "compiler/ir/warp.h"
#include "compiler/oracle/access.h"
#include "compiler/oracle/buffer.h"
#include "compiler/oracle/dot.h"
#include "compiler/source_chain.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;

namespace tilery::oracle {

// The meeting of the threads [index * width, (index + 1) * width); width 0: of all.
static Meeting &meetingOf(ThreadGroup &group, unsigned width, unsigned thread) {
  unsigned index = width ? thread / width : 0;
  auto [entry, isNew] = group.meetings.try_emplace({width, index});
  if (isNew)
    for (unsigned t = 0; t < group.count; ++t)
      entry->second.live += group.alive[t] && (width == 0 || t / width == index);
  return entry->second;
}

static std::string placeOf(Operation *op) {
  auto chain = sourceChain(op->getLoc());
  return chain.empty() ? "another place" : chain.front().file + ":" + std::to_string(chain.front().line);
}

static void endRoundIfDue(Meeting &meeting) {
  if (meeting.arrived < meeting.live)
    return;
  meeting.arrived = 0;
  ++meeting.round;
}

static void meet(Interpreter &in, Operation *op, unsigned width) {
  if (!in.threads)
    return; // one thread of control has nobody to wait for
  Meeting &meeting = meetingOf(*in.threads, width, in.thread);
  uint64_t round = meeting.round;
  if (meeting.arrived && meeting.where != op)
    in.fail(op,
            "threads of program " + in.programText() + " diverge: thread " + std::to_string(in.thread) +
                " waits here for others that wait at " + placeOf(meeting.where),
            "all threads must reach the same barrier; move it out of the branch or loop that only some of them take");
  meeting.where = op;
  ++meeting.arrived;
  endRoundIfDue(meeting);
  in.run.scheduler.waitUntil([&meeting, round] { return meeting.round != round; });
}

/// Those of the thread's group of `width` who come to the op, where branches on their numbers decide; none: everybody must.
static Part &partOf(Interpreter &in, Operation *op, unsigned width) {
  unsigned group = width ? in.thread / width : 0;
  auto [entry, isNew] = in.threads->parts.try_emplace({op, group});
  Part &part = entry->second;
  if (isNew)
    if (auto here = analysis::threadsAt(op); here && !here->all()) {
      part.threads.resize(in.threads->count);
      for (unsigned t : here->set_bits())
        if (!width || t / width == group) {
          part.threads.set(t);
          part.meeting.live += in.threads->alive[t];
        }
    }
  return part;
}

/// True if the thread is one of those who do this together with it.
static bool comes(const ThreadGroup &group, const Part &part, unsigned thread) {
  return group.alive[thread] && (part.threads.empty() || part.threads.test(thread));
}

static void meetThere(Interpreter &in, Operation *op, unsigned width, Part &part) {
  if (part.threads.empty())
    return meet(in, op, width);
  uint64_t round = part.meeting.round;
  ++part.meeting.arrived;
  endRoundIfDue(part.meeting);
  in.run.scheduler.waitUntil([&part, round] { return part.meeting.round != round; });
}

static void sync(Interpreter &in, tile::SyncOp op) {
  if (in.threads)
    meetThere(in, op, op.getWidth(), partOf(in, op, op.getWidth()));
}

static void leave(ThreadGroup &group, unsigned thread) {
  group.alive[thread] = false;
  for (auto &[key, meeting] : group.meetings)
    if (key.first == 0 || thread / key.first == key.second) {
      --meeting.live;
      if (meeting.arrived)
        endRoundIfDue(meeting);
    }
  for (auto &[place, part] : group.parts)
    if (!part.threads.empty() && part.threads.test(thread)) {
      --part.meeting.live;
      if (part.meeting.arrived)
        endRoundIfDue(part.meeting);
    }
}

// Runs bodies side by side until all have ended.
static void runSideBySide(Interpreter &in, Operation *op, size_t count, const std::function<void(size_t)> &body) {
  size_t running = count;
  for (size_t i = 0; i < count; ++i)
    in.run.scheduler.spawn([&, i] {
      body(i);
      --running;
    });
  try {
    in.run.scheduler.waitUntil([&] { return running == 0; });
  } catch (Scheduler::Deadlock) {
    if (!in.run.waiting.empty())
      in.fail(in.run.waiting.front().op, in.run.waiting.front().text);
    in.fail(op, "threads of program " + in.programText() + " wait for each other for ever");
  }
}

static void threads(Interpreter &in, tile::ThreadsOp op) {
  ThreadGroup group{
      unsigned(op.getCount()), std::vector<bool>(op.getCount(), true), std::vector<Tile>(op.getCount()), {}, {}, {}};
  std::deque<Interpreter> interpreters;
  for (unsigned t = 0; t < group.count; ++t)
    group.members.push_back(&interpreters.emplace_back(in, t, &group));
  runSideBySide(in, op, group.count, [&](size_t t) {
    Tile id({Format::Int, 32}, {});
    id.lanes[0] = t;
    interpreters[t].set(op.getBody().getArgument(0), std::move(id));
    interpreters[t].runBlock(op.getBody().front());
    leave(group, t);
  });
}

/// Who carries out a tile operation: all threads; in a role, whose threads others wait for at barriers only, those that come.
static Part &carriers(Interpreter &in, tile::TogetherOp op) {
  return op->getParentOfType<tile::RolesOp>() ? partOf(in, op, 0) : in.threads->parts.try_emplace({op, 0}).first->second;
}

/// What the body takes from its thread must be what every other thread has, too.
static void checkAlike(Interpreter &in, tile::TogetherOp op, const Part &part) {
  ThreadGroup &group = *in.threads;
  if (part.threads.empty() && llvm::is_contained(group.alive, false))
    in.fail(op, "threads of program " + in.programText() + " diverge: all must reach this together, but some have ended");
  SetVector<Value> taken;
  getUsedValuesDefinedAbove(op.getBody(), taken);
  for (Value value : taken) {
    if (!op->getParentOfType<tile::ThreadsOp>()->isAncestor(value.getParentBlock()->getParentOp()) ||
        !std::holds_alternative<Tile>(in.get(value)))
      continue;
    for (Interpreter *other : group.members)
      if (comes(group, part, other->thread) && other->tile(value).lanes != in.tile(value).lanes)
        in.fail(op,
                "threads of program " + in.programText() + " carry this out together, but thread " +
                    std::to_string(other->thread) + " brings another value than thread " + std::to_string(in.thread),
                "what a tile operation takes must not depend on the thread");
  }
}

static void together(Interpreter &in, tile::TogetherOp op) {
  Part &part = carriers(in, op);
  meetThere(in, op, 0, part);
  unsigned first = 0;
  while (!comes(*in.threads, part, first))
    ++first;
  if (in.thread == first) {
    checkAlike(in, op, part);
    ThreadGroup *group = std::exchange(in.threads, nullptr); // one thread of control
    Operation *yield = in.runBlock(op.getBody().front());
    in.threads = group;
    part.results.clear();
    for (Value value : yield->getOperands())
      part.results.push_back(in.get(value));
  }
  meetThere(in, op, 0, part);
  for (auto [result, value] : llvm::zip_equal(op.getResults(), part.results))
    in.set(result, value);
}

static void roles(Interpreter &in, tile::RolesOp op) {
  std::deque<Interpreter> interpreters;
  for (size_t i = 0; i < op.getBodies().size(); ++i)
    interpreters.emplace_back(in, 0, nullptr);
  runSideBySide(in, op, op.getBodies().size(), [&](size_t i) { interpreters[i].runBlock(op.getBodies()[i].front()); });
}

static void shuffle(Interpreter &in, tile::ShuffleOp op) {
  Tile value = in.tile(op.getValue());
  if (in.threads) {
    unsigned width = op.getWidth(), lane = in.thread % width, first = in.thread - lane;
    int64_t operand = in.decide(op.getLane()), source = 0;
    switch (op.getMode()) {
    case tile::ShuffleMode::idx:
      source = operand;
      break;
    case tile::ShuffleMode::up:
      source = int64_t(lane) - operand;
      break;
    case tile::ShuffleMode::down:
      source = int64_t(lane) + operand;
      break;
    case tile::ShuffleMode::xor_:
      source = int64_t(lane) ^ operand;
      break;
    }
    Part &part = partOf(in, op, width);
    in.threads->exchange[in.thread] = value;
    meetThere(in, op, width, part);
    if (source >= 0 && source < int64_t(width) && first + source < in.threads->count && comes(*in.threads, part, first + source))
      value = in.threads->exchange[first + source];
    meetThere(in, op, width, part); // nobody offers the next value before all have read
  }
  in.set(op.getResult(), std::move(value));
}

static void vote(Interpreter &in, tile::VoteOp op) {
  Tile mine = in.tile(op.getPredicate());
  in.requireDecided(mine);
  uint32_t ballot = mine.lanes[0] & 1, voters = 1, yes = ballot;
  if (in.threads) {
    unsigned width = op.getWidth() ? op.getWidth() : in.threads->count, first = in.thread / width * width;
    Part &part = partOf(in, op, op.getWidth());
    in.threads->exchange[in.thread] = mine;
    meetThere(in, op, op.getWidth(), part);
    ballot = voters = yes = 0;
    for (unsigned t = first; t < std::min(first + width, in.threads->count); ++t)
      if (comes(*in.threads, part, t)) {
        bool vote = in.threads->exchange[t].lanes[0] & 1;
        ++voters;
        yes += vote;
        if (t - first < 32)
          ballot |= uint32_t(vote) << (t - first);
      }
    meetThere(in, op, op.getWidth(), part);
  }
  Tile result(elementOf(op.getType()), {});
  switch (op.getMode()) {
  case tile::VoteMode::any:
    result.lanes[0] = yes != 0;
    break;
  case tile::VoteMode::all:
    result.lanes[0] = yes == voters;
    break;
  case tile::VoteMode::ballot:
    result.lanes[0] = wrap(result.element, ballot);
    break;
  case tile::VoteMode::count:
    result.lanes[0] = yes;
    break;
  }
  in.set(op.getResult(), std::move(result));
}

static void warpDot(Interpreter &in, tile::WarpDotOp op) {
  Part &part = partOf(in, op, tile::warpLanes);
  unsigned lane = in.thread % tile::warpLanes, first = in.thread - lane;
  int64_t w = op.getPerWord(), depth = op.getDepth(), g = lane / 4, t = lane % 4;
  if (!part.threads.empty() && part.threads.count() % tile::warpLanes)
    in.fail(op, "only some threads of a warp come to a product of all of them", "move it out of the branch");
  // What every lane of the warp holds: [lane, i].
  auto offered = [&](ValueRange values) {
    Tile mine(in.tile(values[0]).element, {int64_t(values.size())});
    for (auto [i, value] : llvm::enumerate(values))
      copyLane(mine, i, in.tile(value), 0);
    in.threads->exchange[in.thread] = mine;
    meetThere(in, op, tile::warpLanes, part);
    Tile all(mine.element, {tile::warpLanes, mine.size()});
    for (int64_t l = 0; l < tile::warpLanes; ++l)
      for (int64_t i = 0; i < mine.size(); ++i)
        copyLane(all, l * mine.size() + i, in.threads->exchange[first + l], i);
    meetThere(in, op, tile::warpLanes, part); // nobody offers the next values before all have read
    return all;
  };
  Tile parts = offered(op.getA()), others = offered(op.getB());
  // The two rows and two columns that meet in the own elements.
  Tile a(parts.element, {2, depth}), b(others.element, {depth, 2}), c(in.tile(op.getC()[0]).element, {2, 2});
  for (int64_t k = 0; k < depth; ++k) {
    int64_t holder = k / w % 4, i = k % w + k / (4 * w) * w; // as b has it
    for (int64_t half = 0; half < 2; ++half) {
      int64_t mine = k % w + w * (half + 2 * (k / (4 * w)));
      copyLane(a, half * depth + k, parts, (4 * g + holder) * int64_t(op.getA().size()) + mine);
      copyLane(b, 2 * k + half, others, (4 * (2 * t + half) + holder) * int64_t(op.getB().size()) + i);
    }
  }
  for (int64_t i = 0; i < 4; ++i)
    copyLane(c, i, in.tile(op.getC()[i]), 0);
  Tile sums = dot(in, a, b, c, false, tile::Precision::tf32, op.getAUnsigned(), op.getBUnsigned());
  for (int64_t i = 0; i < 4; ++i) {
    Tile sum(sums.element, {});
    copyLane(sum, 0, sums, i);
    in.set(op.getResult()[i], std::move(sum));
  }
}

void BarrierState::completeIfDue() {
  if (pending > 0 || bytes != 0)
    return;
  pending = arrivals;
  ++phase;
}

static BarrierState &barrierAt(Interpreter &in, Operation *op, Value ring, Value index) {
  auto &barriers = *in.as<BarrierRing>(ring);
  int64_t at = in.decide(index);
  if (at < 0 || at >= int64_t(barriers.size()))
    in.fail(op, "there is no barrier " + std::to_string(at) + " in a ring of " + std::to_string(barriers.size()), {},
            Diagnostic::Kind::Index);
  return barriers[at];
}

static void asyncCopy(Interpreter &in, tile::AsyncCopyOp op) {
  const Buffer &buffer = in.as<Buffer>(op.getBuffer());
  storeBuffer(buffer, loadAll(in, op, in.as<Places>(op.getView())), nullptr);
  BarrierState &barrier = barrierAt(in, op, op.getBarrier(), op.getIndex());
  barrier.bytes -= sizeOf(buffer.shape) * buffer.element.bytes();
  barrier.completeIfDue();
}

void addThreadHandlers(Handlers &table) {
  table.add<tile::ThreadsOp>(threads);
  table.add<tile::TogetherOp>(together);
  table.add<tile::RolesOp>(roles);
  table.add<tile::SyncOp>(sync);
  table.add<tile::ShuffleOp>(shuffle);
  table.add<tile::VoteOp>(vote);
  table.add<tile::WarpDotOp>(warpDot);
  table.add<tile::BarrierAllocOp>([](Interpreter &in, tile::BarrierAllocOp op) {
    auto ring = std::make_shared<std::vector<BarrierState>>();
    for (int64_t arrivals : op.getArrivals())
      ring->push_back({arrivals, arrivals});
    in.set(op.getResult(), std::move(ring));
  });
  table.add<tile::BarrierArriveOp>([](Interpreter &in, tile::BarrierArriveOp op) {
    BarrierState &barrier = barrierAt(in, op, op.getBarrier(), op.getIndex());
    barrier.bytes += op.getBytes().value_or(0);
    barrier.pending -= int64_t(op.getCount());
    if (barrier.pending < 0)
      in.fail(op, analysis::barrierName(op.getBarrier(), in.decide(op.getIndex())) + " counts " +
                      std::to_string(barrier.arrivals) + " arrivals a phase and gets more than it lacks in program " +
                      in.programText());
    barrier.completeIfDue();
  });
  table.add<tile::BarrierWaitOp>([](Interpreter &in, tile::BarrierWaitOp op) {
    BarrierState &barrier = barrierAt(in, op, op.getBarrier(), op.getIndex());
    int64_t parity = in.decide(op.getParity()) & 1;
    std::string which = analysis::barrierName(op.getBarrier(), in.decide(op.getIndex()));
    std::string what = "program " + in.programText() + " waits for ever for " + which + ", whose phase of parity " +
                       std::to_string(parity) + " nobody completes";
    try {
      in.await(op, what, [&] { return (barrier.phase & 1) != parity; });
    } catch (Scheduler::Deadlock) {
      in.fail(op, what);
    }
  });
  table.add<tile::AsyncCopyOp>(asyncCopy);
}

} // namespace tilery::oracle
