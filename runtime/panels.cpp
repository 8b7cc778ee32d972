#include "runtime/panels.h"
#include "runtime/block_pool.h"
#include "runtime/processor.h"
#include "tilery/abi.h"
#include "tilery/runtime.h"
#include <algorithm>
#include <atomic>
#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

struct TileryPanel {
  void *data = nullptr; // first: generated code reads it
  std::vector<int64_t> key;
  size_t bytes = 0;
  int64_t pieces = 0;
  // Programs look at these each time, on all threads: apart from what they write.
  std::atomic<int64_t> next{0}, finished{0};
  std::atomic<bool> recent{false}; // used since room was last wanted
  static constexpr int64_t gone = -1;
  alignas(64) std::atomic<int64_t> users{0};

  /// One more user, unless the memory was given to another panel.
  bool retain() {
    if (!recent.load(std::memory_order_relaxed))
      recent.store(true, std::memory_order_relaxed);
    int64_t seen = users.load(std::memory_order_relaxed);
    while (seen != gone)
      if (users.compare_exchange_weak(seen, seen + 1, std::memory_order_acquire))
        return true;
    return false;
  }
};

namespace tilery {
namespace {

BlockPool &pool() {
  static BlockPool *instance = new BlockPool(panelBudget()); // launches may end while the process exits
  return *instance;
}

using Key = std::span<const int64_t>;

size_t hashOf(Key key) {
  uint64_t hash = 0x9e3779b97f4a7c15u;
  for (int64_t word : key)
    hash = (hash ^ uint64_t(word)) * 0xff51afd7ed558ccdu, hash ^= hash >> 32;
  return hash;
}

/// What this thread found lately. The table's lock and lists lie in the other core's cache: two lookups a program cost 10 % of a
/// matmul with tiles of 64 x 64.
struct Memo {
  uint64_t table = 0;
  TileryPanel *panel = nullptr;
};
thread_local Memo memos[64];

class PanelTable {
public:
  ~PanelTable() {
    for (const auto &panel : order)
      pool().give(panel->data);
  }

  /// The panel of this key, its user counted.
  TileryPanel *acquire(Key key, int64_t bytes, int64_t pieces) {
    size_t hash = hashOf(key);
    Memo &memo = memos[hash % std::size(memos)];
    if (memo.table == id && std::ranges::equal(memo.panel->key, key) && memo.panel->retain())
      return memo.panel;
    memo.panel = find(key, hash, bytes, pieces);
    memo.table = id;
    return memo.panel;
  }

private:
  TileryPanel *find(Key key, size_t hash, int64_t bytes, int64_t pieces) {
    std::lock_guard lock(mutex);
    for (auto [at, end] = panels.equal_range(hash); at != end; ++at)
      if (std::ranges::equal(at->second->key, key)) {
        at->second->retain();
        return at->second;
      }
    constexpr size_t granule = 64 << 10;
    size_t size = (size_t(bytes) + granule - 1) / granule * granule;
    makeRoom(size);
    auto panel = std::make_unique<TileryPanel>();
    panel->data = pool().take(size);
    panel->bytes = size;
    panel->pieces = pieces;
    panel->key.assign(key.begin(), key.end());
    panel->retain();
    held += size;
    panels.emplace(hash, panel.get());
    order.push_back(std::move(panel));
    return order.back().get();
  }

  // The oldest go first, but those used since the last time get another round.
  void makeRoom(size_t size) {
    for (size_t looks = 2 * order.size(); looks && held + size > panelBudget(); --looks) {
      TileryPanel *panel = order.front().get();
      int64_t unused = 0;
      if (panel->recent.exchange(false, std::memory_order_relaxed) ||
          !panel->users.compare_exchange_strong(unused, TileryPanel::gone)) {
        order.splice(order.end(), order, order.begin());
        continue;
      }
      auto [at, end] = panels.equal_range(hashOf(panel->key));
      panels.erase(std::find_if(at, end, [&](const auto &entry) { return entry.second == panel; }));
      held -= panel->bytes;
      pool().give(panel->data);
      retired.splice(retired.end(), order, order.begin());
    }
  }

  static inline std::atomic<uint64_t> tables{0};
  const uint64_t id = ++tables; // no other launch's, so that no thread remembers another table's panels as ours
  std::mutex mutex;
  std::list<std::unique_ptr<TileryPanel>> order;
  std::list<std::unique_ptr<TileryPanel>> retired; // without memory; threads may remember them
  std::unordered_multimap<size_t, TileryPanel *> panels;
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
  return tilery::tableOf(launch).acquire({key, size_t(words)}, bytes, pieces);
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
      tilery::pauseOnce();
    else
      panel->finished.wait(done, std::memory_order_acquire);
  }
}

void tilery_rt_panel_release(const TileryLaunch *, TileryPanel *panel) { panel->users.fetch_sub(1, std::memory_order_release); }
