#include "compiler/block/price/schedule.h"
#include "tilery/diagnostic.h"
#include <gtest/gtest.h>

using namespace tilery;
using namespace tilery::block;

namespace {

ScheduleProblem problem(unsigned m, unsigned n, unsigned k, unsigned elementBytes, llvm::SmallVector<unsigned> outputs = {2}) {
  return {m, n, k, elementBytes, outputs};
}

TEST(Schedule, PrintsAndTakesWhatItPrints) {
  Schedule schedule = *chooseSchedule(problem(128, 256, 64, 2));
  EXPECT_EQ(schedule.print(), "consumers=2 k=64 stages=4 group=8 stage_output=2");
  Schedule other;
  other.override(schedule.print());
  EXPECT_EQ(other.print(), schedule.print());
  EXPECT_THROW(other.override("speed=3"), Error);
}

TEST(Schedule, InstancesTakeProgramsByTurnsWhereTheTensorCoresAreTheBound) {
  auto chosen = [](unsigned m, unsigned n, bool deals = true) {
    ScheduleProblem given = problem(m, n, 64, 2);
    given.deals = deals;
    return chooseSchedule(given)->instances;
  };
  EXPECT_EQ(chosen(128, 128), 2u);
  EXPECT_EQ(chosen(128, 128, false), 0u);
  EXPECT_EQ(chosen(128, 256), 0u) << "no registers for a tile a warpgroup";
  EXPECT_EQ(chosen(64, 256), 0u) << "copies take longer than products";
  EXPECT_EQ(chosen(64, 64), 0u);
}

// What is tried where the assembler gave up on products that run beside other work.
TEST(Schedule, ProductsInTurnRunBesideNothing) {
  auto chosen = [](unsigned products, int64_t shownBytes, bool inTurn) {
    ScheduleProblem given = problem(128, 128, 64, 2, {});
    given.loop = LoopWork();
    given.loop->products = products;
    given.loop->operations = products * 2. * 128 * 128 * 64;
    given.loop->slotBytes = 32 << 10;
    given.loop->words = given.loop->fewerWords = given.loop->allWords = 128 * 128;
    given.loop->shownBytes = shownBytes;
    given.loop->showsFirst = shownBytes > 0;
    given.inTurn = inTurn;
    return *chooseSchedule(given);
  };
  EXPECT_TRUE(chosen(3, 0, false).overlap);
  Schedule shown = chosen(5, 32 << 10, false);
  EXPECT_TRUE(shown.spread && shown.delay) << shown.print();
  for (Schedule inTurn : {chosen(3, 0, true), chosen(5, 32 << 10, true)})
    EXPECT_FALSE(inTurn.overlap || inTurn.spread || inTurn.delay || inTurn.holdOperands) << inTurn.print();
}

TEST(Schedule, BlocksWhoseOneWarpgroupWaitsForWhatThreadsFetchRunSideBySide) {
  auto chosen = [](unsigned columns, unsigned others, bool fetches = true) {
    ScheduleProblem given = problem(64, columns, 32, 2, {});
    given.loop = LoopWork();
    given.loop->products = 2;
    given.loop->operations = 2 * 2. * 64 * columns * 32;
    given.loop->lanes = 64 * (columns + 32);
    given.loop->slotBytes = columns * 128, given.loop->heldBytes = columns * 128;
    given.loop->words = given.loop->fewerWords = 64 * columns + others;
    if (fetches)
      given.fetch = FetchWork{0, 700, 0, 0};
    return *chooseSchedule(given);
  };
  EXPECT_EQ(chosen(64, 64 * 48).resident, 2u);
  EXPECT_EQ(chosen(64, 64 * 48, false).resident, 0u);
  Schedule wide = chosen(256, 64 * 48);
  EXPECT_EQ(wide.resident, 2u);
  EXPECT_EQ(wide.loadRegisters + wide.mathRegisters, 256u) << wide.print();
  EXPECT_EQ(chosen(256, 64 * 160).resident, 0u) << "no registers for two";
}

// Cycles a step on an H200 of a mixture of experts, bytes as bf16, tiles of 64 x 128 in steps of 64.
TEST(Schedule, BlocksWhoseThreadsComputeFactorsRunSideBySide) {
  ScheduleProblem given = problem(64, 128, 64, 2, {});
  given.fetch = FetchWork{632, 204, 64, 16, 12};
  struct {
    unsigned fetchers, joined, resident;
    double measured;
  } cases[] = {{1, 0, 0, 1865}, {1, 2, 0, 1595}, {2, 0, 0, 1692}, {2, 2, 0, 1363},
               {1, 0, 2, 1136}, {2, 0, 2, 1146}, {2, 2, 2, 1002}};
  for (auto &each : cases) {
    Schedule schedule = *chooseSchedule(given);
    schedule.fetchers = each.fetchers, schedule.joined = each.joined, schedule.resident = each.resident;
    EXPECT_NEAR(cyclesOfStep(given, schedule) / each.measured, 1, 0.08) << schedule.print();
  }
  Schedule chosen = *chooseSchedule(given);
  EXPECT_EQ(chosen.resident, 2u);
  EXPECT_EQ(chosen.joined, 2u) << chosen.print(); // 593 us to 518
  EXPECT_LE(chosen.fetchers * chosen.loadRegisters + chosen.mathRegisters, 3 * 80u) << chosen.print();
  given.fetch->words = 64; // loaded one by one, the bytes of two steps find no registers beside two blocks
  EXPECT_EQ(chooseSchedule(given)->joined, 0u);
  given.fetch->words = 16;
  given.m = 128; // a convolution loses a fifth
  EXPECT_EQ(chooseSchedule(given)->resident, 0u);
  given.m = 64, given.fetch->computed = 0; // 16 bytes at a time nobody waits for: bf16 lost 7 %
  EXPECT_EQ(chooseSchedule(given)->resident, 0u);
  given.fetch->computed = 632, given.fetch->work = 0; // a convolution's windows: the same, and more registers
  EXPECT_EQ(chooseSchedule(given)->resident, 0u);
  given.fetch->work = 64, given.fetch->turned = true; // a warpgroup wants more registers
  EXPECT_EQ(chooseSchedule(given)->resident, 0u);
}

// A GPU before Hopper that has no room for the factors of two steps: what an override asks for does not make any.
TEST(Schedule, OverridesOfWhatDoesNotFit) {
  ScheduleProblem given = problem(256, 256, 512, 2);
  given.gpu.warpgroups = false;
  given.fetch = FetchWork{100, 0, 0, 64};
  EXPECT_FALSE(chooseSchedule(given));
  setenv("TILERY_SCHEDULE", "group=1", 1);
  EXPECT_FALSE(chooseSchedule(given));
  unsetenv("TILERY_SCHEDULE");
}

TEST(Schedule, FillsSharedMemory) {
  struct {
    ScheduleProblem problem;
    const char *wanted;
  } cases[] = {
      {problem(128, 128, 64, 2), "consumers=2 k=64 stages=6 group=8 stage_output=2"},   // the result whole
      {problem(64, 256, 64, 2), "consumers=1 k=64 stages=4 group=8 stage_output=4"},    // one warpgroup
      {problem(192, 128, 64, 2), "consumers=3 k=64 stages=4 group=8 stage_output=2"},   // three
      {problem(256, 128, 64, 2), "consumers=2 k=64 stages=4 group=8 stage_output=2"},   // two rows of 64 each
      {problem(128, 128, 128, 1), "consumers=2 k=128 stages=6 group=8 stage_output=2"}, // of 8 bits
      {problem(128, 64, 16, 2), "consumers=2 k=16 stages=8 group=8 stage_output=1"},    // short steps
      {problem(128, 256, 64, 2, {}), "consumers=2 k=64 stages=4 group=8 stage_output=0"},
      {problem(128, 224, 64, 2, {4}), "consumers=2 k=64 stages=4 group=8 stage_output=2"}, // seven pieces, one by one
      {problem(64, 16, 64, 2, {}), "consumers=1 k=64 stages=22 group=8 stage_output=0"},   // small slots, many
      {problem(128, 256, 64, 2, {4}), "consumers=2 k=64 stages=4 group=8 stage_output=2"},
  };
  for (auto &each : cases) {
    EXPECT_EQ(chooseSchedule(each.problem)->print(), each.wanted);
    EXPECT_LE(block::sharedBytes(each.problem, *chooseSchedule(each.problem)), sharedLimit);
  }
}

TEST(Schedule, KeepsToTheHint) {
  ScheduleProblem asked = problem(128, 128, 64, 2);
  asked.stagesHint = 3;
  EXPECT_EQ(chooseSchedule(asked)->stages, 3u);
  asked.stagesHint = 1; // no pipeline at all is nothing that this path has
  EXPECT_EQ(chooseSchedule(asked)->stages, 6u);
}

TEST(Schedule, PricesWhatFits) {
  std::vector<Candidate> candidates = priceSchedules(problem(128, 256, 64, 2));
  ASSERT_GT(candidates.size(), 1u);
  for (size_t i = 1; i < candidates.size(); ++i)
    EXPECT_LE(candidates[i - 1].cycles, candidates[i].cycles);
  EXPECT_NEAR(candidates[0].cycles, 64 * 1024, 64 * 1024 * 0.05); // 4096 operations a cycle
  EXPECT_TRUE(priceSchedules(problem(256, 256, 64, 2)).empty());  // more sums than registers
}

TEST(Schedule, DealsRegistersForFactorsThatThreadsRead) {
  ScheduleProblem read = problem(256, 128, 128, 1);
  read.readsFirst = true; // 32 registers beside 128 sums
  EXPECT_EQ(chooseSchedule(read)->print(),
            "consumers=2 k=128 stages=4 group=8 stage_output=2 load_registers=40 math_registers=232");
  read.m = 128;
  EXPECT_EQ(chooseSchedule(read)->mathRegisters, 0u);
}

TEST(Schedule, RunsTwoBlocksWhereThereAreRegistersForThem) {
  auto attention = [](unsigned d, unsigned keys) { // 128 rows in steps of so many keys
    ScheduleProblem result = problem(128, d, d, 2);
    LoopWork work;
    work.slotBytes = 2 * keys * d * 2, work.heldBytes = 128 * d * 2;
    work.products = 2;
    work.words = work.fewerWords = 128 * (keys + keys / 2 + d);
    work.operations = 4. * 128 * keys * d;
    work.lanes = 128. * keys * 15;
    result.loop = work;
    return result;
  };
  std::optional<Schedule> two = chooseSchedule(attention(64, 64)), wide = chooseSchedule(attention(64, 128)),
                          deep = chooseSchedule(attention(128, 64));
  ASSERT_TRUE(two && wide && deep);
  EXPECT_EQ(two->resident, 2u);
  EXPECT_EQ(two->overlap, 0u);
  EXPECT_LE(2 * (32 + 2 * two->mathRegisters) * 128, 65536u);
  EXPECT_LE(sharedBytes(attention(64, 64), *two), 113 << 10);
  EXPECT_EQ(wide->resident, 0u);
  EXPECT_EQ(deep->resident, 0u);
  ScheduleProblem functions = attention(64, 64), stored = attention(64, 64);
  functions.loop->functions = true;
  stored.outputs.clear();
  EXPECT_EQ(chooseSchedule(functions)->resident, 0u);
  EXPECT_EQ(chooseSchedule(stored)->resident, 0u);
}

TEST(Schedule, RunsTwoBlocksWhereALoopWaits) {
  ScheduleProblem chunks = problem(64, 64, 64, 2);
  LoopWork work;
  work.slotBytes = 16 << 10, work.heldBytes = 32 << 10;
  work.products = 1;
  work.words = work.fewerWords = 64 * (64 + 32);
  work.operations = 2. * 64 * 64 * 64;
  work.lanes = 64. * 64 * 20;
  chunks.loop = work;
  EXPECT_EQ(chooseSchedule(chunks)->resident, 0u);
  chunks.loop->waits = true;
  std::optional<Schedule> two = chooseSchedule(chunks);
  EXPECT_EQ(two->resident, 2u);
  EXPECT_EQ(two->consumers, 1u);
  EXPECT_LE(sharedBytes(chunks, *two), 113 << 10);
  chunks.loop->words = chunks.loop->fewerWords = 64 * 512; // registers for one block
  EXPECT_NE(chooseSchedule(chunks).value_or(Schedule()).resident, 2u);
}

TEST(Schedule, SharesColumnsThatAreTooManyForAWarpgroup) {
  ScheduleProblem latent = problem(64, 512, 64, 2);
  latent.outputs.clear();
  LoopWork work;
  work.slotBytes = 72 << 10, work.heldBytes = 72 << 10;
  work.products = 3;
  work.sharedWords = 64 * 512, work.wide = true;
  work.words = work.fewerWords = 64 * (512 + 64 + 32); // scores, and weights in pairs
  work.operations = 2. * 64 * 64 * (576 + 512), work.repeated = 2. * 64 * 64 * 576;
  work.lanes = 64 * 64 * 16;
  latent.loop = work;
  std::optional<Schedule> schedule = chooseSchedule(latent);
  ASSERT_TRUE(schedule);
  EXPECT_EQ(schedule->splitColumns, 1u);
  EXPECT_EQ(schedule->consumers, 2u);
  EXPECT_EQ(schedule->overlap, 0u); // both slots would be held
  latent.loop->wide = false;        // in several products, each of a warpgroup's
  ASSERT_TRUE(chooseSchedule(latent));
  EXPECT_EQ(chooseSchedule(latent)->splitColumns, 1u);
  latent.loop->sharedWords = 0; // sums that nobody can share
  EXPECT_FALSE(chooseSchedule(latent));
  latent.loop->words = latent.loop->fewerWords = 64 * 128; // few enough for one
  latent.loop->sharedWords = 64 * 96;
  ASSERT_TRUE(chooseSchedule(latent));
  EXPECT_EQ(chooseSchedule(latent)->splitColumns, 0u);
}

TEST(Schedule, WritesASecondFactorBeforeAStepMultiplies) {
  ScheduleProblem latent = problem(64, 512, 64, 2);
  latent.outputs.clear();
  LoopWork work;
  work.slotBytes = 40 << 10, work.heldBytes = 72 << 10, work.shownBytes = 64 << 10;
  work.products = 3;
  work.sharedWords = work.besideDealt = 64 * 512, work.wide = true;
  work.dealtWords = 64 * 512 / 2; // of 16 bits
  work.acrossWords = 64 * (512 + 64 + 32);
  work.words = work.fewerWords = work.acrossWords + work.dealtWords;
  work.operations = 2. * 64 * 64 * (576 + 512), work.repeated = 2. * 64 * 64 * 576;
  work.lanes = 64 * 64 * 16 + 64 * 512;
  latent.loop = work;
  std::optional<Schedule> schedule = chooseSchedule(latent);
  ASSERT_TRUE(schedule);
  EXPECT_EQ(schedule->splitColumns, 1u);
  EXPECT_EQ(schedule->computedSlots, 1u); // two find no place beside two slots
  EXPECT_EQ(schedule->stages, 2u);
  latent.loop->besideDealt += 64 * 64 * 2; // more is there meanwhile
  EXPECT_FALSE(chooseSchedule(latent));
}

TEST(Schedule, SharesColumnsThatLieTogether) {
  EXPECT_EQ(consumersAcross({128, 96, 32}, 2), 1u);
  EXPECT_EQ(consumersAcross({64, 256, 64}, 2), 2u);
  EXPECT_EQ(consumersAcross({64, 64, 64}, 2), 2u);  // halves of a swizzle's row
  EXPECT_EQ(consumersAcross({64, 160, 32}, 2), 2u); // halves of each
  EXPECT_EQ(consumersAcross({64, 160, 32}, 3), 0u);
  EXPECT_EQ(consumersAcross({64, 96, 32}, 3), 3u);
  EXPECT_EQ(consumersAcross({64, 160, 8}, 2), 2u);
  EXPECT_EQ(consumersAcross({64, 24, 8}, 2), 0u);
  EXPECT_EQ(consumersAcross({192, 32, 32}, 2), 2u); // 64 rows have no second half: all rows, half of the columns
  EXPECT_EQ(consumersAcross({128, 192, 64}, 3), 3u);
  EXPECT_EQ(consumersAcross({128, 128, 64}, 3), 0u);
  EXPECT_EQ(consumersAcross({192, 24, 8}, 2), 0u);
}

TEST(Schedule, IsAnAttribute) {
  mlir::MLIRContext context;
  Schedule schedule = *chooseSchedule(problem(64, 64, 64, 2));
  EXPECT_EQ(schedule.attribute(&context).getAs<mlir::IntegerAttr>("stages").getInt(), int64_t(schedule.stages));
}

} // namespace
