#include "compiler/block/price/schedule.h"
#include <gtest/gtest.h>

using namespace tilery::block;

namespace {

/// Products of m rows, sums of so many registers a thread of one warpgroup, and factors of so many bytes.
ScheduleProblem straight(unsigned m, unsigned registers, int64_t bytes) {
  ScheduleProblem result{m, 64, 64, 2, {}};
  LoopWork work;
  work.once = true;
  work.heldBytes = bytes;
  work.products = 3;
  work.fewerWords = work.words = work.productWords = 128 * registers;
  work.operations = 2. * m * 64 * 64 * 3;
  work.lanes = m * 64. * 4;
  result.loop = work;
  return result;
}

TEST(StraightSchedules, RunAsManyBlocksAsThereAreRegistersFor) {
  std::optional<Schedule> few = chooseSchedule(straight(64, 32, 32 << 10)), many = chooseSchedule(straight(64, 96, 32 << 10)),
                          most = chooseSchedule(straight(64, 200, 32 << 10));
  ASSERT_TRUE(few && many && most);
  EXPECT_EQ(few->resident, 4u);
  EXPECT_EQ(many->resident, 2u);
  EXPECT_EQ(most->resident, 0u);
  EXPECT_EQ(few->consumers, 1u);
}

TEST(StraightSchedules, RunAsManyBlocksAsThereIsMemoryFor) {
  EXPECT_EQ(chooseSchedule(straight(64, 32, 100 << 10))->resident, 2u);
  EXPECT_EQ(chooseSchedule(straight(64, 32, 200 << 10))->resident, 0u);
  EXPECT_FALSE(chooseSchedule(straight(64, 32, 230 << 10)));
}

TEST(StraightSchedules, HaveRegistersForEachProduct) {
  EXPECT_FALSE(chooseSchedule(straight(64, 230, 8 << 10))) << "and for what else threads hold";
  EXPECT_EQ(chooseSchedule(straight(128, 230, 8 << 10))->consumers, 2u);
  for (const Candidate &each : priceSchedules(straight(128, 128, 8 << 10))) {
    unsigned threads = 128 * (each.schedule.consumers + 1) * std::max(each.schedule.resident, 1u);
    EXPECT_LE(128u / each.schedule.consumers, 65536 / threads) << each.schedule.print();
  }
}

TEST(StraightSchedules, ShareRowsAmongConsumers) {
  for (const Candidate &each : priceSchedules(straight(64, 32, 8 << 10)))
    EXPECT_EQ(each.schedule.consumers, 1u);
}

} // namespace
