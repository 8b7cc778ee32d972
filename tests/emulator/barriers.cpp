// Barriers in shared memory.
#include "block.h"
#include <cstring>

namespace tilery::emulator {
namespace {
constexpr uint64_t mark = 0xba221e2ba221e200; // what lies where a barrier is: nobody may write over it

/// `act`: what the thread does to the barrier.
CountingBarrier &barrierAt(Thread &thread, Block &block, uint32_t place, Act act = Act::Updates) {
  auto found = block.shared.barriers.find(place);
  if (found == block.shared.barriers.end())
    block.cluster->fail(thread, "uses a barrier at " + std::to_string(place) + " of shared memory, where none was made");
  uint64_t bits;
  std::memcpy(&bits, block.shared.at(place), 8);
  if (bits != mark)
    block.cluster->fail(thread, "uses a barrier at " + std::to_string(place) + " of shared memory that was written over");
  touchShared(thread, block, place, 8, {{thread.clock.agent, thread.clock.now}, act}, only(thread));
  return found->second;
}

void complete(CountingBarrier &barrier) {
  if (barrier.outstanding == 0 && barrier.bytes == 0) {
    ++barrier.phase;
    if (barrier.agent)
      barrier.channel.add(barrier.agent, uint32_t(barrier.phase), 0);
    barrier.known = barrier.channel.all();
    barrier.outstanding = barrier.arrivals;
  }
}

void arriveAt(Thread &thread, CountingBarrier &barrier, uint32_t place) {
  if (barrier.outstanding == 0)
    thread.home->cluster->fail(thread, "arrives at the barrier at " + std::to_string(place) + ", which has its " +
                                           std::to_string(barrier.arrivals) + " arrivals");
  --barrier.outstanding;
  complete(barrier);
}
} // namespace

void initBarrier(Thread *thread, uint32_t address, uint32_t arrivals) {
  auto [block, place] = placeOf(*thread, address, 8);
  if (place % 8 || arrivals == 0)
    block->cluster->fail(*thread, "makes a barrier of " + std::to_string(arrivals) + " arrivals at " + std::to_string(place));
  touchShared(*thread, *block, place, 8, {{thread->clock.agent, thread->clock.now}, Act::Stores}, only(*thread));
  CountingBarrier &barrier = block->shared.barriers[place] = {};
  barrier.arrivals = barrier.outstanding = arrivals;
  barrier.maker = thread->number;
  std::memcpy(block->shared.at(place), &mark, 8);
}

void fenceBarrierInit(Thread *thread) {
  for (auto &[place, barrier] : thread->home->shared.barriers)
    barrier.shown |= barrier.maker == thread->number;
}

void arrive(Thread *thread, uint32_t address, uint32_t peer) {
  auto [block, place] = placeOf(*thread, address, 8);
  if (!peer && block != thread->home)
    block->cluster->fail(*thread, "takes the address of a peer for one of its own block");
  CountingBarrier &barrier = barrierAt(*thread, *block, place);
  thread->clock.release(barrier.channel);
  arriveAt(*thread, barrier, place);
}

void expectBytes(Thread *thread, uint32_t address, uint32_t bytes) {
  auto [block, place] = placeOf(*thread, address, 8);
  barrierAt(*thread, *block, place).bytes += bytes;
}

void arriveExpect(Thread *thread, uint32_t address, uint32_t bytes) {
  auto [block, place] = placeOf(*thread, address, 8);
  CountingBarrier &barrier = barrierAt(*thread, *block, place);
  barrier.bytes += bytes;
  thread->clock.release(barrier.channel);
  arriveAt(*thread, barrier, place);
}

void arriveLate(Thread &thread, Block &block, uint32_t place) { arriveAt(thread, block.shared.barriers.at(place), place); }

void credit(Block &block, uint32_t place, uint32_t bytes) {
  CountingBarrier &barrier = block.shared.barriers.at(place);
  barrier.bytes -= bytes;
  complete(barrier);
}

void waitBarrier(Thread *thread, uint32_t address, uint32_t parity) {
  auto [block, place] = placeOf(*thread, address, 8);
  if (parity > 1)
    block->cluster->fail(*thread, "waits for parity " + std::to_string(parity));
  CountingBarrier &barrier = barrierAt(*thread, *block, place, Act::Looks);
  block->cluster->wait([&barrier, parity] { return (barrier.phase & 1) != parity; },
                       [&barrier, place] {
                         return "the barrier at " + std::to_string(place) + " to complete its phase " +
                                std::to_string(barrier.phase) + " (" + std::to_string(barrier.outstanding) + " arrivals and " +
                                std::to_string(barrier.bytes) + " bytes are to come)";
                       });
  thread->clock.known = block->cluster->races.cache.joined(thread->clock.known, barrier.known);
}

} // namespace tilery::emulator
