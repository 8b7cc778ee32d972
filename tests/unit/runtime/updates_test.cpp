// Who may update memory alone, and who waits for whom.
#include "runtime/updates.h"
#include <gtest/gtest.h>
#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

using namespace tilery;

namespace {
bool grantedElsewhere(bool alone) {
  bool granted = false;
  std::thread([&] { granted = UpdateTurn(alone).alone(); }).join();
  return granted;
}
} // namespace

TEST(UpdateTurn, IsAloneWhereNobodyElseHasATurn) {
  EXPECT_TRUE(UpdateTurn(true).alone());
  EXPECT_FALSE(UpdateTurn(false).alone());
  EXPECT_TRUE(grantedElsewhere(true));
}

TEST(UpdateTurn, IsSharedBesideOthers) {
  UpdateTurn shared(false);
  EXPECT_FALSE(grantedElsewhere(true));
  EXPECT_FALSE(grantedElsewhere(false));
  EXPECT_FALSE(UpdateTurn(true).alone()) << "the turn of this thread is shared, too";
}

TEST(UpdateTurn, OthersWaitForTheOneThatIsAlone) {
  for (bool alone : {false, true}) {
    auto turn = std::make_unique<UpdateTurn>(true);
    std::atomic<bool> over{false}, early{false};
    std::thread other([&] {
      UpdateTurn next(alone);
      early = !over;
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    over = true;
    turn.reset();
    other.join();
    EXPECT_FALSE(early);
  }
}

TEST(UpdateTurn, WhatAThreadLaunchesWithinItsOwnTurnDoesNotWait) {
  auto turn = std::make_unique<UpdateTurn>(true);
  ASSERT_TRUE(turn->alone());
  EXPECT_TRUE(UpdateTurn(true).alone());
  EXPECT_FALSE(UpdateTurn(false).alone());
  std::atomic<bool> entered{false};
  std::thread other([&] {
    UpdateTurn next(false);
    entered = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_FALSE(entered) << "the turn goes on behind those within it";
  turn.reset();
  other.join();
}
