// Cooperative threads: turns, waits, deadlocks, exceptions.
#include "compiler/oracle/fiber.h"
#include <gtest/gtest.h>
#include <stdexcept>
#include <string>

using tilery::oracle::Scheduler;

TEST(Scheduler, FibersTakeTurns) {
  Scheduler scheduler;
  std::string order;
  for (char name : {'a', 'b', 'c'})
    scheduler.spawn([&, name] {
      for (int i = 0; i < 3; ++i) {
        order += name;
        scheduler.yield();
      }
    });
  scheduler.waitUntil([&] { return order.size() == 9; });
  EXPECT_EQ(order, "abcabcabc");
}

TEST(Scheduler, AWaitEndsWhenItsConditionHolds) {
  Scheduler scheduler;
  int value = 0, seen = 0;
  scheduler.spawn([&] {
    scheduler.waitUntil([&] { return value == 3; });
    seen = value;
  });
  scheduler.spawn([&] {
    for (; value < 3; scheduler.yield())
      ++value;
  });
  scheduler.waitUntil([&] { return seen != 0; });
  EXPECT_EQ(seen, 3);
}

TEST(Scheduler, FibersMayStartFibers) {
  Scheduler scheduler;
  int done = 0;
  scheduler.spawn([&] {
    for (int i = 0; i < 4; ++i)
      scheduler.spawn([&] { ++done; });
  });
  scheduler.waitUntil([&] { return done == 4; });
  EXPECT_EQ(done, 4);
}

TEST(Scheduler, WaitingForEachOtherIsADeadlock) {
  Scheduler scheduler;
  bool first = false, second = false;
  scheduler.spawn([&] {
    scheduler.waitUntil([&] { return second; });
    first = true;
  });
  scheduler.spawn([&] {
    scheduler.waitUntil([&] { return first; });
    second = true;
  });
  EXPECT_THROW(scheduler.waitUntil([&] { return first && second; }), Scheduler::Deadlock);
}

TEST(Scheduler, AnExceptionReachesWhoeverWaitsOutside) {
  Scheduler scheduler;
  scheduler.spawn([&] {
    scheduler.yield();
    throw std::runtime_error("from a fiber");
  });
  try {
    scheduler.waitUntil([] { return false; });
    ADD_FAILURE();
  } catch (const std::runtime_error &error) {
    EXPECT_STREQ(error.what(), "from a fiber");
  }
}

TEST(Scheduler, WhatHoldsAlreadyNeedsNoTurn) {
  Scheduler scheduler;
  bool ran = false;
  scheduler.spawn([&] { ran = true; });
  scheduler.waitUntil([] { return true; });
  EXPECT_FALSE(ran);
}
