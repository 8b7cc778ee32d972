#include "runtime/panels.h"
#include "tilery/abi.h"
#include <atomic>
#include <gtest/gtest.h>
#include <thread>

namespace {
int64_t *memory(TileryPanel *panel) { return *reinterpret_cast<int64_t **>(panel); }

/// Uses a panel of `pieces` words as generated code does; returns how many pieces this caller packed.
int64_t pack(TileryPanel *panel, int64_t seed) {
  int64_t packed = 0;
  for (int64_t p = tilery_rt_panel_piece(panel, -1); p >= 0; p = tilery_rt_panel_piece(panel, p)) {
    memory(panel)[p] = seed + p;
    ++packed;
  }
  return packed;
}
} // namespace

TEST(Panels, PackedOnceAndShared) {
  TileryLaunch launch{};
  constexpr int64_t pieces = 64;
  std::atomic<int64_t> packed{0};
  std::atomic<int> wrong{0};
  auto work = [&] {
    for (int64_t round = 0; round < 200; ++round) {
      int64_t key[] = {7, round / 4};
      TileryPanel *panel = tilery_rt_panel(&launch, key, 2, pieces * 8, pieces);
      packed += pack(panel, round / 4);
      for (int64_t p = 0; p < pieces; ++p)
        wrong += memory(panel)[p] != round / 4 + p;
      tilery_rt_panel_release(&launch, panel);
    }
  };
  std::thread other(work);
  work();
  other.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(packed, 50 * pieces);
  tilery::freePanels(launch.panels);
}

TEST(Panels, UnusedOnesMakeRoom) {
  TileryLaunch launch{};
  int64_t bytes = tilery::panelBudget() / 4;
  int64_t first = 0;
  TileryPanel *held = tilery_rt_panel(&launch, &first, 1, bytes, 1);
  EXPECT_EQ(pack(held, 100), 1);
  for (int64_t key = 1; key <= 6; ++key) {
    TileryPanel *panel = tilery_rt_panel(&launch, &key, 1, bytes, 1);
    EXPECT_EQ(pack(panel, key), 1);
    tilery_rt_panel_release(&launch, panel);
  }
  EXPECT_EQ(memory(held)[0], 100); // in use: never replaced
  int64_t recent = 6, old = 1;
  TileryPanel *panel = tilery_rt_panel(&launch, &recent, 1, bytes, 1);
  EXPECT_EQ(pack(panel, 0), 0);
  tilery_rt_panel_release(&launch, panel);
  panel = tilery_rt_panel(&launch, &old, 1, bytes, 1);
  EXPECT_EQ(pack(panel, 0), 1);
  tilery_rt_panel_release(&launch, panel);
  tilery_rt_panel_release(&launch, held);
  tilery::freePanels(launch.panels);
}

TEST(Panels, KeysOfDifferentLengthDiffer) {
  TileryLaunch launch{};
  int64_t key[] = {1, 0};
  TileryPanel *shorter = tilery_rt_panel(&launch, key, 1, 64, 1), *longer = tilery_rt_panel(&launch, key, 2, 64, 1);
  EXPECT_NE(shorter, longer);
  pack(shorter, 0);
  pack(longer, 0);
  tilery::freePanels(launch.panels);
}
