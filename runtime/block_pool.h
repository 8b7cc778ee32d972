#pragma once
// Memory for packed operands: blocks that outlive a launch, on huge pages where the system gives them.
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace tilery {

/// Fresh pages cost more than packing into warm ones, and small pages cost a matmul of 2048 x 2048 some 5 % (misses of the TLB).
/// So blocks are kept when they are given back, and those of 1 MiB or less are cut from regions of one huge page. Thread-safe.
class BlockPool {
public:
  /// Keeps up to `limit` bytes that nobody uses.
  explicit BlockPool(size_t limit) : limit(limit) {}

  /// At least `bytes` bytes, aligned to 64 KiB, contents undefined. Ends the process if there is no memory.
  void *take(size_t bytes);
  void give(void *block);
  /// Bytes kept for later.
  size_t keptBytes();

private:
  /// A region of one huge page, cut into equal blocks.
  struct Slab {
    char *memory;
    size_t bytes; // of the region it is cut from
    unsigned sizeClass;
    uint32_t free; // bit i: block i
  };
  void *takeRegion(size_t bytes);
  void giveRegion(void *region, size_t bytes);

  static inline std::mutex mutex; // of all pools: there is one, and a fork waits for it
  static const bool forkable;
  const size_t limit;
  std::multimap<size_t, void *> regions;       // kept, by size
  std::unordered_map<void *, size_t> inUse;    // regions given out as they are
  std::unordered_map<uintptr_t, Slab *> slabs; // by address
  std::vector<Slab *> partial[5];              // slabs with a free block, by size class
  size_t kept = 0;
};

} // namespace tilery
