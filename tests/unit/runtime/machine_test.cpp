// What generated code asks of the machine.
#include "tilery/machine.h"
#include "runtime/pool.h"
#include "runtime/symbols.h"
#include <gtest/gtest.h>

TEST(Machine, TheClockNeverGoesBack) {
  int64_t last = tilery_rt_clock();
  for (int i = 0; i < 1000; ++i) {
    int64_t now = tilery_rt_clock();
    ASSERT_GE(now, last);
    last = now;
  }
}

TEST(Machine, AThreadThatLaunchesIsNumberNought) { EXPECT_EQ(tilery_rt_thread(), 0); }

TEST(Machine, GeneratedCodeFindsTheFunctions) {
  EXPECT_EQ(tilery::resolveSymbol("tilery_rt_clock"), reinterpret_cast<void *>(&tilery_rt_clock));
  EXPECT_EQ(tilery::resolveSymbol("tilery_rt_thread"), reinterpret_cast<void *>(&tilery_rt_thread));
}
