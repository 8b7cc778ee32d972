// What threads do with each other.
#include "block.h"
#include <cstring>

namespace tilery::emulator {

std::string nameOf(const Thread &thread) {
  std::string name = thread.role;
  if (name != "thread")
    name += ", thread";
  name += " " + std::to_string(thread.number);
  return thread.home->cluster->blocks.size() > 1 ? name + " of block " + std::to_string(thread.home->rank) : name;
}

void Cluster::fail(const Thread &thread, const std::string &what) { fibers->fail(nameOf(thread) + " " + what); }

/// "thread 3" or "threads 0 to 31" of each run of neighbours that are alike.
std::string Cluster::deadlock() const {
  std::string text;
  unsigned fiber = 0;
  for (const Block &block : blocks) {
    std::string before;
    unsigned from = 0;
    auto say = [&](unsigned to) {
      const Thread &thread = block.threads[from];
      std::string who = std::string(thread.role) == "thread" ? "" : std::string(thread.role) + ", ";
      who += to == from ? "thread " + std::to_string(from) : "threads " + std::to_string(from) + " to " + std::to_string(to);
      if (blocks.size() > 1)
        who += " of block " + std::to_string(block.rank);
      text += "\n  " + who + (before.empty() ? " ended" : (to == from ? " waits for " : " wait for ") + before);
    };
    for (const Thread &thread : block.threads) {
      std::string now = fibers->waitsFor(fiber++);
      bool role = thread.number && block.threads[thread.number - 1].role != thread.role;
      if (thread.number && (role || now != before))
        say(thread.number - 1), from = thread.number;
      before = now;
    }
    say(block.threads.size() - 1);
  }
  return "deadlock:" + text;
}

std::pair<Block *, uint32_t> placeOf(Thread &thread, uint32_t address, uint32_t bytes) {
  Cluster &cluster = *thread.home->cluster;
  uint32_t rank = address >> 24, place = (address & 0xffffff) - firstAddress;
  Block *block = rank == 0 ? thread.home : rank <= cluster.blocks.size() ? &cluster.blocks[rank - 1] : nullptr;
  if (!block || place > block->shared.bytes() || bytes > block->shared.bytes() - place)
    cluster.fail(thread, "names " + std::to_string(bytes) + " bytes at " + std::to_string(int32_t(place)) +
                             " of shared memory, which has " + std::to_string(thread.home->shared.bytes()));
  return {block, place};
}

/// `id`: 0 is the block's own.
static void meet(Thread &thread, NamedBarrier &barrier, unsigned expected, bool waits, uint32_t id) {
  Cluster &cluster = *thread.home->cluster;
  auto name = [id] { return id ? "barrier " + std::to_string(id) : std::string("the block's barrier"); };
  if (barrier.come && barrier.expected != expected)
    cluster.fail(thread, "comes to " + name() + " of " + std::to_string(expected) + " threads, where others wait for " +
                             std::to_string(barrier.expected));
  barrier.expected = expected;
  uint64_t times = barrier.times;
  thread.clock.release(barrier.channel);
  if (waits)
    barrier.waiting.push_back(&thread);
  if (++barrier.come == expected) {
    barrier.come = 0;
    ++barrier.times;
    for (Thread *each : barrier.waiting)
      each->clock.known = cluster.races.cache.joined(each->clock.known, barrier.channel.all());
    barrier.waiting.clear();
    barrier.channel.clear();
  } else if (waits) {
    cluster.wait([&barrier, times] { return barrier.times != times; },
                 [&barrier, &name] {
                   return name() + " (" + std::to_string(barrier.come) + " of " + std::to_string(barrier.expected) +
                          " threads have come)";
                 });
  }
}

void barrier(Thread *thread) { meet(*thread, thread->home->named[0], thread->home->threads.size(), true, 0); }
static NamedBarrier &namedBarrierOf(Thread &thread, uint32_t id, uint32_t threads) {
  if (id < 1 || id > 15 || threads % 32)
    thread.home->cluster->fail(thread, "uses barrier " + std::to_string(id) + " with " + std::to_string(threads) + " threads");
  return thread.home->named[id];
}
void namedBarrier(Thread *thread, uint32_t id, uint32_t threads) {
  meet(*thread, namedBarrierOf(*thread, id, threads), threads, true, id);
}
void arriveNamed(Thread *thread, uint32_t id, uint32_t threads) {
  meet(*thread, namedBarrierOf(*thread, id, threads), threads, false, id);
}
void clusterBarrier(Thread *thread) {
  Cluster &cluster = *thread->home->cluster;
  NamedBarrier &all = cluster.all;
  unsigned threads = cluster.blocks.size() * thread->home->threads.size();
  uint64_t times = all.times;
  ++all.come;
  thread->clock.release(all.channel);
  auto isOver = [&cluster, &all, threads, times] { // nobody waits for threads that have ended
    if (all.times == times && all.come + cluster.ended == threads) {
      all.come = 0, ++all.times;
      cluster.met = all.channel.all();
      all.channel.clear();
    }
    return all.times != times;
  };
  if (!isOver())
    cluster.wait(isOver, [&all, threads] {
      return "the cluster's barrier (" + std::to_string(all.come) + " of " + std::to_string(threads) + " threads have come)";
    });
  thread->clock.known = cluster.races.cache.joined(thread->clock.known, cluster.met);
}

void together(Thread &thread, Meeting &meeting, unsigned index, unsigned expected, const char *what, void *operand,
              llvm::function_ref<void(void **)> work) {
  Cluster &cluster = *thread.home->cluster;
  if (meeting.come && std::strcmp(meeting.what, what))
    cluster.fail(thread, std::string("comes to ") + what + " where threads beside it are at " + meeting.what);
  meeting.what = what;
  meeting.operands[index] = operand;
  if (++meeting.come == expected) {
    work(meeting.operands);
    meeting.come = 0;
    ++meeting.times;
    return;
  }
  uint64_t times = meeting.times;
  cluster.wait([&meeting, times] { return meeting.times != times; },
               [&meeting, expected] {
                 return std::string(meeting.what) + " together (" + std::to_string(meeting.come) + " of " +
                        std::to_string(expected) + " threads have come)";
               });
}

void warpBarrier(Thread *thread, uint32_t mask) {
  unsigned warp = thread->number / 32, self = thread->number % 32;
  if (!(mask >> self & 1))
    thread->home->cluster->fail(*thread, "waits with threads that it is not one of");
  together(*thread, thread->home->warps[{warp, mask}], self, __builtin_popcount(mask), "a warp's barrier", thread,
           [&](void **threads) {
             Channel channel;
             auto each = [&](const std::function<void(Clock &)> &what) {
               for (unsigned i = 0; i < 32; ++i)
                 if (mask >> i & 1)
                   what(static_cast<Thread *>(threads[i])->clock);
             };
             each([&](Clock &clock) { clock.release(channel); });
             each([&](Clock &clock) { clock.known = thread->home->cluster->races.cache.joined(clock.known, channel.all()); });
           });
}

uint32_t shuffle(Thread *thread, uint32_t value, uint32_t lane, uint32_t mask) {
  struct Offer {
    uint32_t value, lane, result;
  } own{value, lane, value};
  unsigned warp = thread->number / 32, self = thread->number % 32;
  if (!(mask >> self & 1))
    thread->home->cluster->fail(*thread, "shuffles with threads that it is not one of");
  together(*thread, thread->home->warps[{warp, mask}], self, __builtin_popcount(mask), "a shuffle", &own, [&](void **offers) {
    for (unsigned i = 0; i < 32; ++i)
      if (auto *offer = static_cast<Offer *>(offers[i]); (mask >> i & 1) && offer->lane < 32 && (mask >> offer->lane & 1))
        offer->result = static_cast<Offer *>(offers[offer->lane])->value;
  });
  return own.result;
}

static const char *nameOf(const WarpOperation &operation) {
  switch (operation.kind) {
  case WarpOperation::LoadMatrices:
  case WarpOperation::LoadTransposed:
    return "a load of matrices";
  case WarpOperation::StoreMatrices:
  case WarpOperation::StoreTransposed:
    return "a store of matrices";
  default:
    return "a product of a warp";
  }
}

void setRole(Thread *thread, const char *role) { thread->role = role; }

void setRegisters(Thread *thread, uint32_t count, uint32_t more) {
  Block &block = *thread->home;
  int64_t change = int64_t(count) - thread->registers;
  if (count % 8 || count < 24 || count > 256 || (more ? change < 0 : change > 0))
    block.cluster->fail(*thread, "sets its registers from " + std::to_string(thread->registers) +
                                     (more ? " up to " : " down to ") + std::to_string(count));
  block.cluster->wait([&block, change] { return block.freeRegisters >= change; },
                      [&block, count] {
                        return std::to_string(count) + " registers (" + std::to_string(block.freeRegisters) +
                               " of the block are free)";
                      });
  block.freeRegisters -= change;
  thread->registers = count;
}

uint32_t peerAddress(Thread *thread, uint32_t address, uint32_t rank) {
  if (rank >= thread->home->cluster->blocks.size())
    thread->home->cluster->fail(*thread, "addresses block " + std::to_string(rank) + " of a cluster of " +
                                             std::to_string(thread->home->cluster->blocks.size()));
  return (address & 0xffffff) | (rank + 1) << 24;
}

/// The place of some bytes that one instruction accesses.
static std::pair<Block *, uint32_t> aligned(Thread &thread, uint32_t address, uint32_t bytes) {
  auto [block, place] = placeOf(thread, address, bytes);
  if (bytes < 16 ? place % bytes : place % 16)
    block->cluster->fail(thread,
                         "accesses " + std::to_string(bytes) + " bytes at " + std::to_string(place) + " of shared memory");
  return {block, place};
}

/// An ordinary access of some bytes that the copy engine or the tensor cores may be at, too.
static char *access(Thread &thread, uint32_t address, uint32_t bytes, const void *stored = nullptr) {
  auto [block, place] = aligned(thread, address, bytes);
  bool isSame = stored && !std::memcmp(block->shared.at(place), stored, bytes);
  touchShared(thread, *block, place, bytes,
              {{thread.clock.agent, thread.clock.now}, stored ? Act::Stores : Act::Loads, 0, isSame}, only(thread));
  return block->shared.at(place);
}

static void own(Thread &thread, uint32_t address, uint32_t peer) {
  if (!peer && address >> 24)
    thread.home->cluster->fail(thread, "takes the address of a peer for one of its own block");
}
static constexpr uint32_t rowBytes = 16; // of a matrix

void warpOperation(Thread *thread, WarpOperation *operation) {
  unsigned warp = thread->number / 32, self = thread->number % 32;
  if (operation->kind == WarpOperation::RoundTF32) { // needs no other thread
    WarpOperation *alone[32] = {};
    alone[self] = operation;
    return emulate(self, alone);
  }
  struct Part {
    Thread *thread;
    WarpOperation *operation;
    bool hasRow, stores;
    void touchRow(bool isSame) const {
      touch(*thread, static_cast<const char *>(operation->row), rowBytes,
            {{thread->clock.agent, thread->clock.now}, stores ? Act::Stores : Act::Loads, 0, isSame});
    }
  } part{thread, operation, operation->kind < WarpOperation::RoundTF32 && self < 8 * operation->count,
         operation->kind == WarpOperation::StoreMatrices || operation->kind == WarpOperation::StoreTransposed};
  if (part.hasRow && !operation->row) {
    own(*thread, operation->address, 0);
    auto [block, place] = aligned(*thread, operation->address, rowBytes);
    operation->row = block->shared.at(place);
  }
  if (part.hasRow && !part.stores)
    part.touchRow(false);
  together(*thread, thread->home->warps[{warp, ~0u}], self, 32, nameOf(*operation), &part, [](void **operands) {
    auto parts = reinterpret_cast<Part **>(operands);
    WarpOperation *all[32];
    char before[32][rowBytes];
    for (unsigned i = 0; i < 32; ++i) {
      all[i] = parts[i]->operation;
      if (parts[i]->hasRow)
        std::memcpy(before[i], all[i]->row, rowBytes);
    }
    for (unsigned i = 0; i < 32; ++i)
      emulate(i, all);
    for (unsigned i = 0; i < 32; ++i) // what a row holds is known now
      if (parts[i]->hasRow && parts[i]->stores)
        parts[i]->touchRow(!std::memcmp(before[i], all[i]->row, rowBytes));
  });
}

void loadShared(Thread *thread, uint32_t address, void *to, uint32_t bytes, uint32_t peer) {
  own(*thread, address, peer);
  std::memcpy(to, access(*thread, address, bytes), bytes);
}
void storeShared(Thread *thread, uint32_t address, const void *from, uint32_t bytes, uint32_t peer) {
  own(*thread, address, peer);
  std::memcpy(access(*thread, address, bytes, from), from, bytes);
}

} // namespace tilery::emulator
