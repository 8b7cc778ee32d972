#include "runtime/block_pool.h"
#include "runtime/fork.h"
#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <sys/mman.h>

namespace tilery {

static constexpr size_t hugePage = 2 << 20, smallest = 64 << 10;

static size_t roundUp(size_t bytes, size_t unit) { return (bytes + unit - 1) / unit * unit; }
static size_t sizeOf(unsigned sizeClass) { return smallest << sizeClass; }
static uint32_t allFree(unsigned sizeClass) { return uint32_t(~0ull >> (64 - hugePage / sizeOf(sizeClass))); }
static uintptr_t slabAddress(void *block) { return reinterpret_cast<uintptr_t>(block) / hugePage * hugePage; }

[[maybe_unused]] const bool BlockPool::forkable = freeAcrossFork<BlockPool::mutex>();

void *BlockPool::takeRegion(size_t bytes) {
  auto found = regions.lower_bound(bytes);
  if (found != regions.end() && found->first <= 2 * bytes) {
    void *region = found->second;
    inUse[region] = found->first;
    kept -= found->first;
    regions.erase(found);
    return region;
  }
  // A huge page needs an aligned place: map one more and return what sticks out.
  void *mapped = mmap(nullptr, bytes + hugePage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) {
    std::fprintf(stderr, "tilery: out of memory: %zu bytes for the packed operand of a dot\n", bytes);
    std::abort();
  }
  char *start = static_cast<char *>(mapped);
  char *region = reinterpret_cast<char *>(roundUp(reinterpret_cast<uintptr_t>(start), hugePage));
  if (region != start)
    munmap(start, region - start);
  if (size_t behind = start + hugePage - region)
    munmap(region + bytes, behind);
  madvise(region, bytes, MADV_HUGEPAGE);
  inUse[region] = bytes;
  return region;
}

void BlockPool::giveRegion(void *region, size_t bytes) {
  if (kept + bytes > limit) {
    munmap(region, bytes);
    return;
  }
  kept += bytes;
  regions.emplace(bytes, region);
}

void *BlockPool::take(size_t bytes) {
  std::lock_guard lock(mutex);
  if (bytes > hugePage / 2)
    return takeRegion(roundUp(bytes, hugePage));
  unsigned sizeClass = std::bit_width((std::max(bytes, smallest) - 1) / smallest);
  std::vector<Slab *> &candidates = partial[sizeClass];
  if (candidates.empty()) {
    void *memory = takeRegion(hugePage);
    auto region = inUse.find(memory);
    auto *slab = new Slab{static_cast<char *>(memory), region->second, sizeClass, allFree(sizeClass)};
    inUse.erase(region);
    slabs[slabAddress(memory)] = slab;
    candidates.push_back(slab);
  }
  Slab *slab = candidates.back();
  unsigned index = std::countr_zero(slab->free);
  slab->free &= slab->free - 1;
  if (!slab->free)
    candidates.pop_back();
  return slab->memory + index * sizeOf(sizeClass);
}

void BlockPool::give(void *block) {
  std::lock_guard lock(mutex);
  if (auto found = inUse.find(block); found != inUse.end()) {
    size_t bytes = found->second;
    inUse.erase(found);
    return giveRegion(block, bytes);
  }
  auto found = slabs.find(slabAddress(block));
  Slab *slab = found->second;
  std::vector<Slab *> &candidates = partial[slab->sizeClass];
  if (!slab->free)
    candidates.push_back(slab);
  slab->free |= 1u << ((static_cast<char *>(block) - slab->memory) / sizeOf(slab->sizeClass));
  if (slab->free != allFree(slab->sizeClass))
    return;
  candidates.erase(std::find(candidates.begin(), candidates.end(), slab));
  slabs.erase(found);
  giveRegion(slab->memory, slab->bytes);
  delete slab;
}

size_t BlockPool::keptBytes() {
  std::lock_guard lock(mutex);
  return kept;
}

} // namespace tilery
