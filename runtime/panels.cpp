#include "runtime/panels.h"
#include "tilery/abi.h"
#include "tilery/runtime.h"
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <immintrin.h>
#include <list>
#include <map>
#include <mutex>
#include <sys/mman.h>
#include <unordered_map>
#include <vector>

struct TileryPanel {
  void *data = nullptr; // first: generated code reads it
  std::vector<int64_t> key;
  size_t bytes = 0;
  int64_t pieces = 0;
  std::atomic<int64_t> next{0}, finished{0};
  int users = 0; // guarded by the table's mutex
};

namespace tilery {
namespace {

/// Blocks that outlive a launch: fresh pages cost more than packing into warm ones.
class BlockPool {
public:
  void *take(size_t bytes) {
    {
      std::lock_guard lock(mutex);
      auto found = blocks.lower_bound(bytes);
      if (found != blocks.end() && found->first <= 2 * bytes) {
        void *block = found->second;
        kept -= found->first;
        sizes[block] = found->first;
        blocks.erase(found);
        return block;
      }
    }
    void *block = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (block == MAP_FAILED) {
      std::fprintf(stderr, "tilery: out of memory: %zu bytes for the packed operand of a dot\n", bytes);
      std::abort();
    }
    madvise(block, bytes, MADV_HUGEPAGE);
    std::lock_guard lock(mutex);
    sizes[block] = bytes;
    return block;
  }
  void give(void *block) {
    std::lock_guard lock(mutex);
    auto found = sizes.find(block);
    size_t bytes = found->second;
    sizes.erase(found);
    if (kept + bytes > panelBudget()) {
      munmap(block, bytes);
      return;
    }
    kept += bytes;
    blocks.emplace(bytes, block);
  }

private:
  std::mutex mutex;
  std::multimap<size_t, void *> blocks;
  std::unordered_map<void *, size_t> sizes; // of the blocks in use
  size_t kept = 0;
};

BlockPool &pool() {
  static BlockPool *instance = new BlockPool; // launches may end while the process exits
  return *instance;
}

struct KeyHash {
  size_t operator()(const std::vector<int64_t> &key) const {
    uint64_t hash = 0x9e3779b97f4a7c15u;
    for (int64_t word : key)
      hash = (hash ^ uint64_t(word)) * 0xff51afd7ed558ccdu, hash ^= hash >> 32;
    return hash;
  }
};

class PanelTable {
public:
  ~PanelTable() {
    for (TileryPanel *panel : order) {
      pool().give(panel->data);
      delete panel;
    }
  }

  TileryPanel *acquire(const int64_t *words, int64_t count, int64_t bytes, int64_t pieces) {
    std::vector<int64_t> key(words, words + count);
    std::lock_guard lock(mutex);
    auto found = panels.find(key);
    if (found != panels.end()) {
      order.splice(order.end(), order, found->second); // most recently used last
      TileryPanel *panel = *found->second;
      ++panel->users;
      return panel;
    }
    constexpr size_t granule = 64 << 10;
    size_t size = (size_t(bytes) + granule - 1) / granule * granule;
    makeRoom(size);
    auto *panel = new TileryPanel;
    panel->data = pool().take(size);
    panel->bytes = size;
    panel->pieces = pieces;
    panel->users = 1;
    panel->key = key;
    held += size;
    panels.emplace(std::move(key), order.insert(order.end(), panel));
    return panel;
  }
  void release(TileryPanel *panel) {
    std::lock_guard lock(mutex);
    --panel->users;
  }

private:
  void makeRoom(size_t size) {
    for (auto it = order.begin(); it != order.end() && held + size > panelBudget();) {
      TileryPanel *panel = *it;
      if (panel->users) {
        ++it;
        continue;
      }
      panels.erase(panel->key);
      it = order.erase(it);
      held -= panel->bytes;
      pool().give(panel->data);
      delete panel;
    }
  }

  std::mutex mutex;
  std::list<TileryPanel *> order;
  std::unordered_map<std::vector<int64_t>, std::list<TileryPanel *>::iterator, KeyHash> panels;
  size_t held = 0;
};

PanelTable &tableOf(const TileryLaunch *launch) {
  std::atomic_ref<void *> slot(const_cast<TileryLaunch *>(launch)->panels);
  void *table = slot.load(std::memory_order_acquire);
  if (!table) {
    auto *fresh = new PanelTable;
    if (slot.compare_exchange_strong(table, fresh, std::memory_order_acq_rel))
      return *fresh;
    delete fresh;
  }
  return *static_cast<PanelTable *>(table);
}
} // namespace

size_t panelBudget() {
  static const size_t budget = 4 * std::max(lastLevelCacheBytes(), size_t(16) << 20);
  return budget;
}

void freePanels(void *panels) { delete static_cast<PanelTable *>(panels); }

} // namespace tilery

TileryPanel *tilery_rt_panel(const TileryLaunch *launch, const int64_t *key, int64_t words, int64_t bytes, int64_t pieces) {
  return tilery::tableOf(launch).acquire(key, words, bytes, pieces);
}

int64_t tilery_rt_panel_piece(TileryPanel *panel, int64_t finished) {
  if (finished >= 0 && panel->finished.fetch_add(1, std::memory_order_acq_rel) + 1 == panel->pieces)
    panel->finished.notify_all();
  if (panel->next.load(std::memory_order_relaxed) < panel->pieces) {
    int64_t piece = panel->next.fetch_add(1, std::memory_order_relaxed);
    if (piece < panel->pieces)
      return piece;
  }
  // The pieces left are being packed by other threads: a piece takes microseconds, so look for a while before sleeping.
  for (int spin = 0;; ++spin) {
    int64_t done = panel->finished.load(std::memory_order_acquire);
    if (done == panel->pieces)
      return -1;
    if (spin < 2000)
      _mm_pause();
    else
      panel->finished.wait(done, std::memory_order_acquire);
  }
}

void tilery_rt_panel_release(const TileryLaunch *launch, TileryPanel *panel) { tilery::tableOf(launch).release(panel); }
