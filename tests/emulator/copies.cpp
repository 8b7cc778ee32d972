// The copy engine, and copies by threads.
#include "block.h"
#include <cstring>

namespace tilery::emulator {
namespace {
std::string at(uint32_t place) { return " at " + std::to_string(place) + " of shared memory"; }

/// Begins to write `bytes` of shared memory; `bring` does it.
void startArrival(Thread &thread, uint32_t address, uint32_t bytes, uint32_t barrierAddress, std::function<void(char *)> bring) {
  auto [block, place] = placeOf(thread, address, bytes);
  auto [barrierBlock, barrier] = placeOf(thread, barrierAddress, 8);
  Cluster &cluster = *thread.home->cluster;
  auto found = barrierBlock->shared.barriers.find(barrier);
  if (found == barrierBlock->shared.barriers.end() || barrierBlock != block)
    cluster.fail(thread, "starts a copy whose barrier" + at(barrier) + " was not made");
  if (!found->second.shown)
    cluster.fail(thread, "starts a copy whose barrier" + at(barrier) + " was not fenced after it was made");
  CountingBarrier &counts = found->second;
  if (!counts.agent && cluster.watches)
    counts.agent = cluster.races.newAgent([] { return std::string("the copy engine"); });
  touchShared(thread, *block, place, bytes, {{counts.agent, uint32_t(counts.phase + 1)}, Act::Brings}, only(thread));
  std::memset(block->shared.at(place), undefinedByte, bytes);
  cluster.arrivals.push_back({block, place, bytes, barrier, std::move(bring)});
  if (cluster.timing == Timing::CopiesAtOnce)
    cluster.land();
}

void startStore(Thread &thread, uint32_t address, uint32_t bytes, std::function<void(const char *)> put) {
  auto [block, place] = placeOf(thread, address, bytes);
  Cluster &cluster = *thread.home->cluster;
  Block &home = *block;
  uint32_t agent = agentOf(thread, thread.storer, "a store");
  touchShared(thread, home, place, bytes, {{agent, thread.storer.now}, Act::TakesAway}, only(thread));
  auto kept = std::make_shared<std::vector<char>>();
  Thread::Store store{place, bytes,
                      [&home, kept, place = place, bytes] { kept->assign(home.shared.at(place), home.shared.at(place) + bytes); },
                      [kept, put = std::move(put)] { put(kept->data()); }};
  if (cluster.timing == Timing::CopiesLate)
    store.read();
  thread.stores.back().push_back(std::move(store));
}

void readStores(Thread &thread, std::vector<Thread::Store> &group) {
  Cluster &cluster = *thread.home->cluster;
  for (Thread::Store &store : group) {
    if (store.hasRead)
      continue;
    if (cluster.timing == Timing::CopiesAtOnce)
      store.read();
    store.hasRead = true;
  }
}

void checkBox(Thread &thread, const TensorMap &map, uint32_t count, uint32_t address) {
  Cluster &cluster = *thread.home->cluster;
  if (count != map.rank)
    cluster.fail(thread, "names " + std::to_string(count) + " coordinates of a tensor of rank " + std::to_string(map.rank));
  uint32_t unit = map.swizzle ? 8 * map.swizzle : 128, place = placeOf(thread, address, map.boxBytes()).second;
  if (place % unit)
    cluster.fail(thread, "copies a box" + at(place) + ", which is no multiple of " + std::to_string(unit));
}
} // namespace

// The newest first: nobody may rely on their order.
bool Cluster::land() {
  if (arrivals.empty())
    return false;
  Arrival arrival = std::move(arrivals.back());
  arrivals.pop_back();
  arrival.bring(arrival.block->shared.at(arrival.address));
  if (arrival.copier) {
    arriveLate(*arrival.copier, *arrival.block, arrival.barrier);
    return true;
  }
  credit(*arrival.block, arrival.barrier, arrival.bytes);
  return true;
}

// In place: copies that have not landed yet find what is there when they do.
void makeMap(Thread *thread, char *place, const TensorMap *map, char *base, const int64_t *numbers, uint32_t rank) {
  Cluster &cluster = *thread->home->cluster;
  if (rank != map->rank)
    cluster.fail(*thread, "makes a map of rank " + std::to_string(rank) + " of one of rank " + std::to_string(map->rank));
  bool aligned = reinterpret_cast<uintptr_t>(base) % 16 == 0;
  for (unsigned d = 0; d + 1 < rank; ++d)
    aligned &= numbers[rank + d] % 16 == 0 && numbers[rank + d] >= 0;
  if (!aligned)
    cluster.fail(*thread, "makes a map of a tensor whose rows are no multiples of 16 bytes");
  TensorMap &made = cluster.maps.insert_or_assign(place, *map).first->second;
  made.base = base;
  for (unsigned d = 0; d < rank; ++d) {
    if (numbers[d] < 1)
      cluster.fail(*thread, "makes a map of a tensor without elements");
    made.extent[d] = numbers[d];
    if (d)
      made.stride[d] = numbers[rank + d - 1];
  }
}

/// That of the launch, or one that was made in its place.
static const TensorMap *mapAt(Thread &thread, const TensorMap *map) {
  auto &maps = thread.home->cluster->maps;
  auto made = maps.find(reinterpret_cast<const char *>(map));
  return made == maps.end() ? map : &made->second;
}

void loadBox(Thread *thread, uint32_t shared, const TensorMap *map, const int32_t *coordinates, uint32_t count,
             uint32_t barrier) {
  map = mapAt(*thread, map);
  checkBox(*thread, *map, count, shared);
  std::vector<int32_t> from(coordinates, coordinates + count);
  startArrival(*thread, shared, map->boxBytes(), barrier, [map, from](char *to) { map->load(from.data(), to); });
}

static void checkBytes(Thread &thread, const char *global, uint32_t shared, uint32_t bytes) {
  if (bytes % 16 || shared % 16 || reinterpret_cast<uintptr_t>(global) % 16)
    thread.home->cluster->fail(thread,
                               "copies " + std::to_string(bytes) + " bytes between addresses that are no multiples of 16");
}
void loadBytes(Thread *thread, uint32_t shared, const char *global, uint32_t bytes, uint32_t barrier) {
  checkBytes(*thread, global, shared, bytes);
  startArrival(*thread, shared, bytes, barrier, [global, bytes](char *to) { std::memcpy(to, global, bytes); });
}

void storeBox(Thread *thread, const TensorMap *map, const int32_t *coordinates, uint32_t count, uint32_t shared, uint32_t add) {
  map = mapAt(*thread, map);
  checkBox(*thread, *map, count, shared);
  if (add && map->dtype != DType::F32)
    thread->home->cluster->fail(*thread, "adds a box that is not of f32");
  if (int64_t(coordinates[0]) * map->elementBytes % 16) // an illegal instruction of an H200
    thread->home->cluster->fail(*thread, "stores a box that begins between multiples of 16 bytes");
  std::vector<int32_t> to(coordinates, coordinates + count);
  startStore(*thread, shared, map->boxBytes(), [map, to, add](const char *from) { map->store(to.data(), from, add); });
}
void storeBytes(Thread *thread, char *global, uint32_t shared, uint32_t bytes) {
  checkBytes(*thread, global, shared, bytes);
  startStore(*thread, shared, bytes, [global, bytes](const char *from) { std::memcpy(global, from, bytes); });
}
/// The engine's work so far is a group.
static void commit(Thread::Engine &engine) { engine.groups.push_back(engine.now++); }

/// All groups but the last `pending` are over, as the thread knows.
static void settle(Thread &thread, Thread::Engine &engine, uint32_t pending) {
  uint32_t time = 0;
  for (; engine.groups.size() > pending; engine.groups.pop_front())
    time = engine.groups.front();
  if (engine.agent)
    thread.clock.known = thread.home->cluster->races.cache.raised(thread.clock.known, {engine.agent, time});
}

void commitStores(Thread *thread) {
  thread->stores.emplace_back();
  commit(thread->storer);
}

void waitStores(Thread *thread, uint32_t read, uint32_t pending) {
  auto &groups = thread->stores;
  settle(*thread, thread->storer, pending);
  for (size_t i = 0; i + pending + 1 < groups.size(); ++i)
    readStores(*thread, groups[i]);
  while (!read && groups.size() > pending + 1) {
    for (Thread::Store &store : groups.front())
      store.write();
    groups.pop_front();
  }
}

void finish(Thread &thread) {
  Cluster &cluster = *thread.home->cluster;
  for (auto &group : thread.stores)
    for (Thread::Store &store : group) {
      if (!store.hasRead)
        cluster.fail(thread, "ends while its stores still read shared memory");
      store.write();
    }
  ++cluster.ended;
}

void fenceProxy(Thread *thread) { thread->clock.fence(thread->home->cluster->races.cache); }

void Thread::Copy::make() const {
  std::memset(to, 0, 16);
  std::memcpy(to, from, bytes);
}

void copyAsync(Thread *thread, char *to, const char *from, uint32_t bytes) {
  Moment when{agentOf(*thread, thread->copier, "a copy"), thread->copier.now};
  touch(*thread, to, 16, {when, Act::Copies});
  if (bytes)
    touch(*thread, from, bytes, {when, Act::Loads});
  thread->copies.back().push_back({to, from, bytes});
}

void arriveCopies(Thread *thread, uint32_t address) {
  auto [block, barrier] = placeOf(*thread, address, 8);
  Block &home = *block;
  if (thread->copier.agent)
    block->shared.barriers.at(barrier).channel.add(thread->copier.agent, thread->copier.now++, 0);
  std::vector<Thread::Copy> copies;
  for (auto &group : thread->copies) {
    copies.insert(copies.end(), group.begin(), group.end());
    group.clear();
  }
  auto bring = [copies](char *) {
    for (const Thread::Copy &copy : copies)
      copy.make();
  };
  home.cluster->arrivals.push_back({block, 0, 0, barrier, bring, thread});
  if (home.cluster->timing == Timing::CopiesAtOnce)
    home.cluster->land();
}
void commitCopies(Thread *thread) {
  thread->copies.emplace_back();
  commit(thread->copier);
}
void waitCopies(Thread *thread, uint32_t pending) {
  settle(*thread, thread->copier, pending);
  while (thread->copies.size() > pending + 1) {
    for (const Thread::Copy &copy : thread->copies.front())
      copy.make();
    thread->copies.pop_front();
  }
}

} // namespace tilery::emulator
